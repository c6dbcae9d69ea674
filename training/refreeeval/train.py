"""Train ReFreeEval: data, levels, and the resulting encoder with its manifest.

Each translation is compared with k texts that are worse by construction. The score of the student
is the F1 of greedy matching, at its layer, without temperature. Fluency, L_fl [eq.
7], is the cross-entropy of finding the genuine text among k + 1 scores. Faithfulness, L_fa [eq. 8],
is the Kullback–Leibler divergence of the student's softmax from that of a sentence encoder's
cosines, added up over candidates, averaged over texts. L_sent = L_fl + α L_fa [eq. 9].

On the word level, L_word [eq. 2–6], the encoder itself, without dropout, aligns pieces:
softmax over each side of the products of vectors, both above c1. Those above c2 are rivals. With
cosines and gradients, the share of the aligned among both should grow, for the pieces of either
side. There is no logarithm, so the loss is between −2 and 0.

``full`` trains the sentence level, then from its best checkpoint the word level; ``sent-level``
trains L_sent, ``fluency`` L_fl only, ``sent-fa`` L_fa only, ``word-level`` L_word only. AdamW,
ε 1e-8, no weight decay, gradients of the word level clipped at 1.
"""

import json
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch

from metaeval.messages import Message, message, plural
from metaeval.reasons import reason_of
from metaeval.results import plain
from metaeval.significance import paired_gain
from metrics.base import MetricError
from metrics.checkpoints import places
from training.contract import LEVELS, Corpus, JobError, NewMetric, Outcome, Work, other_training
from training.jobs.saving import NOT_TRAINED, current, disk_errors, save_whole, write_whole
from training.perturbations.rules import EDITION
from training.refreeeval import data
from training.refreeeval.data import Example, Pair, examples, prepare, swap
from training.refreeeval.levels import Level, SentenceLevel, WordLevel, find_genuine
from training.refreeeval.loop import Report, Trained, train
from training.refreeeval.processes import first_alone, world
from training.refreeeval.recipe import Recipe
from training.refreeeval.student import Student

PACKAGES = ("torch", "transformers", "tokenizers", "numpy")


@dataclass(frozen=True)
class Made:
    """A trained encoder: its folder, and the manifest with all that is needed to repeat it."""

    folder: Path
    manifest: dict[str, Any]


def make_metric(recipe: Recipe, corpora: Sequence[Corpus], folder: Path, report: Report) -> Made:
    """Train all levels of a recipe, or continue from the folder.

    Raises JobError if it cannot be done, and StoppedError, with everything saved, if `report` does.
    """
    with disk_errors(folder, NOT_TRAINED):
        folder.mkdir(parents=True, exist_ok=True)
    prepared = prepare(corpora, recipe)
    training = {"recipe": recipe.as_json(), "data_hash": prepared.data_hash} | _edition(recipe)
    first_alone(lambda: take(folder, training))
    (validation, _), (test, test_counts) = (
        examples(swap(pairs, recipe.swapped, recipe.seed), recipe)
        for pairs in (prepared.validation, prepared.test)
    )
    if not validation or len(test) < 2:
        raise JobError(
            message(
                "refreeeval.too-few-perturbed",
                "Too few held-out texts can be perturbed. More parallel text is needed.",
            )
        )
    untrained = find_genuine(_student(recipe, recipe.encoder), test)
    last, levels = _train_levels(recipe, prepared.train, validation, folder, report)
    final = _student(recipe, last)
    manifest = {
        "metric": "ReFreeEval",
        "recipe": recipe.as_json(),
        "encoder": fingerprint(recipe.encoder),
        "data": prepared.report | _edition(recipe) | {"test_counts": test_counts},
        "data_hash": prepared.data_hash,
        "levels": levels,
        "held_out": compare(untrained.found, find_genuine(final, test).found),
        "versions": {name: version(name) for name in PACKAGES},
        "machine": machine(final.device) | {"processes": world()},
        "seconds": sum(level["seconds"] for level in levels.values()),
        "warnings": _warnings(prepared.report, levels),
    }
    return Made(keep(final, folder, manifest, metric="ReFreeEval", measure="f"), manifest)


def take(folder: Path, training: dict[str, Any]) -> None:
    """Record what is trained in a folder; JobError if it has another training."""
    path = folder / "training.json"
    text = json.dumps(training, indent=1)
    if not path.exists():
        write_whole(path, lambda file: file.write(text.encode()))
    elif path.read_text(encoding="utf-8") != text:
        raise JobError(other_training(folder))


def _edition(recipe: Recipe) -> dict[str, int]:
    """Return the version of rules whose texts have changed; `clauses` has not changed."""
    return {"rules": EDITION} if recipe.rule in ("shuffle", "repeat") else {}


def _train_levels(
    recipe: Recipe,
    pairs: Sequence[Pair],
    validation: Sequence[Example],
    folder: Path,
    report: Report,
) -> tuple[str, dict[str, Any]]:
    """Train one level after the other; return the last checkpoint and a document of each."""
    start, levels = recipe.encoder, dict[str, Any]()
    for name in recipe.stages:
        student = _student(recipe, start)
        level, counts = _level(name, student, recipe, pairs, validation, folder, report)
        done = train(level, student, recipe, folder / name, report)
        # The sentence level is chosen by validation; the word level, as published, is its last.
        start = str(done.best if name == "sentence" else done.last)
        levels[name] = level_document(done, level.warmup, counts)
    return start, levels


def _warnings(data: dict[str, Any], levels: dict[str, Any]) -> list[Message]:
    """Return warnings about the results."""
    found = [
        message(
            "refreeeval.no-clause-marks",
            "No clause marks are known for {language}, so those of all languages were used.",
            language=language,
        )
        for language in data["without_rules"]
    ]
    found += short_warmups(levels)
    for level in levels.values():
        if level.get("with_repeated_negatives"):
            found.append(
                plural(
                    "refreeeval.repeated-negatives",
                    "{n} of {total} texts has fewer distinct degraded versions than requested, so "
                    "some are repeated.",
                    "{n} of {total} texts have fewer distinct degraded versions than requested, so "
                    "some are repeated.",
                    n=level["with_repeated_negatives"],
                    total=level["examples"],
                )
            )
    return found


def short_warmups(levels: dict[str, Any]) -> list[Message]:
    """Return a warning for each level that ended before its warm-up."""
    return [
        message(
            "refreeeval.within-warmup",
            "{level}: training ended after {updates} of {warmup} warm-up updates, so the "
            "learning rate reached only {share:percent} of its setting.",
            level=LEVELS[name],
            updates=level["updates"],
            warmup=level["warmup"],
            share=level["updates"] / level["warmup"],
        )
        for name, level in levels.items()
        if level["updates"] < level["warmup"]
    ]


def _student(recipe: Recipe, checkpoint: str) -> Student:
    return Student(checkpoint, recipe.layer, recipe.max_pieces, checkpointing=recipe.checkpointing)


def _level(
    name: str,
    student: Student,
    recipe: Recipe,
    pairs: Sequence[Pair],
    held: Sequence[Example],
    folder: Path,
    report: Report,
) -> tuple[Level, dict[str, Any]]:
    if name == "word":
        return WordLevel(student, recipe, pairs, held), {"examples": len(pairs)}
    found, counts = examples(swap(pairs, recipe.swapped, recipe.seed), recipe)
    if not found:
        raise JobError(
            message("refreeeval.none-perturbed", "No text of the corpora can be perturbed.")
        )
    cosines = None
    if recipe.has_teacher:
        cosines = first_alone(lambda: data.teacher_cosines(recipe.teacher, found, folder, report))
    level = SentenceLevel(student, recipe, found, held, cosines)
    document: dict[str, Any] = {"examples": len(found), **counts}
    if cosines is not None:
        document["variation"] = variation(cosines, [each.label for each in found])
    return level, document


def variation(cosines: data.TeacherCosines, labels: Sequence[int]) -> float:
    """Return the mean change of the sentence cosine caused by the perturbation (table 11)."""
    rows = np.arange(len(labels))
    genuine = cosines[rows, list(labels)]
    n_degraded = cosines.shape[1] - 1
    degraded = (cosines.sum(axis=1) - genuine) / n_degraded
    return float((degraded - genuine).mean())


def compare(before: Sequence[bool], after: Sequence[bool]) -> dict[str, Any]:
    """Return accuracies on the same examples before and after, and the gain with 95% interval.

    `interval` says how that was computed, or why there are no `low` and `high`.
    """
    gain = paired_gain(before, after)
    ends = {"low": gain.interval.low, "high": gain.interval.high} if gain.interval else {}
    return {
        "n": gain.n,
        "untrained": float(np.mean(before)),
        "trained": float(np.mean(after)),
        "gain": gain.statistic,
        **ends,
        "interval": gain.method or gain.warnings[0].message,
    }


def level_document(done: Trained, warmup: int, counts: dict[str, Any]) -> dict[str, Any]:
    """Return what results say of a level."""
    state = done.state
    return {
        **counts,
        "updates": state.step,
        "warmup": warmup,
        "seconds": state.seconds,
        "pieces_per_second": state.pieces / max(state.seconds, 1e-9),
        "curve": state.curve,
    }


def fingerprint(checkpoint: str) -> dict[str, str]:
    """Return a checkpoint with the hash of its weights; JobError if it is missing."""
    try:
        folder = Path(places.find(checkpoint))
    except MetricError as error:
        raise JobError(error.message) from error
    return {"name": checkpoint, "weights": places.fingerprint(folder)}


def machine(device: str) -> dict[str, str]:
    """Describe the machine that trains."""
    name = torch.cuda.get_device_name() if device.startswith("cuda") else platform.processor()
    return {"device": device, "name": name, "system": platform.platform()}


def keep(student: Student, folder: Path, manifest: dict[str, Any], **meta: Any) -> Path:
    """Write the encoder once as a metric, with its manifest and its `meta.json`."""

    def write(path: Path) -> None:
        student.save(path, meta)
        text = json.dumps(plain(manifest), ensure_ascii=False, indent=1)
        (path / "manifest.json").write_text(text + "\n", encoding="utf-8")

    return first_alone(
        lambda: current(folder, "metric") or save_whole(folder, "metric", write, student.n_bytes)
    )


def run(work: Work) -> Outcome:
    """Train, and return the resulting metric; raises JobError or StoppedError."""
    try:
        recipe = Recipe.from_options(work.options)
    except ValueError as error:
        raise JobError(reason_of(error)) from error
    made = make_metric(recipe, work.corpora, work.folder, work.report)
    label = f"ReFreeEval {recipe.variant} (seed {recipe.seed})"
    # The layer is in the meta.json of the checkpoint.
    metric = NewMetric("refreeeval", label, {"checkpoint": str(made.folder)})
    return Outcome(made.manifest, metric)
