"""Check files before an import: their scores, what importing them changes, and warnings."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from django.core.exceptions import ValidationError

from annotation.access import may_change_test_set, test_set_refusal
from annotation.models import TestSet
from annotation.uploads.files import InputFile
from annotation.uploads.previews import FIRST
from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.cells import USUAL, direction_message, say_direction
from annotation.uploads.tables.skipping import read_skipping, skipped
from core.messages import messages_of
from metaeval.messages import Message, message, truncated
from metaeval.scores.directions import Direction, infer_direction, stated_direction
from metrics.imported import naming
from metrics.imported.collecting import Collected, Collector
from metrics.imported.files import Choices, Reading, is_human, read
from metrics.imported.held import Names, names_of
from metrics.imported.storing import (
    NO_SCORES,
    Draft,
    Outcome,
    Plan,
    fingerprint,
    plan,
    shown_imports,
    store_all,
    with_note,
)

# Why the scores of a metric that is stored already have their direction.
STORED = message("direction.stored", "as its stored scores are")


@dataclass(frozen=True)
class Found:
    """One metric in the files, whether it is imported or not.

    `key` is its name in the files. `coverage` has the number of scored outputs of every system of
    the test set; `n_missing` counts cells that state a missing score, `n_parts` scores of documents
    and domains. `change` and `becomes` say
    what an import does to the stored scores, of which `n_changed` have another value.
    """

    key: str
    name: str
    is_taken: bool
    direction: Direction
    is_human: bool
    n_outputs: int
    n_systems: int
    n_parts: int
    n_missing: int
    coverage: dict[str, int]
    change: str | None = None
    becomes: Message | None = None
    n_changed: int = 0

    @property
    def is_lower(self) -> bool | None:
        """Whether lower is better; None if that has to be stated."""
        return self.direction.is_lower

    @property
    def uncovered(self) -> list[str]:
        """The systems without a scored output."""
        return [name for name, n in self.coverage.items() if not n]


@dataclass(frozen=True, kw_only=True)
class Look:
    """What a page shows of files: their content, and every problem.

    `first` are the first scores as they will be stored, by `LABELS`; `fingerprint` is what would be
    stored, as a text to compare.
    """

    choices: Choices
    reading: Reading
    report: Report
    metrics: list[Found] = field(default_factory=list)
    n_outputs: int = 0
    first: Sequence[Sequence[str]] = ()
    fingerprint: str = ""


@dataclass(frozen=True, kw_only=True)
class Checked(Look):
    """The content of the files, with what is to be stored."""

    test_set: TestSet
    drafts: list[Draft] = field(default_factory=list)


def check(
    test_set: TestSet, files: Sequence[InputFile], choices: Choices, user: Any = None
) -> Checked:
    """Read and check files without storing anything. Commands have no user and are not refused."""
    if user is not None and not may_change_test_set(user, test_set):
        report = Report()
        report.error(test_set_refusal(test_set))
        return Checked(test_set=test_set, choices=choices, reading=Reading(), report=report)
    names = names_of(test_set)

    def once(report: Report) -> Checked:
        return _check(test_set, files, choices, names, report)

    checked, report = read_skipping(choices.skip, once)
    report.gather()
    return checked


def _check(
    test_set: TestSet, files: Sequence[InputFile], choices: Choices, names: Names, report: Report
) -> Checked:
    collector = Collector(names, report, choices.lines)
    reading = read(files, test_set, choices, collector)
    collector.report_infinite()
    collector.report_file_names()
    _check_chosen(choices, collector, report)
    directions = _directions(test_set, collector, choices)
    taken = _taken(collector, choices, report)
    drafts = _drafts(taken, choices, directions, report)
    if not drafts and not report.errors:
        report.error(NO_SCORES)
    plans = dict(zip(taken, plan(test_set, drafts, names), strict=True)) if _fit(report) else {}
    metrics = [
        _found(key, each, choices, names, plans.get(key), directions[key], key in taken)
        for key, each in collector.metrics.items()
    ]
    _warn(metrics, report)
    first = list(islice(_scores(drafts, names), FIRST))
    return Checked(
        test_set=test_set,
        choices=choices,
        reading=reading,
        report=report,
        metrics=metrics,
        drafts=drafts,
        n_outputs=len(names.has),
        first=first,
        fingerprint=fingerprint(list(plans.values())),
    )


LABELS = (
    message("scores.label-metric", "Metric"),
    message("scores.label-system", "System"),
    message("scores.label-segment", "Segment"),
    message("scores.label-score", "Score"),
)


def _scores(drafts: Iterable[Draft], names: Names) -> Iterator[list[str]]:
    for draft in drafts:
        for (system, unit), score in draft.held.cells():
            key = names.keys[unit] if isinstance(unit, int) else unit.name if unit else ""
            yield [draft.name, names.labels[system], key, f"{score:g}"]


def _fit(report: Report) -> bool:
    return not report.errors


def _directions(test_set: TestSet, collector: Collector, choices: Choices) -> dict[str, Direction]:
    """Return the direction of every metric: stated, else as shown until now, else inferred."""
    known, shown = naming.Known(), shown_imports(test_set)
    found = {}
    for key, each in collector.metrics.items():
        now = [row for row in known.siblings(choices.name_of(key)) if row.name in shown]
        inferred = _inferred(key, each, choices)
        if key in choices.lower | choices.higher:
            stated = stated_direction(is_lower=key in choices.lower)
            # A page states what it proposed: then the reason is still that of the proposal.
            found[key] = inferred if inferred.is_lower == stated.is_lower else stated
        elif len(now) == 1:
            found[key] = Direction(not now[0].info.higher_is_better, STORED)
        else:
            found[key] = inferred
    return found


def _inferred(key: str, metric: Collected, choices: Choices) -> Direction:
    """Infer a direction from the metric's name in the files, or from its new name."""
    held = metric.held
    values = [score for row in held.outputs.values() for score in row.values()]
    values += held.systems.values()
    values += [score for row in held.parts.values() for score in row.values()]
    found = infer_direction(key, values, is_human=is_human(key))
    return infer_direction(choices.name_of(key), values) if found == USUAL else found


def _check_chosen(choices: Choices, collector: Collector, report: Report) -> None:
    if both := sorted(choices.lower & choices.higher):
        report.error(
            message(
                "scores.both-directions",
                "Both lower and higher are stated to be better for {names}.",
                names=truncated(both),
            )
        )
    named = {*(choices.metrics or ()), *choices.names, *choices.lower, *choices.higher}
    strange = sorted(named - collector.metrics.keys())
    if strange and not (report.errors and not collector.metrics):
        report.error(
            message(
                "scores.unknown-metric",
                "The files have no metric {names}. They have {n} metrics ({known}).",
                names=truncated(strange),
                n=len(collector.metrics),
                known=truncated(list(collector.metrics), 20),
            )
        )


def _taken(collector: Collector, choices: Choices, report: Report) -> dict[str, Collected]:
    """Return the metrics to import; those without scores only if a person names them, or alone."""
    taken = {key: each for key, each in collector.metrics.items() if choices.takes(key)}
    empty = [key for key, each in taken.items() if not each.held.scored]
    if choices.metrics is not None or len(empty) == len(taken):
        return taken
    report.warn_of(
        len(empty),
        "scores.metrics-skipped",
        "{metrics} has no scores and was skipped.",
        "{metrics} have no scores and were skipped.",
        metrics=truncated(empty),
    )
    return {key: each for key, each in taken.items() if key not in empty}


def _drafts(
    taken: Mapping[str, Collected],
    choices: Choices,
    directions: Mapping[str, Direction],
    report: Report,
) -> list[Draft]:
    drafts: list[Draft] = []
    for key, each in taken.items():
        try:
            name = naming.check_name(choices.name_of(key))
        except ValidationError as error:
            for each_message in messages_of(error):
                report.error(each_message, Place(field=key))
            continue
        if any(naming.same(name, other.name) for other in drafts):
            report.error(
                message(
                    "scores.name-twice",
                    "Two metrics are called “{name}”. Give one of them another name.",
                    name=name,
                )
            )
        held = each.held
        if not held.scored:
            report.error(
                message(
                    "scores.metric-without-scores",
                    "“{metric}” has no scores. Exclude it from the import.",
                    metric=key,
                )
            )
        direction = directions[key]
        say_direction(key, direction, report)
        drafts.append(Draft(name, held, not direction.is_lower, note=direction_message(direction)))
    return drafts


def _found(
    key: str,
    each: Collected,
    choices: Choices,
    names: Names,
    planned: Plan | None,
    direction: Direction,
    is_taken: bool,
) -> Found:
    held = each.held
    return Found(
        key=key,
        name=choices.name_of(key),
        is_taken=is_taken,
        direction=direction,
        is_human=is_human(key),
        n_outputs=held.n_outputs,
        n_systems=len(held.systems),
        n_parts=held.n_parts,
        n_missing=each.n_missing,
        coverage={label: len(held.outputs.get(pk, {})) for pk, label in names.labels.items()},
        change=planned.change.value if planned else None,
        becomes=planned.message if planned else None,
        n_changed=planned.n_changed if planned else 0,
    )


def _warn(metrics: Sequence[Found], report: Report) -> None:
    """Warn of what a person should check before confirming."""
    taken = [each for each in metrics if each.is_taken]
    known = naming.Known()
    for each in taken:
        if each.is_lower in [row.info.higher_is_better for row in known.siblings(each.name)]:
            report.warn(_other_direction(each))
    for change in dict.fromkeys(e.becomes for e in taken if e.becomes and e.n_changed):
        named = [e.name for e in taken if e.becomes == change]
        report.warn(
            message(
                "scores.metrics-change",
                "{metrics}: {change}",
                metrics=truncated(named),
                change=change,
            )
        )
    if human := [each.key for each in metrics if each.is_human and not each.is_taken]:
        report.note(
            message(
                "scores.human-skipped",
                "Skipped columns that are named like human scores: {names}.",
                names=truncated(human, 10),
            )
        )
    if partly := [e.name for e in taken if e.n_outputs and e.uncovered]:
        report.warn(
            message(
                "scores.systems-without-scores",
                "Some systems have no scored outputs: {metrics}. Tables that compare metrics use "
                "only outputs that all of them scored.",
                metrics=truncated(partly),
            )
        )


def _other_direction(metric: Found) -> Message:
    if metric.is_lower:
        return message(
            "scores.was-higher",
            "“{metric}” was imported before as better when higher.",
            metric=metric.name,
        )
    return message(
        "scores.was-lower",
        "“{metric}” was imported before as better when lower.",
        metric=metric.name,
    )


def bring_in(
    checked: Checked, *, user: Any = None, expected: str | None = None, provenance: str = ""
) -> list[Outcome]:
    """Store what was checked, all or nothing.

    Raises ValidationError with every error, and OutdatedError if the changes are no longer the
    `expected` ones that were previewed.
    """
    if checked.report.errors:
        raise ValidationError([each.sentence for each in checked.report.errors])
    files = checked.reading.files
    names = truncated([file["name"] for file in files])
    origin = provenance or message("scores.origin", "Imported from {files}.", files=names)
    for each in skipped(checked.report):
        origin = with_note(origin, each)
    return store_all(
        checked.test_set,
        checked.drafts,
        provenance=origin,
        files=files,
        user=user,
        expected=expected,
    )
