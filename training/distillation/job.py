"""Multilingual knowledge distillation (Reimers and Gurevych 2020) as a job, for BERTScore-MKD.

The teacher M knows one language, the student M′ many. For pairs (s, t), s in the teacher's
language, the loss is mean[(M(s) − M′(s))² + (M(s) − M′(t))²]. The teacher's vectors are those of
its sentence-transformers folder, the student's are means of its last layer over all pieces. AdamW,
ε 1e-8, no weight decay, gradients clipped at 1; the checkpoint with the lowest error on held-out
pairs is kept.

Measured on other held-out pairs, before and after: both mean squared errors, and translation
retrieval, the share of texts whose own translation has the nearest vector of all held-out ones, in
both directions. Retrieval shows that translations have similar vectors, not that the metric agrees
with humans. Teacher's vectors take 4 bytes per number: 300 MB for 100,000 pairs of 768 numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from metaeval.messages import message
from metrics.base import MetricError
from metrics.options import count_layers
from training.contract import Corpus, JobError, NewMetric, Outcome, Work
from training.distillation.level import Distillation, match
from training.distillation.options import Recipe
from training.jobs.saving import NOT_TRAINED, disk_errors
from training.refreeeval.data import Pair, Vectors, prepare, teacher_vectors
from training.refreeeval.loop import Trained, train
from training.refreeeval.processes import first_alone, world
from training.refreeeval.student import Student
from training.refreeeval.train import (
    PACKAGES,
    compare,
    fingerprint,
    keep,
    level_document,
    machine,
    short_warmups,
    take,
)


@dataclass(frozen=True)
class Taught:
    """Pairs, and the teacher's vectors of their first sides."""

    pairs: list[Pair]
    vectors: Vectors


def run(work: Work) -> Outcome:
    """Train, and return BERTScore on the student; raises JobError or StoppedError."""
    recipe, folder = Recipe.from_options(work.options), work.folder
    corpora = [_oriented(corpus, recipe.language) for corpus in work.corpora]
    depth = _depth(recipe)
    with disk_errors(folder, NOT_TRAINED):
        folder.mkdir(parents=True, exist_ok=True)
    prepared = prepare(corpora, recipe)
    training = {"recipe": recipe.as_json(), "data_hash": prepared.data_hash}
    first_alone(lambda: take(folder, training))
    chosen = [prepared.train, _distinct(prepared.validation), _distinct(prepared.test)]
    if min(map(len, chosen)) < 2:
        raise JobError(
            message(
                "distillation.too-few-held-out",
                "Too few pairs are left to train and to measure on. More parallel text is needed.",
            )
        )
    train_on, validation, test = _taught(recipe, chosen, work)
    student = Student(recipe.encoder, depth, recipe.max_pieces, checkpointing=recipe.checkpointing)
    _check_widths(recipe, student, test)
    before = match(student, test.pairs, test.vectors)
    level = Distillation(
        student, recipe, train_on.pairs, train_on.vectors, validation.pairs, validation.vectors
    )
    steps = recipe.passes * len(level.batches(0))
    done = train(level, student, replace(recipe, steps=steps), folder / level.name, work.report)
    best = Student(str(done.best), depth, recipe.max_pieces)
    after = match(best, test.pairs, test.vectors)
    counts = dict(zip(("train", "validation", "test"), map(len, chosen), strict=True))
    levels = {level.name: level_document(done, level.warmup, {})}
    manifest = {
        "recipe": recipe.as_json(),
        "encoder": fingerprint(recipe.encoder),
        "teacher": fingerprint(recipe.teacher),
        "data": {"corpora": prepared.report["corpora"], **counts},
        "data_hash": prepared.data_hash,
        "levels": levels,
        "updates_of_kept_weights": _kept_step(done),
        "held_out": {
            "n": len(test.pairs),
            "into_other": compare(before.into, after.into),
            "from_other": compare(before.back, after.back),
            "error_untrained": before.loss,
            "error_trained": after.loss,
        },
        "versions": {name: version(name) for name in PACKAGES},
        "machine": machine(best.device) | {"processes": world()},
        "seconds": done.state.seconds,
        "warnings": short_warmups(levels),
    }
    made = keep(best, folder, manifest, layer=recipe.layer, metric="BERTScore-MKD")
    return Outcome(manifest, _metric(recipe, made))


def _oriented(corpus: Corpus, language: str) -> Corpus:
    """Return a corpus with the teacher's language as its source; JobError without it."""
    names = [corpus.source_language, corpus.target_language]
    sides = [_base(name) for name in names]
    if sides.count(_base(language)) != 1:
        raise JobError(
            message(
                "distillation.other-languages",
                "The corpus {corpus} has {languages}. Exactly one of them must be {language}, the "
                "language of the teacher.",
                corpus=corpus.name,
                languages=names,
                language=language,
            )
        )
    if sides[0] == _base(language):
        return corpus
    pairs = [(target, source) for source, target in corpus.pairs]
    return replace(corpus, source_language=names[1], target_language=names[0], pairs=pairs)


def _base(language: str) -> str:
    return language.strip().lower().replace("_", "-").split("-")[0]


def _depth(recipe: Recipe) -> int:
    """Return the number of layers of the student; JobError if it lacks that of the metric."""
    try:
        depth = count_layers(recipe.encoder) - 1
    except MetricError as error:
        raise JobError(error.message) from error
    if recipe.layer > depth:
        raise JobError(
            message(
                "refreeeval.too-few-layers",
                "{checkpoint} has {depth} layers, so layer {layer} does not exist.",
                checkpoint=recipe.encoder,
                depth=depth,
                layer=recipe.layer,
            )
        )
    return depth


def _distinct(pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs of which neither text occurs twice, so that each has one translation."""
    by_source = {pair.source: pair for pair in reversed(pairs)}
    return list({pair.target: pair for pair in reversed(by_source.values())}.values())


def _taught(recipe: Recipe, chosen: Sequence[list[Pair]], work: Work) -> list[Taught]:
    """Let the teacher read every distinct text of its language once."""
    texts = list(dict.fromkeys(pair.source for pairs in chosen for pair in pairs))
    vectors = first_alone(lambda: teacher_vectors(recipe.teacher, texts, work.folder, work.report))
    row = {text: number for number, text in enumerate(texts)}
    return [Taught(pairs, vectors[[row[pair.source] for pair in pairs]]) for pairs in chosen]


def _check_widths(recipe: Recipe, student: Student, taught: Taught) -> None:
    width, wanted = int(student.model.config.hidden_size), taught.vectors.shape[1]
    if width != wanted:
        raise JobError(
            message(
                "distillation.widths",
                "Vectors of the teacher {teacher} have {wanted} numbers, those of the student "
                "{student} {width}. Choose two of the same width.",
                teacher=recipe.teacher,
                wanted=wanted,
                student=recipe.encoder,
                width=width,
            )
        )


def _kept_step(done: Trained) -> int:
    """Return the update after which the error was lowest."""
    return int(min(done.state.curve, key=lambda row: row["held_out_loss"])["step"])


def _metric(recipe: Recipe, folder: Path) -> NewMetric:
    options: dict[str, Any] = {"checkpoint": str(folder), "layer": recipe.layer}
    return NewMetric("xbertscore", f"BERTScore-MKD (seed {recipe.seed})", options)
