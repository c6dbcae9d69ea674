"""Store imported scores, and determine what an import would change."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from annotation.models import TestSet
from annotation.uploads import OutdatedError
from core.messages import invalid
from core.work.models import Now
from metaeval.messages import Message, message, plural, truncated
from metrics.base import format_signature
from metrics.imported import naming
from metrics.imported.held import (
    DOCUMENT,
    DOMAIN,
    MetricScores,
    Names,
    Part,
    digest,
    names_of,
    read,
    write,
)
from metrics.models import ConfiguredMetric, MetricImport, MetricSignature

Files = Sequence[Mapping[str, str]]
INFINITY = float("inf")


class Change(StrEnum):
    """The effect of an import on the scores of a metric that a test set shows."""

    NEW = "new"
    ADDED = "added"
    SAME = "same"
    REPLACED = "replaced"


NO_SCORES = message("scores.none", "There are no scores to import.")


@dataclass(frozen=True)
class Draft:
    """The scores of one metric to be imported, by the primary keys of the test set.

    `fields` of the signature distinguish versions of the metric; `note` is stored after the
    provenance.
    """

    name: str
    held: MetricScores
    higher_is_better: bool = True
    fields: Mapping[str, str] = field(default_factory=dict)
    note: Message | None = None

    def differs(self, signature: str) -> bool:
        """Return whether a signature has other fields; False for a draft without fields."""
        own = {f"{key}:{value}" for key, value in self.fields.items()}
        return bool(own) and not own <= set(signature.split("|"))


@dataclass(frozen=True)
class Plan:
    """The effect of an import on one metric; `held` replaces `shown`.

    `n_added` scores are new, `n_same` are stored already, and `n_changed` have another stored
    value. A changed score makes the import another version of the metric: its scores are then shown
    without the earlier ones, because a mean over two versions describes neither. `n_absent` stored
    scores are not in the import.
    """

    draft: Draft
    change: Change
    held: MetricScores
    shown: MetricImport | None
    n_added: int
    n_same: int
    n_changed: int
    n_absent: int
    digest: str

    @property
    def message(self) -> Message:
        """The effect of importing, as a message."""
        if self.change is Change.NEW:
            return message("scores.new", "New.")
        if self.change is Change.SAME:
            return message("scores.same", "Already stored; nothing changes.")
        if self.change is Change.ADDED:
            return plural(
                "scores.added",
                "{n} score is added to the stored ones.",
                "{n} scores are added to the stored ones.",
                n=self.n_added,
            )
        if self.shown is not None and self.draft.differs(self.shown.signature.signature):
            return message(
                "scores.spans-differ",
                "The error spans differ from the stored ones. These scores replace the stored "
                "scores, which remain under their signature. Stored scores that are not in the "
                "file: {absent}.",
                absent=self.n_absent,
            )
        if not self.n_changed:
            return message(
                "scores.direction-differs",
                "The stored scores have the other direction. These scores replace them; they "
                "remain under their signature. Stored scores that are not in the file: {absent}.",
                absent=self.n_absent,
            )
        return message(
            "scores.differ",
            "{n} of {stored} stored scores differ. These scores replace the stored ones, which "
            "remain under their signature. Stored scores that are not in the file: {absent}.",
            n=self.n_changed,
            stored=self.n_changed + self.n_same + self.n_absent,
            absent=self.n_absent,
        )


@dataclass(frozen=True)
class Outcome:
    """One metric after an import; `row` is None where nothing changed."""

    plan: Plan
    metric: ConfiguredMetric
    signature: MetricSignature
    row: MetricImport | None = field(default=None)


def plan(
    test_set: TestSet, drafts: Sequence[Draft], names: Names, known: naming.Known | None = None
) -> list[Plan]:
    """Determine what an import would change; nothing is stored."""
    current, metrics = shown_imports(test_set), known or naming.Known()
    return [_plan(draft, current, names, metrics) for draft in drafts]


def fingerprint(plans: Sequence[Plan]) -> str:
    """Return a hash of what would be stored, which a form can send back."""
    lines = (f"{p.draft.name}\t{p.draft.higher_is_better}\t{p.change}\t{p.digest}" for p in plans)
    return sha256("\n".join(lines).encode()).hexdigest()


def shown_imports(test_set: TestSet) -> dict[str, MetricImport]:
    """Return, by metric, the import whose scores a test set shows: the newest not withdrawn."""
    rows = MetricImport.objects.filter(test_set=test_set, withdrawn_at=None)
    return {row.metric: row for row in rows.select_related("signature").order_by("pk")}


def _plan(
    draft: Draft, current: Mapping[str, MetricImport], names: Names, known: naming.Known
) -> Plan:
    metric = known.find(draft.name, higher_is_better=draft.higher_is_better)
    others = [row.name for row in known.siblings(draft.name) if metric is None or row != metric]
    shown = current.get(metric.name) if metric else None
    turned = next((current[name] for name in others if name in current), None)
    before = turned or shown
    there = dict(read(before.signature).cells()) if before else {}
    stored = there if before is shown else {}
    cells = dict(draft.held.cells())
    n_same = sum(stored.get(cell) == score for cell, score in cells.items())
    n_changed = sum(cell in stored for cell in cells) - n_same
    n_added = len(cells) - n_same - n_changed
    change = Change.NEW
    is_other = shown is not None and draft.differs(shown.signature.signature)
    if turned is not None or n_changed or is_other:
        change = Change.REPLACED
    elif shown:
        change = Change.ADDED if n_added else Change.SAME
    held = draft.held
    if shown and change in (Change.ADDED, Change.SAME):
        held = read(shown.signature).with_added(draft.held)
    n_absent, hashed = len(there.keys() - cells.keys()), digest(held, names)
    return Plan(draft, change, held, before, n_added, n_same, n_changed, n_absent, hashed)


def store_all(
    test_set: TestSet,
    drafts: Sequence[Draft],
    *,
    provenance: Message | str = "",
    files: Files = (),
    user: Any = None,
    expected: str | None = None,
) -> list[Outcome]:
    """Store the scores of some metrics, all or nothing. Repeating changes nothing.

    New scores of a metric are added to the stored ones; if a score has another stored value, the
    import replaces the stored scores. In both cases the metric gets a new signature, and the scores
    under the old one remain. Raises ValidationError if another import came between, and
    OutdatedError if the changes are not the `expected` ones.
    """
    owner = user if user is not None and user.is_authenticated else None
    about = {"provenance": provenance, "files": [dict(file) for file in files], "created_by": owner}
    try:
        with transaction.atomic():
            # Imports into one test set wait for each other.
            TestSet.objects.select_for_update().get(pk=test_set.pk)
            known = naming.Known()
            plans = plan(test_set, drafts, names_of(test_set), known)
            if expected is not None and fingerprint(plans) != expected:
                raise OutdatedError
            return [_store(test_set, each, known, about) for each in plans]
    except IntegrityError as error:
        raise invalid(
            "scores.concurrent-import",
            "Another import stored a metric of this name at the same time. Try again.",
        ) from error


def _store(
    test_set: TestSet, found: Plan, known: naming.Known, about: Mapping[str, Any]
) -> Outcome:
    draft, user = found.draft, about["created_by"]
    metric = known.find_or_add(draft.name, higher_is_better=draft.higher_is_better, user=user)
    fields = {"origin": "imported", "test_set": test_set.slug, "scores": found.digest}
    fields |= draft.fields
    signature, _ = MetricSignature.objects.get_or_create(
        signature=format_signature(metric.name, fields),
        defaults={"metric": metric.name, "measures": [metric.name]},
    )
    if found.change is Change.SAME:
        return Outcome(found, metric, signature)
    write(signature, found.held)
    if found.shown and found.shown.metric != metric.name:
        withdraw(test_set, found.shown.metric, user=user)
    row = MetricImport.objects.create(
        test_set=test_set,
        metric=metric.name,
        signature=signature,
        n_outputs=found.held.n_outputs,
        n_systems=len(found.held.systems),
        n_parts=found.held.n_parts,
        **{**about, "provenance": with_note(about["provenance"], draft.note)},
    )
    return Outcome(found, metric, signature, row)


def with_note(text: Message | str, note: Message | None) -> Message | str:
    """Return a text with a note after it."""
    if not text or note is None:
        return note or text
    return message("scores.origin-and-note", "{text} {note}", text=text, note=note)


def summary(outcomes: Sequence[Outcome]) -> Message:
    """Return what an import stored."""
    stored = [each for each in outcomes if each.row is not None]
    if not stored:
        return message(
            "scores.nothing-changed", "Nothing changed: all of these scores are already stored."
        )
    n_outputs = sum(each.plan.draft.held.n_outputs for each in stored)
    n_systems = sum(len(each.plan.draft.held.systems) for each in stored)
    return plural(
        "scores.imported",
        "Imported {n} metric: {outputs} scores of outputs, {systems} of systems.",
        "Imported {n} metrics: {outputs} scores of outputs, {systems} of systems.",
        n=len(stored),
        outputs=n_outputs,
        systems=n_systems,
    )


def withdraw(test_set: TestSet, metric: str, *, user: Any = None) -> int:
    """Hide a metric's imported scores; return how many imports were withdrawn.

    Rows and scores remain. Importing the same scores again shows them again.
    """
    rows = MetricImport.objects.filter(test_set=test_set, metric=metric, withdrawn_at=None)
    owner = user if user is not None and user.is_authenticated else None
    return rows.update(withdrawn_at=Now(), withdrawn_by=owner)


def resolve(
    names: Names,
    segment_scores: Mapping[tuple[str, str], float],
    system_scores: Mapping[str, float],
    part_scores: Mapping[tuple[str, Part], float] | None = None,
) -> MetricScores:
    """Return scores by names as scores by primary keys, without those that are nan.

    Raises ValidationError for systems, segments, outputs, documents and domains that the test set
    does not have, and for infinite scores.
    """
    of_parts = part_scores or {}
    wrong = _unknown(names, segment_scores, [*system_scores, *(name for name, _ in of_parts)])
    wrong += _unknown_parts(names, dict.fromkeys(part for _, part in of_parts))
    every = {**segment_scores, **{(name, ""): score for name, score in system_scores.items()}}
    every |= {(system, part.name): score for (system, part), score in of_parts.items()}
    if infinite := [
        " ".join(key).strip() for key, s in every.items() if s in (INFINITY, -INFINITY)
    ]:
        wrong.append(
            message(
                "scores.infinite-refused",
                "Scores of {names} are infinite.",
                names=truncated(infinite),
            )
        )
    if wrong:
        raise ValidationError(wrong)
    outputs: dict[int, dict[int, float]] = {}
    for (system, segment), score in segment_scores.items():
        if score == score:
            row = outputs.setdefault(names.systems[system], {})
            row[names.segments[segment]] = float(score)
    systems = {names.systems[n]: float(s) for n, s in system_scores.items() if s == s}
    parts: dict[int, dict[Part, float]] = {}
    for (system, part), score in of_parts.items():
        if score == score:
            parts.setdefault(names.systems[system], {})[part] = float(score)
    if not outputs and not systems and not parts:
        raise ValidationError([NO_SCORES])
    return MetricScores(outputs, systems, parts)


def _unknown_parts(names: Names, parts: Iterable[Part]) -> list[Message]:
    strange = [part for part in parts if part.name not in names.parts.get(part.level, ())]
    return [
        no_part(level, truncated(unknown))
        for level in (DOCUMENT, DOMAIN)
        if (unknown := sorted(part.name for part in strange if part.level == level))
    ]


def no_part(level: str, named: Sequence[Any]) -> Message:
    """Return that a test set lacks documents, or domains."""
    if level == DOCUMENT:
        return message(
            "scores.unknown-documents", "The test set has no document {names}.", names=named
        )
    return message("scores.unknown-domains", "The test set has no domain {names}.", names=named)


def _unknown(
    names: Names,
    segment_scores: Mapping[tuple[str, str], float],
    others: Iterable[str],
) -> list[Message]:
    wrong = []
    systems = {name for name, _ in segment_scores} | set(others)
    segments = {key for _, key in segment_scores}
    if strange := sorted(systems - names.systems.keys()):
        wrong.append(
            message(
                "scores.unknown-systems",
                "The test set has no system {systems}.",
                systems=truncated(strange),
            )
        )
    if strange := sorted(segments - names.segments.keys()):
        wrong.append(
            message(
                "scores.unknown-segments",
                "The test set has no segment {segments}.",
                segments=truncated(strange),
            )
        )
    if wrong:
        return wrong
    without = [
        f"{system} {segment}"
        for system, segment in segment_scores
        if (names.systems[system], names.segments[segment]) not in names.has
    ]
    if not without:
        return []
    return [
        message(
            "scores.unknown-outputs",
            "The test set has no output of {outputs}.",
            outputs=truncated(without),
        )
    ]
