import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from transformers import MarianMTModel

from tests.small_disk import SmallDisk
from tests.training.doing import refused
from tests.training.translation.copying import N_WORDS, SMALL, WORDS, pairs, shorten, work
from training.contract import Corpus, Outcome, StoppedError, Work
from training.jobs.saving import current
from training.translation.decoding import checkpoints
from training.translation.decoding.generating import Beam, Row, search
from training.translation.learning import job, trainer, vocabulary
from training.translation.learning.pairs import Batches, Pairs, split
from training.translation.options import OPTIONS

Learned = Callable[[str], Outcome]
DEFAULTS = {option.name: option.default for option in OPTIONS}
TINY = {"width": 16, "heads": 2, "inner": 16, "held_out": 8, "batch": 8, "warmup": 4}


def write(outcome: Outcome, sources: list[str], lengths: list[int]) -> list[str]:
    """Translate without being forced."""
    model = checkpoints.load(outcome.result["model"], "en", "de", "cpu")
    rows = [Row(tuple(model.read(text)), n) for text, n in zip(sources, lengths, strict=True)]
    return [model.write(list(found[0].pieces)) for found in search(model, rows, Beam(size=1))]


@pytest.mark.parametrize("control", ["target-embedding", "length-token"])
def test_a_control_keeps_lengths_without_being_forced(learned: Learned, control: str) -> None:
    """Of any length, not that of a reference; with the lengths of others it must fail."""
    outcome, drawn = learned(control), random.Random(3)
    sources = [" ".join(drawn.choices(WORDS, k=drawn.randint(*N_WORDS))) for _ in range(200)]
    lengths = [drawn.randint(1, len(text.split())) for text in sources]
    outputs = write(outcome, sources, lengths)
    own = [len(text.split()) for text in outputs]
    deviation = [abs(n - m) / m for n, m in zip(own, lengths, strict=True)]
    assert sum(deviation) / 200 < 0.02
    exact = [
        shorten(text, n) == out for text, n, out in zip(sources, lengths, outputs, strict=True)
    ]
    assert sum(exact) / 200 > 0.9
    held_out = outcome.result["held_out"]
    assert held_out["length_error"] < 0.02
    assert held_out["exact"] > 0.9
    others = drawn.sample(lengths, len(lengths))
    wrong = [abs(n - m) / m for n, m in zip(own, others, strict=True)]
    assert sum(wrong) / 200 > 0.2


def test_shuffled_lengths_teach_nothing(
    one_thread: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same training, but for each pair the length of another: the control must fail."""
    plain = Pairs.__getitem__

    def shuffled(self: Pairs, place: int) -> dict[str, Any]:
        other = random.Random(place).randrange(len(self))
        return plain(self, place) | {"length": plain(self, other)["length"]}

    monkeypatch.setattr(Pairs, "__getitem__", shuffled)
    wanted = {"control": "target-embedding", "steps": 220, "evaluate_every": 220}
    held_out = job.run(work(tmp_path, pairs(4000), **wanted)).result["held_out"]
    assert held_out["length_error"] > 0.2
    assert held_out["exact"] < 0.5


def test_a_training_is_a_checkpoint_of_marian(learned: Learned) -> None:
    outcome = learned("length-token")
    folder = Path(outcome.result["model"])
    assert json.loads((folder / "config.json").read_text())["architectures"] == ["MarianMTModel"]
    model, tokenizer = MarianMTModel.from_pretrained(folder), vocabulary.load(folder)
    assert tokenizer("ka to").input_ids[-1] == model.config.eos_token_id
    first = tokenizer.convert_tokens_to_ids(["<len_1>", "<len_20>", "<len_21>"])
    assert first[1] - first[0] == 19
    assert first[2] == tokenizer.unk_token_id
    assert outcome.result["pairs"]["training"]["too_long"] == 0
    assert [row["step"] for row in outcome.result["curve"]] == [175, 350, 525, 700]


def test_loss_falls(one_thread: None, tmp_path: Path) -> None:
    curve = job.run(work(tmp_path, pairs(400), steps=60, evaluate_every=20, **TINY)).result["curve"]
    losses = [row["held_out_loss"] for row in curve]
    assert len(losses) == 3
    assert losses == sorted(losses, reverse=True)
    assert all(row["held_out_chrf"] >= 0 and row["training_loss"] > 0 for row in curve)


@pytest.mark.parametrize(("losses", "best"), [([2.0, 1.0], 13), ([1.0, 2.0], 10)])
def test_updates_after_the_last_interval_count(
    one_thread: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    losses: list[float],
    best: int,
) -> None:
    told, measure = iter(losses), trainer.measure
    monkeypatch.setattr(
        trainer, "measure", lambda *given: replace(measure(*given), loss=next(told))
    )
    result = job.run(work(tmp_path, pairs(100), steps=13, evaluate_every=10, **TINY)).result
    assert [row["step"] for row in result["curve"]] == [10, 13]
    assert (result["updates"], result["updates_of_kept_weights"]) == (13, best)
    assert result["held_out"]["loss"] == 1
    own = load_file(Path(result["model"]) / "model.safetensors")
    for step in (10, 13):
        saved = load_file(tmp_path / "updates" / f"checkpoint-{step}" / "model.safetensors")
        shared = own.keys() & saved.keys()
        assert shared
        assert all(torch.equal(own[name], saved[name]) for name in shared) == (step == best)


KILLED = """
import os, signal, sys, torch
from pathlib import Path
from tests.small_disk import SmallDisk
from tests.training.translation.copying import pairs, work
from training.translation.learning import job, trainer
assert "transformers" in sys.modules and not {{"sklearn", "pandas"}} & set(sys.modules)
trainer.REPORT_SECONDS = 0
torch.set_num_threads(1)
def report(progress):
    if progress.get("step") == 27:
        os.kill(os.getpid(), signal.SIGKILL)
given = work(Path(sys.argv[1]), pairs(300), **{options!r})
from dataclasses import replace
job.run(replace(given, report=report))
"""
RESUMED = TINY | {"steps": 43, "evaluate_every": 10, "dropout": 0.2, "control": "progress-ratio",
                  "preprocessing": "study"}  # fmt: skip


def test_a_killed_training_ends_with_the_same_bits(one_thread: None, tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    job.run(work(whole, pairs(300), **RESUMED))
    code = KILLED.format(options=RESUMED)
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", code, str(killed)]
    done = subprocess.run(command, cwd=root, env=os.environ | {"OMP_NUM_THREADS": "1"}, check=False)
    assert done.returncode == -signal.SIGKILL
    # As if it had died while saving: what is not marked as whole is removed.
    (killed / "updates" / "checkpoint-30").mkdir()
    outcome = job.run(work(killed, pairs(300), **RESUMED))
    assert [row["step"] for row in outcome.result["curve"]] == [10, 20, 30, 40, 43]
    first, second = (load_file(Path(f) / "model-1" / "model.safetensors") for f in (whole, killed))
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_a_stopped_training_has_saved_and_goes_on(
    one_thread: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("training.translation.learning.trainer.REPORT_SECONDS", 0)
    steps = []

    def stop(progress: dict[str, Any]) -> None:
        steps.append(progress.get("step"))
        if progress.get("step") == 13:
            raise StoppedError

    given = work(tmp_path, pairs(300), **RESUMED)
    with pytest.raises(StoppedError):
        job.run(replace(given, report=stop))
    assert steps[-1] == 13
    steps.clear()
    job.run(replace(given, report=lambda progress: steps.append(progress.get("step"))))
    assert steps[2:] == [*range(14, 44), 43]


def test_a_training_stopped_at_its_last_update_does_no_other(
    one_thread: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("training.translation.learning.trainer.REPORT_SECONDS", 0)
    options = TINY | {"steps": 6, "evaluate_every": 2}

    def stop(progress: dict[str, Any]) -> None:
        if progress.get("step") == 6:
            raise StoppedError

    whole = job.run(work(tmp_path / "whole", pairs(100), **options)).result
    given = work(tmp_path / "stopped", pairs(100), **options)
    with pytest.raises(StoppedError):
        job.run(replace(given, report=stop))
    result = job.run(given).result
    assert [row["step"] for row in result["curve"]] == [2, 4, 6]
    assert result["updates"] == 6
    first, second = (
        load_file(Path(each["model"]) / "model.safetensors") for each in (whole, result)
    )
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_pairs_that_are_too_long_or_uneven_are_left_out_with_counts(tmp_path: Path) -> None:
    made = vocabulary.train(["a b c d e f"] * 9, "bpe", 30)
    vocabulary.write(made, tmp_path, ("en", "de"))
    tokenizer = vocabulary.load(tmp_path)
    texts = [("a b c", "a b"), ("a b c d", "a b"), ("a b c d e f a", "a b c d e f"), ("a", "a")]
    found = Pairs(texts, tokenizer, {"longest": 6, "imbalance": 1.5})
    assert found.counts == {"pairs": 4, "too_long": 1, "too_uneven": 1}
    assert found.texts == [("a b c", "a b"), ("a", "a")]


def test_chinese_is_cut_into_characters(tmp_path: Path) -> None:
    texts = ["我喜欢生物学，你呢？", "I like the biology of the cat"] * 20
    made = vocabulary.train(texts, "bpe", 60)
    vocabulary.write(made, tmp_path, ("en", "zh"))
    tokenizer = vocabulary.load(tmp_path)
    pieces = tokenizer.convert_ids_to_tokens(tokenizer("我喜欢生物学，").input_ids)
    assert [piece for piece in pieces if piece != "▁"] == [*"我喜欢生物学，", "</s>"]
    assert tokenizer.decode(tokenizer(texts[0]).input_ids, skip_special_tokens=True) == texts[0]


def test_a_vocabulary_is_as_large_as_the_text_allows() -> None:
    made = vocabulary.train(["ka to mi re"] * 5, "bpe", 5000)
    assert 10 < made.n_pieces < 100
    assert made.n_asked == 5000


def test_held_out_sources_are_not_learned_from() -> None:
    texts = [(f"s{n % 40}", f"t{n}") for n in range(100)]
    found = split([Corpus("c", "en", "de", texts, "x")], DEFAULTS | {"held_out": 8})
    assert {s for s, _ in found.held_out} & {s for s, _ in found.train} == set()
    assert len({s for s, _ in found.held_out}) == 8
    back = split([Corpus("c", "en", "de", texts, "x")], DEFAULTS | {"reverse": True})
    assert all(source.startswith("t") for source, _ in back.train)


def test_batches_hold_each_pair_once_and_lengths_are_alike() -> None:
    drawn = random.Random(1)
    lengths = [drawn.randint(1, 60) for _ in range(1003)]
    batches = Batches(lengths, 10, 7)
    order = list(batches)
    assert sorted(order) == list(range(1003))
    assert order == list(batches)
    parts = ([lengths[n] for n in order[at : at + 10]] for at in range(0, 1000, 10))
    spreads = [max(part) - min(part) for part in parts]
    assert sum(spreads) / len(spreads) < 5
    batches.set_epoch(1)
    assert list(batches) != order


@pytest.mark.parametrize(
    ("texts", "options", "code"),
    [
        (pairs(3), {}, "mt.too-few-sources"),
        (pairs(40), {"longest": 2, "held_out": 5}, "mt.no-pairs"),
        (pairs(40), {"rate": 1e12, "held_out": 5, "batch": 8, "warmup": 0, "steps": 20,
                     "evaluate_every": 10}, "mt.loss-undefined"),
    ],
)  # fmt: skip
def test_refusals(
    tmp_path: Path, texts: list[tuple[str, str]], options: dict[str, Any], code: str
) -> None:
    with refused(code):
        job.run(work(tmp_path, texts, **{"steps": 5, **options}))


def test_corpora_of_two_directions_are_refused(tmp_path: Path) -> None:
    corpora = [Corpus(n, n, "de", pairs(20), n) for n in ("en", "fr")]
    with refused("mt.languages-differ"):
        job.run(Work(DEFAULTS | SMALL, tmp_path, corpora))


def test_a_full_disk_is_a_sentence(one_thread: None, small_disk: SmallDisk) -> None:
    given = work(small_disk.folder / "job", pairs(300), **TINY, steps=10, evaluate_every=5)
    small_disk.folder.joinpath("job").mkdir()
    small_disk.leave(40_000)
    with refused(small_disk.code):
        job.run(given)
    assert current(given.folder, "model") is None
