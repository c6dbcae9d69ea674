"""COMET against comet's own predict, on small checkpoints in the hub's format."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from comet import load_from_checkpoint

from benchmarks.gpu import small
from extensions.neural.checkpoints import comet
from extensions.neural.checkpoints.comet import Comet
from extensions.neural.encoding import encoders
from metrics.base import MetricError, SegmentInput, one_measure
from tests.extensions.neural.checkpoints.test_bertscore import TEXTS
from tests.refusals import refused

REGRESSION = "regression_metric"
# What each checkpoint is, and its settings: COMET-20 and -22, COMET-20 as first released, the
# ranker of 2020, the reference-free one of 2021, CometKiwi, a unified metric with references,
# xCOMET.
UNIFIED = {"word_level_training": False, "word_layer": 3}
CHECKPOINTS: dict[str, tuple[str, dict[str, object]]] = {
    "comet": (REGRESSION, {}),
    "layer-norm": (REGRESSION, {"layer_norm": True}),
    "sparsemax": (REGRESSION, {"layer_transformation": "sparsemax"}),
    "one-layer": (REGRESSION, {"layer": 2, "pool": "cls"}),
    "ranker": ("ranking_metric", {}),
    "reference-free": ("referenceless_regression_metric", {}),
    "kiwi": ("unified_metric", {**UNIFIED, "input_segments": ["mt", "src"]}),
    "unified": ("unified_metric", {**UNIFIED, "input_segments": ["mt", "src", "ref"]}),
    "xcomet": ("xcomet_metric", {"word_layer": 3}),
}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small.xlm_roberta(tmp_path_factory.mktemp("encoders") / "xlmr", TEXTS * 4)


@pytest.fixture(scope="module", params=CHECKPOINTS)
def checkpoint(
    request: pytest.FixtureRequest, encoder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    kind, changes = CHECKPOINTS[request.param]
    return small.comet(tmp_path_factory.mktemp("comet") / request.param, encoder, kind, **changes)


@pytest.fixture(autouse=True)
def _no_resident_models() -> None:
    encoders.forget()


def make(
    checkpoint: Path,
    *,
    needs_reference: bool = True,
    options: tuple[tuple[str, str], ...] = (),
) -> Comet:
    info = one_measure(
        "small",
        "Small",
        needs_source=True,
        needs_reference=needs_reference,
        queue="gpu",
        family="comet",
        checkpoint=str(checkpoint),
        options=options,
    )
    return Comet(info, source_language="en", target_language="zh")


INPUTS = [
    SegmentInput(source, output, (reference,))
    for source, reference in zip(TEXTS[4:6], TEXTS[0:2], strict=True)
    for output in TEXTS
]


def official(checkpoint: Path, inputs: Sequence[SegmentInput]) -> list[float]:
    """Comet's own predict; without the reference where there is none."""
    model = load_from_checkpoint(str(checkpoint / "checkpoints" / "model.ckpt"))
    samples = [
        {"src": each.source, "mt": each.hypothesis}
        | ({"ref": each.references[0]} if each.references else {})
        for each in inputs
    ]
    found = model.predict(samples, batch_size=4, gpus=0, num_workers=0, progress_bar=False)
    scores: list[float] = found["scores"]
    return scores


def test_equal_to_comet(checkpoint: Path) -> None:
    ours = make(checkpoint).score(INPUTS)
    assert np.ptp(ours) > 1e-4  # a model that says the same of everything would prove nothing
    np.testing.assert_allclose(ours[:, 0], official(checkpoint, INPUTS), atol=1e-5)


@pytest.mark.parametrize("name", ["BERT", "RemBERT", "XLM-RoBERTa-XL"])
@pytest.mark.parametrize("kind", ["comet", "xcomet"])
def test_equal_with_every_encoder_of_comet(tmp_path: Path, name: str, kind: str) -> None:
    """XLM-RoBERTa-XL is that of xCOMET-XL, xCOMET-XXL and CometKiwi-XL."""
    encoder = small.other_encoder(tmp_path / "encoder", name, TEXTS * 4)
    identifier, changes = CHECKPOINTS[kind]
    folder = small.comet(tmp_path / kind, encoder, identifier, encoder_model=name, **changes)
    ours = make(folder).score(INPUTS[:6])
    assert np.ptp(ours) > 1e-4
    np.testing.assert_allclose(ours[:, 0], official(folder, INPUTS[:6]), atol=1e-5)


def test_parts_of_unified_models(encoder: Path, tmp_path: Path) -> None:
    """UniTE's score is the mean of three; each of them is a metric, too (Wan et al. 2022)."""
    identifier, changes = CHECKPOINTS["unified"]
    folder = small.comet(tmp_path / "model", encoder, identifier, **changes)
    model = load_from_checkpoint(str(folder / "checkpoints" / "model.ckpt")).eval()
    samples = [
        {"src": each.source, "mt": each.hypothesis, "ref": each.references[0]} for each in INPUTS
    ]
    with torch.no_grad():
        told = model.predict_step(model.prepare_for_inference(samples))["metadata"]
    for part, key in (("reference", "ref_scores"), ("together", "unified_scores")):
        metric = make(folder, options=(("input", part),))
        np.testing.assert_allclose(metric.score(INPUTS)[:, 0], told[key].numpy(), atol=1e-5)
        assert f"|input:{part}|" in metric.signature()
    only_source = make(folder, needs_reference=False).score(INPUTS)
    np.testing.assert_allclose(only_source[:, 0], told["src_scores"].numpy(), atol=1e-5)
    assert "|input:" not in make(folder).signature()


def test_a_model_of_one_input_has_no_parts(encoder: Path, tmp_path: Path) -> None:
    with refused("comet.single-input", kind=MetricError):
        make(small.comet(tmp_path / "model", encoder), options=(("input", "together"),))


def test_values_do_not_depend_on_the_batch(checkpoint: Path) -> None:
    metric = make(checkpoint)
    together = metric.score(INPUTS)
    metric.loaded.vectors.clear()
    metric.loaded.budget = 1
    np.testing.assert_allclose(metric.score(INPUTS), together, atol=1e-5)


def test_out_of_memory_halves_the_batch(checkpoint: Path) -> None:
    metric = make(checkpoint)
    expected, forward = metric.score(INPUTS), metric.model.encoder.forward
    metric.loaded.vectors.clear()
    failed: list[int] = []

    def small_memory(input_ids: torch.Tensor, *args: object, **named: object) -> object:
        if len(input_ids) > 3:
            failed.append(len(input_ids))
            raise torch.cuda.OutOfMemoryError
        return forward(input_ids, *args, **named)

    metric.model.encoder.forward = small_memory
    np.testing.assert_allclose(metric.score(INPUTS), expected, atol=1e-5)
    assert 0 < len(failed) < 5


@pytest.mark.parametrize("name", ["unified", "xcomet"])
def test_a_model_that_can_do_without_references(name: str, encoder: Path, tmp_path: Path) -> None:
    kind, changes = CHECKPOINTS[name]
    folder = small.comet(tmp_path / "model", encoder, kind, **changes)
    metric = make(folder, needs_reference=False)
    bare = [SegmentInput(each.source, each.hypothesis, ()) for each in INPUTS]
    np.testing.assert_allclose(metric.score(bare)[:, 0], official(folder, bare), atol=1e-5)
    np.testing.assert_allclose(metric.score(INPUTS), metric.score(bare), rtol=0, atol=1e-5)
    assert "|reference:none|" in metric.signature()


def test_a_model_that_cannot_says_so(encoder: Path, tmp_path: Path) -> None:
    folder = small.comet(tmp_path / "model", encoder)
    with refused("comet.reference-needed", kind=MetricError):
        make(folder, needs_reference=False)


def test_a_new_system_costs_only_itself(encoder: Path, tmp_path: Path) -> None:
    """Sources and references are known from the systems before, in a later run too."""
    folder = small.comet(tmp_path / "model", encoder)
    make(folder).score(INPUTS)
    later = make(folder)
    new = [SegmentInput(each.source, "All quiet.", each.references) for each in INPUTS]
    rows = later.score(new)
    assert later.n_encoded == 1
    np.testing.assert_allclose(rows[:, 0], official(folder, new), atol=1e-5)


def test_what_is_kept_has_a_limit(
    encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metric = make(small.comet(tmp_path / "model", encoder))
    expected = metric.score(INPUTS)
    metric.loaded.vectors.clear()
    monkeypatch.setattr(comet, "KEPT_TEXTS", 3)
    np.testing.assert_allclose(metric.score(INPUTS), expected, atol=1e-5)
    assert len(metric.loaded.vectors) == 3


def test_the_signature_changes_with_the_files(encoder: Path, tmp_path: Path) -> None:
    folder = small.comet(tmp_path / "model", encoder)
    first = make(folder).signature()
    assert make(folder).signature() == first
    weights = folder / "checkpoints" / "model.ckpt"
    document = torch.load(weights, weights_only=True)
    document["state_dict"]["estimator.ff.0.bias"] += 1
    torch.save(document, weights)
    retrained = make(folder)
    changed = [
        a for a, b in zip(first.split("|"), retrained.signature().split("|"), strict=True) if a != b
    ]
    assert [field.partition(":")[0] for field in changed] == ["weights"]
    np.testing.assert_allclose(retrained.score(INPUTS)[:, 0], official(folder, INPUTS), atol=1e-5)


def test_the_signature_changes_with_the_tokenizer(tmp_path: Path) -> None:
    """It lies with the encoder, outside the checkpoint."""
    encoder = small.xlm_roberta(tmp_path / "xlmr", TEXTS * 4)
    folder = small.comet(tmp_path / "model", encoder)
    first = make(folder).signature()
    (encoder / "model.safetensors").unlink()  # not needed, and no part of it
    assert make(folder).signature() == first
    with (encoder / "special_tokens_map.json").open("a") as settings:
        settings.write("\n")
    assert make(folder).signature() != first


def test_weights_that_are_not_there_are_not_made_up(encoder: Path, tmp_path: Path) -> None:
    weights = small.comet(tmp_path / "model", encoder) / "checkpoints" / "model.ckpt"
    document = torch.load(weights, weights_only=True)
    del document["state_dict"]["estimator.ff.3.weight"]
    torch.save(document, weights)
    with refused(
        "checkpoint.weights-missing", kind=MetricError, count=1, name="estimator.ff.3.weight"
    ):
        make(tmp_path / "model")


def test_weights_of_another_class(encoder: Path, tmp_path: Path) -> None:
    folder = small.comet(tmp_path / "model", encoder)
    text = (folder / "hparams.yaml").read_text()
    text = text.replace("regression_metric", "referenceless_regression_metric")
    (folder / "hparams.yaml").write_text(text)
    with refused("checkpoint.not-loaded", kind=MetricError):
        make(folder)


@pytest.mark.parametrize("text", ["", "- a list", "class_identifier: [", "pretrained_model: x"])
def test_settings_that_cannot_be_read(encoder: Path, tmp_path: Path, text: str) -> None:
    folder = small.comet(tmp_path / "model", encoder)
    (folder / "hparams.yaml").write_text(text)
    with refused("comet.no-settings", kind=MetricError):
        make(folder)


def test_settings_that_ask_for_python_objects(encoder: Path, tmp_path: Path) -> None:
    folder, mark = small.comet(tmp_path / "model", encoder), tmp_path / "was-run"
    (folder / "hparams.yaml").write_text(f"!!python/object/apply:os.mkdir [{mark}]")
    with refused("comet.no-settings", kind=MetricError):
        make(folder)
    assert not mark.exists()


def test_each_distinct_text_is_encoded_once(encoder: Path, tmp_path: Path) -> None:
    metric = make(small.comet(tmp_path / "model", encoder))
    metric.score(INPUTS)
    distinct = {text for each in INPUTS for text in (each.source, each.hypothesis)}
    assert metric.n_encoded == len(distinct | {each.references[0] for each in INPUTS})


def test_without_references_a_reference_free_model_scores(encoder: Path, tmp_path: Path) -> None:
    folder = small.comet(tmp_path / "model", encoder, "referenceless_regression_metric")
    metric = make(folder, needs_reference=False)
    bare = [SegmentInput(each.source, each.hypothesis, ()) for each in INPUTS]
    np.testing.assert_allclose(metric.score(bare), metric.score(INPUTS), atol=1e-5)


def test_empty_and_endless_texts_have_scores(checkpoint: Path) -> None:
    texts = ["", "?!", "harbour " * 10_000]
    rows = make(checkpoint).score([SegmentInput(TEXTS[4], text, (TEXTS[0],)) for text in texts])
    assert np.isfinite(rows).all()


def test_a_class_that_comet_does_not_have(encoder: Path, tmp_path: Path) -> None:
    folder = small.comet(tmp_path / "model", encoder)
    text = (folder / "hparams.yaml").read_text()
    (folder / "hparams.yaml").write_text(text.replace("regression_metric", "my_metric"))
    with refused("comet.not-a-metric", kind=MetricError, identifier="my_metric"):
        make(folder)


def test_a_truncated_checkpoint_is_an_error(encoder: Path, tmp_path: Path) -> None:
    weights = small.comet(tmp_path / "model", encoder) / "checkpoints" / "model.ckpt"
    weights.write_bytes(weights.read_bytes()[:5_000])
    with refused("checkpoint.not-loaded", kind=MetricError):
        make(tmp_path / "model")


def test_a_pickle_in_a_checkpoint_is_never_run(encoder: Path, tmp_path: Path) -> None:
    from tests.extensions.neural.checkpoints.test_bertscore import Run

    weights = small.comet(tmp_path / "model", encoder) / "checkpoints" / "model.ckpt"
    torch.save({"state_dict": {}, "callbacks": Run(tmp_path / "was-run")}, weights)
    with refused("checkpoint.not-loaded", kind=MetricError):
        make(tmp_path / "model")
    assert not (tmp_path / "was-run").exists()


@pytest.mark.parametrize(
    ("pieces", "code"),
    [(None, "checkpoint.no-tokenizer"), (b"\n\x0e\n", "checkpoint.tokenizer-unreadable")],
)
def test_an_encoder_without_a_tokenizer_is_named(
    tmp_path: Path, pieces: bytes | None, code: str
) -> None:
    encoder = small.xlm_roberta(tmp_path / "xlmr", TEXTS * 4)
    folder = small.comet(tmp_path / "model", encoder)
    file = encoder / "sentencepiece.bpe.model"
    file.unlink() if pieces is None else file.write_bytes(pieces)
    with refused(
        "comet.encoder-not-loaded",
        kind=MetricError,
        encoder=str(encoder),
        checkpoint=str(folder),
        error=code,
    ):
        make(folder)


def test_a_missing_encoder_says_how_to_get_it(encoder: Path, tmp_path: Path) -> None:
    folder = small.comet(tmp_path / "model", encoder)
    text = (folder / "hparams.yaml").read_text()
    (folder / "hparams.yaml").write_text(text.replace(str(encoder), "xlm-roberta-large"))
    with refused("checkpoint.missing", kind=MetricError, checkpoint="xlm-roberta-large"):
        make(folder)
