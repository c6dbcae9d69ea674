"""A training from data to metric: every variant, going on after a kill, and what goes wrong."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from benchmarks.gpu import small
from extensions.neural.encoding import encoders, token_vectors
from tests.refusals import refused
from training.contract import Corpus, JobError, StoppedError
from training.refreeeval import data, loop, train
from training.refreeeval.data import Example, examples, order, prepare, swap
from training.refreeeval.levels import find_genuine
from training.refreeeval.recipe import VARIANTS
from training.refreeeval.student import Student, groups
from training.refreeeval.train import compare, make_metric, variation


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "model.safetensors")


def quiet(progress: dict[str, Any]) -> None:
    """Nobody watches."""


@pytest.mark.parametrize("variant", list(VARIANTS))
def test_every_variant_makes_a_metric(recipe, corpus, tmp_path, variant):
    made = make_metric(recipe(variant=variant), [corpus], tmp_path, quiet)
    meta = json.loads((made.folder / "meta.json").read_text())
    manifest = json.loads((made.folder / "manifest.json").read_text())
    assert meta["layer"] == 2
    assert list(manifest["levels"]) == list(VARIANTS[variant][0])
    assert manifest["recipe"]["variant"] == variant
    # The metric is a plain encoder that ends at its layer.
    assert encoders.get(str(made.folder)).n_layers == 2 + 1
    for level in manifest["levels"].values():
        assert level["curve"][0]["step"] == 0
        assert level["curve"][-1]["step"] == 6


def test_xlm_roberta_and_its_own_teacher(recipe, corpus, tmp_path):
    """Another tokenizer, other special tokens, positions that begin after the padding's."""
    texts = [text for pair in corpus.pairs for text in pair]
    folder = str(small.xlm_roberta(tmp_path / "xlmr", texts))
    chosen = recipe(variant="full", encoder=folder, teacher=folder, max_pieces=512)
    made = make_metric(chosen, [corpus], tmp_path / "job", quiet)
    assert encoders.get(str(made.folder)).n_layers == 2 + 1
    (long,) = Student(folder, 2, 512).ids(["harbour " * 600])
    assert len(long) < 512


def test_a_stop_while_the_teacher_reads(recipe, corpus, tmp_path):
    def stop(progress: dict[str, Any]) -> None:
        assert progress["level"] == "teacher"
        raise StoppedError

    with pytest.raises(StoppedError):
        make_metric(recipe(), [corpus], tmp_path, stop)
    assert make_metric(recipe(), [corpus], tmp_path, quiet).folder.is_dir()


class Stop:
    """Stops at an update of a level."""

    def __init__(self, step: int) -> None:
        self.step = step

    def __call__(self, progress: dict[str, Any]) -> None:
        if progress["level"] != "teacher" and progress["step"] >= self.step:
            raise StoppedError


@pytest.mark.parametrize("variant", ["word-level", "full"])
def test_a_training_that_was_stopped_ends_as_one_that_was_not(
    recipe, corpus, tmp_path, variant, monkeypatch
):
    monkeypatch.setattr(loop, "REPORT_SECONDS", 0.0)
    chosen = recipe(variant=variant)
    whole = make_metric(chosen, [corpus], tmp_path / "whole", quiet)
    for step in (1, 4):
        with pytest.raises(StoppedError):
            make_metric(chosen, [corpus], tmp_path / "parts", Stop(step))
    parts = make_metric(chosen, [corpus], tmp_path / "parts", quiet)
    left, right = weights(whole.folder), weights(parts.folder)
    assert left.keys() == right.keys()
    for name in left:
        assert torch.equal(left[name], right[name]), name
    levels = [made.manifest["levels"] for made in (whole, parts)]
    curves = [{name: level["curve"] for name, level in each.items()} for each in levels]
    assert curves[0] == curves[1]


def test_a_training_changes_the_encoder_and_seeds_differ(recipe, corpus, tmp_path):
    first, second = (
        make_metric(recipe(seed=seed), [corpus], tmp_path / str(seed), quiet) for seed in (1, 2)
    )
    name = "encoder.layer.0.output.dense.weight"
    assert not torch.equal(weights(first.folder)[name], weights(second.folder)[name])


def test_the_teacher_encodes_every_distinct_text_once(recipe, corpus, tmp_path, monkeypatch):
    chosen = recipe()
    found, _ = examples(prepare([corpus], chosen).train, chosen)
    seen: list[int] = []
    token_vectors.forget()
    original = encoders.Encoder.pad
    monkeypatch.setattr(
        encoders.Encoder,
        "pad",
        lambda self, ids: (seen.append(len(ids)), original(self, ids))[1],
    )
    values = data.teacher_cosines(chosen.teacher, found, tmp_path)
    distinct = {text for each in found for text in (each.source, *each.candidates)}
    assert sum(seen) == len(distinct)
    assert values.shape == (len(found), 4)
    again = data.teacher_cosines(chosen.teacher, found, tmp_path)
    assert sum(seen) == len(distinct)
    assert (again == values).all()


def test_teacher_cosines_are_those_of_mean_pooling(recipe, encoder, tmp_path):
    from transformers import BertModel, BertTokenizer

    found = [Example("Ein Koch", ("a chef", "chef a"), 0)]
    ours = data.teacher_cosines(encoder, found, tmp_path)
    model = BertModel.from_pretrained(encoder).eval()
    tokenizer = BertTokenizer.from_pretrained(encoder)

    def vector(text: str) -> torch.Tensor:
        with torch.inference_mode():
            return model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].mean(0)

    expected = [
        torch.cosine_similarity(vector("Ein Koch"), vector(text), dim=0).item()
        for text in ("a chef", "chef a")
    ]
    assert ours[0].tolist() == pytest.approx(expected, abs=1e-5)


def test_variation_is_the_mean_change():
    cosines = np.array([[0.9, 0.5, 0.7], [0.2, 0.8, 0.6]], dtype=np.float32)
    assert variation(cosines, [0, 1]) == pytest.approx(((0.6 - 0.9) + (0.4 - 0.8)) / 2)


def test_no_source_text_is_on_both_sides_of_the_split(recipe, corpus):
    doubled = Corpus(
        "twice", "de", "en", [*corpus.pairs, *[(s, t + " too") for s, t in corpus.pairs]], "1"
    )
    prepared = prepare([doubled], recipe(sample=1000))
    parts = [prepared.train, prepared.validation, prepared.test]
    sources = [{pair.source for pair in part} for part in parts]
    assert all(sources)
    assert sum(map(len, sources)) == len(set.union(*sources)) == len(corpus.pairs)
    assert sum(map(len, parts)) == 2 * len(corpus.pairs)


def test_no_held_out_target_is_trained_on_with_another_source(recipe, corpus):
    thanks = [(f"Danke {number}", "Thank you") for number in range(30)]
    mixed = Corpus("mixed", "de", "en", [*corpus.pairs, *thanks], "1")
    prepared = prepare([mixed], recipe(sample=1000, held_out=0.3))
    held = {p.target for p in prepared.validation + prepared.test}
    assert "Thank you" in held
    assert held.isdisjoint(p.target for p in prepared.train)


def test_a_third_changes_sides(recipe, corpus):
    pairs = prepare([corpus], recipe()).train
    swapped = swap(pairs, 1 / 3, 42)
    turned = [new for old, new in zip(pairs, swapped, strict=True) if new != old]
    assert len(turned) == len(pairs) // 3
    assert all(pair.target_language == "de" for pair in turned)


def test_the_label_is_the_place_of_the_genuine_text(recipe, corpus):
    pairs = prepare([corpus], recipe()).train
    found, counts = examples(pairs, recipe())
    targets = {pair.target for pair in pairs}
    assert all(each.candidates[each.label] in targets for each in found)
    assert len({each.label for each in found}) == 4
    assert len(found) + counts["without_negatives"] == len(pairs)


def test_batches_hold_every_example_once_and_little_padding():
    lengths = [(7 * place) % 41 + 3 for place in range(1000)]
    batches = order(lengths, 10, seed=1, epoch=0)
    assert sorted(place for batch in batches for place in batch) == list(range(1000))
    assert batches != order(lengths, 10, seed=1, epoch=1)
    computed = sum(len(batch) * max(lengths[place] for place in batch) for batch in batches)
    assert computed / sum(lengths) < 1.1


def test_groups_bound_the_padding():
    lengths = [3, 50, 4, 48, 5, 100, 3]
    found = list(groups(lengths))
    assert sorted(place for group in found for place in group) == list(range(7))
    for group in found:
        real = sum(lengths[place] for place in group)
        assert real >= 0.85 * len(group) * max(lengths[place] for place in group)


def test_grouped_encoding_is_that_of_each_text_alone(encoder):
    student = Student(encoder, 2, 48)
    student.model.eval()
    texts = ["a chef", "the brother of the victim says so", "", "was"]
    together = student.encode(student.ids(texts))
    for row, text in enumerate(texts):
        alone = student.encode(student.ids([text]))
        n = alone.states.shape[1]
        torch.testing.assert_close(together.states[row, :n], alone.states[0], atol=1e-5, rtol=0)
        assert together.mask[row].sum() == n


def test_words_of_pieces(encoder):
    student = Student(encoder, 2, 48)
    ((ids, words),) = student.word_ids([("brother  says", "en")])
    assert len(ids) == len(words)
    assert (words[0], words[-1]) == (-1, -1)
    assert sorted(set(words[1:-1])) == [0, 1]


def test_chinese_without_blanks_has_no_word_that_is_the_whole_text(encoder):
    student = Student(encoder, 2, 48)
    (ids, words), (_, segmented) = student.word_ids([("我们读书。", "zh"), ("我们 读书 。", "zh")])
    assert len(ids) > 2
    assert words == [-1, *range(len(ids) - 2), -1]
    # Segmented text keeps its words.
    assert set(segmented) == {-1, 0, 1, 2}


def test_warm_up_longer_than_the_training_is_reported(recipe, corpus, tmp_path):
    made = make_metric(recipe(variant="word-level", word_warmup=24), [corpus], tmp_path, quiet)
    found = {each.code: each.parameters for each in made.manifest["warnings"]}
    assert found["refreeeval.within-warmup"]["share"] == 0.25


def test_a_language_without_clause_marks_is_reported(recipe, corpus, tmp_path):
    swahili = Corpus("sw", "de", "sw", corpus.pairs, "3")
    made = make_metric(recipe(variant="word-level"), [swahili], tmp_path, quiet)
    found = {each.code: each.parameters for each in made.manifest["warnings"]}
    assert found["refreeeval.no-clause-marks"] == {"language": "sw"}


def test_long_texts_are_cut_and_keep_their_ends(encoder):
    student = Student(encoder, 2, 10)
    (ids,) = student.ids(["word " * 50])
    assert len(ids) == 10
    assert (ids[0], ids[-1]) == (student.tokenizer.cls_token_id, student.tokenizer.sep_token_id)
    assert len(student.word_ids([("word " * 50, "en")])[0][0]) == 10


def test_the_gain_and_its_interval():
    from scipy import stats

    before, after = [False] * 60 + [True] * 40, [True] * 70 + [False] * 30
    found = compare(before, after)
    assert (found["untrained"], found["trained"]) == (0.4, 0.7)
    assert found["gain"] == pytest.approx(0.3)
    # 60 texts gained, 30 lost; one and a half of each kind are added.
    p, q = 61.5 / 103, 31.5 / 103
    half = stats.t.ppf(0.975, 99) * np.sqrt((p + q - (p - q) ** 2) / 103)
    assert (found["low"], found["high"]) == pytest.approx((p - q - half, p - q + half))
    assert "adjusted Wald" in found["interval"].text


def test_four_held_out_texts_have_no_interval():
    found = compare([True] * 4, [True] * 4)
    assert found["gain"] == 0
    assert "low" not in found
    assert found["interval"].code == "gain.few-texts"
    assert found["interval"].parameters["n"] == 4


def test_an_untrained_encoder_is_near_chance_and_dropout_is_off(recipe, corpus):
    held, _ = examples(prepare([corpus], recipe()).train, recipe())
    student = Student(recipe().encoder, 2, 48)
    student.model.train()
    first, second = find_genuine(student, held), find_genuine(student, held)
    assert first == second
    assert student.model.training


def test_the_job_returns_a_metric_of_the_family(recipe, corpus, tmp_path):
    from training.contract import Work

    outcome = train.run(Work(recipe(variant="fluency").as_json(), tmp_path, [corpus]))
    assert outcome.metric.family == "refreeeval"
    assert Path(outcome.metric.options["checkpoint"]).is_dir()
    with refused("option.problem", kind=JobError):
        train.run(Work({"layer": 0}, tmp_path, [corpus]))
