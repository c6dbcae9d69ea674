"""XMoverScore against a plain computation with transformers, POT and loops."""

import string
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import ot
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BertModel, BertTokenizer, GPT2LMHeadModel, GPT2Tokenizer

from benchmarks.gpu import small
from extensions.neural import lm
from extensions.neural.encoding import encoders, token_vectors
from extensions.neural.mover import mapping, matching
from extensions.neural.mover.options import FAMILY
from extensions.neural.mover.xmoverscore import XMoverScore
from metrics import options, registry
from metrics.base import MetricError, MetricInfo, MetricWarning, SegmentInput
from metrics.options import OptionError
from metrics.workers import telemetry
from tests.refusals import refused

SOURCES = [
    "Der Hafen war den ganzen Morgen still.",
    "Niemand sah die Schiffe, die früh ausliefen.",
    "港口整个上午都很安静。",
    "Still!",
]
OUTPUTS = [
    "The harbour was quiet all morning.",
    "Nobody saw the ships that left early.",
    "All morning the harbour has been quiet, they said.",
    "?!",
]
PAIRS = [SegmentInput(source, output, ()) for source in SOURCES for output in OUTPUTS]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("models") / "bert"
    return str(small.bert(folder, [*SOURCES, *OUTPUTS], layers=3))


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(small.gpt2_with_head(tmp_path_factory.mktemp("models") / "gpt2", OUTPUTS * 4))


@pytest.fixture(autouse=True)
def _nothing_resident() -> None:
    token_vectors.forget()
    encoders.forget()


def info(encoder: str, name: str = "small", **given: Any) -> MetricInfo:
    chosen = {"checkpoint": encoder, "layer": 2, **given}
    return registry.configure("xmoverscore", name, "Small", chosen)


def make(encoder: str, source: str = "de", target: str = "en", **given: Any) -> XMoverScore:
    described = info(encoder, **given)
    return XMoverScore(described, source_language=source, target_language=target)


def fit(encoder: str, folder: Path, kind: Any, layer: int = 2) -> str:
    resident = encoders.get(encoder)
    rng = np.random.default_rng(5)
    about = mapping.About(
        kind, encoder, mapping.fingerprint(resident.model), layer, "de", "en", 0, "data"
    )
    source, target = rng.standard_normal((2, 60, 32))
    mapping.fit(kind, about, source, target).save(folder)
    return str(folder)


@cache
def bert(folder: str) -> tuple[BertTokenizer, BertModel]:
    """The model as transformers load it."""
    return BertTokenizer.from_pretrained(folder), BertModel.from_pretrained(folder).eval()


def plain(
    encoder: str, segment: SegmentInput, definition: str, n: int, mapped: Any = None
) -> float:
    """One score, as the specification words it: C.1 and C.3 of the notes on the papers."""
    sides = []
    tokenizer, model = bert(encoder)
    for text in (segment.source, segment.hypothesis):
        ids = tokenizer(text, return_tensors="pt")
        with torch.inference_mode():
            states = model(**ids, output_hidden_states=True)
        vectors = states.hidden_states[2][0].double().numpy()
        if mapped is not None:
            vectors = (mapped.apply_to_target if sides else mapped.apply)(vectors)
        pieces = tokenizer.convert_ids_to_tokens(ids["input_ids"][0].tolist())
        keep = [
            vector
            for piece, vector in zip(pieces, vectors, strict=True)
            if definition == "head-2022"
            or not ("##" in piece or (len(piece) == 1 and piece in string.punctuation))
        ]
        size = min(n, len(keep))
        grams = [np.mean(keep[i : i + size], axis=0) for i in range(len(keep) - size + 1)]
        sides.append([gram / np.linalg.norm(gram) for gram in grams])
    cost = np.array([[np.linalg.norm(a - b) for b in sides[1]] for a in sides[0]])
    moved = float(ot.emd2([], [], cost**2 if definition == "release-2020" else cost))
    return 1 / (1 + moved) if definition == "head-2022" else 1 - moved


@pytest.mark.parametrize("definition", ["paper", "release-2020", "head-2022"])
def test_equal_to_a_plain_computation(encoder: str, definition: str) -> None:
    found = make(encoder, definition=definition).score(PAIRS)
    expected = [[plain(encoder, each, definition, n) for n in (1, 2)] for each in PAIRS]
    np.testing.assert_allclose(found, expected, atol=2e-5)


@pytest.mark.parametrize("kind", mapping.KINDS)
def test_a_mapping_changes_the_source_side(encoder: str, tmp_path: Path, kind: str) -> None:
    folder = fit(encoder, tmp_path / "mapping", kind)
    found = make(encoder, mapping=folder).score(PAIRS)
    mapped = mapping.load(Path(folder))
    expected = [[plain(encoder, each, "release-2020", n, mapped) for n in (1, 2)] for each in PAIRS]
    np.testing.assert_allclose(found, expected, atol=2e-5)
    assert np.abs(found - make(encoder).score(PAIRS)).max() > 1e-3


@pytest.mark.parametrize("kind", ["umd", "umd-paper", "clp-unconstrained"])
def test_what_a_mapping_leaves_keeps_its_digits(encoder: str, tmp_path: Path, kind: str) -> None:
    """Most of a vector lies along what is taken away: the rest must not be rounding."""
    metric = make(encoder, mapping=fit(encoder, tmp_path / "mapping", kind))
    assert metric.mapping is not None
    array, rng = metric.mapping.array, np.random.default_rng(6)
    common = array if array.ndim == 1 else np.linalg.svd(array)[0][:, -1]
    states = torch.tensor(100 * common + rng.standard_normal((7, 32)), dtype=torch.float32)
    text = token_vectors.Embedded((), (), (), {2: states})
    expected = metric.mapping.apply(states.numpy().astype(np.float64))
    np.testing.assert_allclose(metric.task.vectors(text, "left"), expected, rtol=0, atol=1e-11)


def test_each_distinct_text_is_encoded_once_for_six_variants(
    encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None, CLP and UMD with unigrams and bigrams, 11 systems on N segments: 12N passes."""
    systems = [[output + " quiet" * number for output in OUTPUTS] for number in range(11)]
    seen: list[int] = []
    original = encoders.Encoder.pad
    monkeypatch.setattr(
        encoders.Encoder,
        "pad",
        lambda self, ids: (seen.append(len(ids)), original(self, ids))[1],
    )
    monkeypatch.setattr(matching, "PAIRS_PER_CHUNK", 7)
    for kind in ("none", "clp", "umd"):
        folder = "" if kind == "none" else fit(encoder, tmp_path / kind, kind)
        metric = make(encoder, mapping=folder)
        for outputs in systems:
            batch = [SegmentInput(*pair, ()) for pair in zip(SOURCES, outputs, strict=True)]
            assert metric.score(batch).shape == (4, 2)
    assert sum(seen) == (11 + 1) * len(SOURCES)


def test_layers_above_are_not_computed(encoder: str) -> None:
    metric, ran = make(encoder), []
    for number, layer in enumerate(metric.encoder.model.encoder.layer, start=1):
        layer.register_forward_hook(lambda *_, number=number: ran.append(number))
    metric.score(PAIRS)
    assert set(ran) == {1, 2}


def test_values_do_not_depend_on_the_batch(encoder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    metric = make(encoder)
    together = metric.score(PAIRS)
    token_vectors.forget()
    metric.encoder.budget = 1
    monkeypatch.setattr(matching, "PAIRS_PER_CHUNK", 1)
    np.testing.assert_allclose(metric.score(PAIRS[::-1])[::-1], together, atol=1e-5)


def test_texts_are_encoded_before_those_ahead_are_solved(
    encoder: str, gpt2: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A GPU works in order: it is given nothing between what is fetched and the work beside it."""
    order: list[str] = []
    begin = lm.LanguageModel.begin
    monkeypatch.setattr(
        lm.LanguageModel, "begin", lambda *given: (order.append("read"), begin(*given))[1]
    )
    for name in ("_launch", "_costs", "_solve"):
        original = getattr(matching, name)
        monkeypatch.setattr(
            matching,
            name,
            lambda *args, name=name, original=original: (order.append(name), original(*args))[1],
        )
    monkeypatch.setattr(matching, "PAIRS_PER_CHUNK", 6)
    make(encoder, **{"language-model": gpt2}).score(PAIRS)
    turn = ["_costs", "_launch", "read", "_solve"]
    assert order == ["_launch", *turn, *turn, "_costs", "read", "_solve", "read"]


def test_the_language_model_is_added(encoder: str, gpt2: str) -> None:
    metric = make(encoder, **{"language-model": gpt2, "weight": 2, "lm-weight": 0.5})
    alone, found = make(encoder).score(PAIRS), metric.score(PAIRS)
    model, tokenizer = (
        GPT2LMHeadModel.from_pretrained(gpt2).eval(),
        GPT2Tokenizer.from_pretrained(gpt2),
    )
    for row, segment in enumerate(PAIRS):
        ids = torch.tensor([tokenizer.encode(segment.hypothesis)])
        if ids.shape[1] < 2:
            continue
        with torch.inference_mode():
            term = -float(model(ids, labels=ids).loss)
        np.testing.assert_allclose(found[row, :2], alone[row], atol=1e-6)
        np.testing.assert_allclose(found[row, 2:4], 2 * alone[row] + 0.5 * term, atol=1e-4)
        assert found[row, 4] == pytest.approx(term, abs=1e-4)


def test_the_later_head_adds_a_probability(encoder: str, gpt2: str) -> None:
    metric = make(encoder, **{"definition": "head-2022", "language-model": gpt2})
    found = metric.score(PAIRS)
    expected = lm.term(*lm.get(gpt2).read([each.hypothesis for each in PAIRS]), "probability")
    np.testing.assert_allclose(found[:, 4], expected)
    np.testing.assert_allclose(found[:, 2], found[:, 0] + 0.1 * expected)


@pytest.mark.parametrize("definition", ["paper", "release-2020", "head-2022"])
@pytest.mark.parametrize(
    ("source", "output"), [(SOURCES[0], ""), ("", OUTPUTS[0]), ("", ""), (SOURCES[0], " \u200b\t")]
)
def test_an_empty_text_is_never_the_best(
    encoder: str, gpt2: str, definition: str, source: str, output: str
) -> None:
    metric = make(encoder, **{"definition": definition, "language-model": gpt2})
    with pytest.warns(MetricWarning, match="1 pair has an empty text"):
        empty, *others = metric.score([SegmentInput(source, output, ()), *PAIRS])
    assert np.isfinite(empty).all()
    assert (empty[:2] == {"paper": -1, "release-2020": -3, "head-2022": 1 / 3}[definition]).all()
    assert (empty[:2] < np.array(others)[:, :2].min(0)).all()


def test_odd_texts_have_defined_values(encoder: str) -> None:
    odd = ["quiet", "...", "harbour " * 1_000, SOURCES[0], "👩‍👩‍👧 e\u0301"]
    rows = make(encoder).score([SegmentInput(SOURCES[0], text, ()) for text in odd])
    assert np.isfinite(rows).all()
    np.testing.assert_allclose(rows[3], 1, atol=1e-5)  # identical: the best
    assert (rows[:3] < 1).all()
    cut = make(encoder).score([SegmentInput(SOURCES[0], "harbour " * 62, ())])
    np.testing.assert_allclose(rows[2], cut[0], atol=1e-5)


def test_idf_comes_from_a_corpus_and_not_from_the_batch(encoder: str, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(OUTPUTS), encoding="utf-8")
    metric = make(encoder, **{"idf-target": str(corpus)})
    together = metric.score(PAIRS)
    alone = np.vstack([metric.score([segment]) for segment in PAIRS])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    assert np.abs(together - make(encoder).score(PAIRS)).max() > 1e-4
    assert "idf:no/" in metric.signature()


def test_flow_dropout_only_by_name(encoder: str) -> None:
    head = {"definition": "head-2022"}
    exact, cut = make(encoder, **head), make(encoder, **head, **{"flow-dropout": 0.3})
    assert (cut.score(PAIRS) >= exact.score(PAIRS) - 1e-12).all()
    assert (cut.score(PAIRS) > exact.score(PAIRS)).any()
    assert "|dropout:0|" in exact.signature()
    assert "|dropout:0.3|" in cut.signature()


def test_a_mapping_of_something_else_is_refused(encoder: str, tmp_path: Path) -> None:
    folder = fit(encoder, tmp_path / "mapping", "clp")
    with refused("mapping.other-direction", kind=MetricError, fitted="de-en", used="zh-en"):
        make(encoder, source="zh", mapping=folder)
    with refused(
        "option.problem", kind=ValueError, problem="xmoverscore.mapping-layer", fitted=2, layer=1
    ):
        make(encoder, mapping=folder, layer=1)
    other = small.bert(tmp_path / "other", OUTPUTS, layers=3)
    with refused("mapping.other-encoder", kind=MetricError):
        make(str(other), mapping=folder)
    with refused("option.problem", kind=ValueError, option="mapping", problem="mapping.missing"):
        make(encoder, mapping=str(tmp_path / "nowhere"))


def test_every_setting_is_in_the_signature(encoder: str, gpt2: str, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("a b")
    changes: Sequence[dict[str, Any]] = [
        {},
        {"definition": "head-2022"},
        {"layer": 1},
        {"distance": "euclidean"},
        {"flow-dropout": 0.2},
        {"idf-source": str(corpus)},
        {"idf-target": str(corpus)},
        {"mapping": fit(encoder, tmp_path / "clp", "clp")},
        {"mapping": fit(encoder, tmp_path / "umd", "umd")},
        {"language-model": gpt2},
        {"language-model": gpt2, "weight": 2},
        {"language-model": gpt2, "lm-weight": 1},
    ]
    signatures = {make(encoder, **change).signature() for change in changes}
    assert len(signatures) == len(changes)


def test_weights_of_both_models_are_in_the_signature(tmp_path: Path) -> None:
    """Other weights under the same name give other scores, which must not be taken for these."""
    chosen = {"language-model": str(tmp_path / "gpt2")}
    small.gpt2_with_head(tmp_path / "gpt2", OUTPUTS * 4)
    folder = str(small.bert(tmp_path / "bert", OUTPUTS, layers=3))
    signatures = [make(folder, **chosen).signature()]
    scores = [make(folder, **chosen).score(PAIRS[:1])]
    for changed in ("bert", "gpt2"):
        path = tmp_path / changed / "model.safetensors"
        weights = {name: 2 * each for name, each in load_file(path).items()}
        save_file(weights, path, {"format": "pt"})
        signatures.append(make(folder, **chosen).signature())
        scores.append(make(folder, **chosen).score(PAIRS[:1]))
    assert len(set(signatures)) == 3
    assert not np.allclose(scores[1], scores[0])
    assert not np.allclose(scores[2], scores[1])


def test_it_tells_where_it_computes(encoder: str) -> None:
    assert telemetry.read(make(encoder)).precision == encoders.get(encoder).spec.precision


def test_definitions_set_the_layer(tmp_path: Path) -> None:
    folder = str(small.bert(tmp_path / "bert", OUTPUTS, layers=13))
    layers = {
        definition: registry.configure(
            "xmoverscore", "x", "X", {"checkpoint": folder, "definition": definition}
        ).option("layer")
        for definition in ("paper", "release-2020", "head-2022")
    }
    assert layers == {"paper": 13, "release-2020": 12, "head-2022": 8}
    registered = [registry.get_info(f"xmoverscore-{name}").option("layer") for name in layers]
    assert registered == [12, 12, 8]


@pytest.mark.parametrize(
    ("given", "problem", "about"),
    [
        ({"layer": 9}, "xmoverscore.no-such-layer", {"last": 3, "layer": 9}),
        ({"layer": -1}, "xmoverscore.no-layer-of-definition", {"last": 3, "layer": 12}),
        (
            {"definition": "v3"},
            "option.choices",
            {"choices": ["paper", "release-2020", "head-2022"]},
        ),
        ({"flow-dropout": 0.3, "idf-target": "/corpus"}, "xmoverscore.dropout-with-idf", {}),
        ({"mapping": "relative"}, "option.absolute-path", {}),
    ],
)
def test_settings_that_do_not_fit(
    encoder: str, given: dict[str, Any], problem: str, about: dict[str, Any]
) -> None:
    (option, *_) = given
    with refused("option.problem", kind=OptionError, option=option, problem=problem, **about):
        info(encoder, **given)


def test_options_choose_what_tables_show(encoder: str, gpt2: str) -> None:
    names = {option.name for option in FAMILY.options}
    assert options.clean(FAMILY, {"checkpoint": encoder}).keys() == names
    assert info(encoder, n="1").table_measures == ("small-1",)
    with_lm = info(encoder, **{"language-model": gpt2})
    assert with_lm.table_measures == ("small-2-lm",)
    assert len(with_lm.measures) == 5
