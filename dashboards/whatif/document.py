"""Compute how results change when annotators, systems, documents or control items are excluded.

An annotator's z-scores depend on that annotator's judgments only, so excluding an annotator removes
their judgments and changes no others. Without control items, all z-scores are computed again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from annotation.filters import OUT, Filters, Z
from annotation.filters.chosen import CONTROLS, read_judgments
from annotation.models import Campaign
from annotation.quality import Verdict, quality_report, standardise
from dashboards.comparisons.selection import leading_keys
from dashboards.correlations.agreement import NO_HUMAN_SCORES, NO_SCORES
from dashboards.documents.head import CampaignDocument, head
from dashboards.documents.reasons import Number
from dashboards.panel.human import Floats, HumanScores, grid_of, human_scores, places_of
from dashboards.panel.panel import Panel, compared_on, read_panel
from metaeval.correlation.measure import FEWEST_SYSTEMS
from metaeval.messages import Message, message
from metaeval.scores.oriented import OrientedScores
from metaeval.sensitivity import LEVELS, Movement, level_correlations, movement, variant_tables
from metrics.grid import read_grid
from metrics.scores import MeasureScores

VERSION = 8
# The most annotators that are excluded one by one, those with the most judgments first.
MANY_PEOPLE = 150
# With more documents than this, none is excluded: the page could not show them.
MANY_DOCUMENTS = 60
ANNOTATOR, FAILING, CONTROL, SYSTEM, TEXTS = (
    "annotator",
    "failing annotators",
    "control items",
    "system",
    "document",
)
KINDS = {
    ANNOTATOR: message("whatif.annotator", "annotator"),
    FAILING: message("whatif.failing", "annotators who fail"),
    CONTROL: message("whatif.control-items", "control items"),
    SYSTEM: message("whatif.system", "system"),
    TEXTS: message("whatif.document", "document"),
}
ALL = "all"
EVERY = message("whatif.all", "all")
FEW_SYSTEMS = message(
    "whatif.few-systems",
    "With fewer than three systems left, there is no correlation over systems.",
)
NO_JUDGMENTS = message(
    "whatif.no-judgments",
    "No annotator can be excluded, because these human scores come without judgments.",
)
NO_EFFECT = message(
    "whatif.control-items-no-effect",
    "Excluding control items changes nothing here: they are not part of any output’s score or "
    "z-score.",
)
NO_FAILURES = message(
    "whatif.no-failures", "No annotator is excluded for failing the control items."
)


@dataclass(frozen=True, eq=False)
class Scenario:
    """An excluded part of the data, and the human scores without it, (systems, segments).

    Where documents are excluded, scores of whole systems are not known.
    """

    kind: str
    name: str
    human: Floats
    published: Floats | None
    is_of_documents: bool = False


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """An excluded part of the data, and the number of outputs of correlations without it.

    `left_out_kind` is a key of `KINDS`, `left_out` a name, or `ALL` control items.
    """

    left_out_kind: str
    left_out: str
    n_outputs: int

    @property
    def kind(self) -> Message:
        """The kind of the excluded part."""
        return KINDS[self.left_out_kind]

    @property
    def excluded(self) -> Message | str:
        """The name of the excluded part."""
        return EVERY if self.left_out_kind == CONTROL else self.left_out

    @property
    def title(self) -> Message:
        """The kind and the name of the excluded part: `system strong`."""
        return message("whatif.excluded-part", "{kind} {name}", kind=self.kind, name=self.excluded)


@dataclass(frozen=True)
class Moved:
    """The change of one statistic: the largest `change`, of the measure `of`, and all `changes`.

    `n_ranks` measures change their rank, and `best` is the first one afterwards.
    """

    change: Number
    of: str
    n_ranks: int | None
    best: str
    changes: Sequence[Number]


@dataclass(frozen=True, kw_only=True)
class Movements(LeftOut):
    """The changes of all measures, by statistic (`metaeval.sensitivity.LEVELS`)."""

    tau: Moved
    r_segment: Moved
    r_system: Moved

    def by(self, statistic: str) -> Moved:
        """Return the change of one statistic."""
        found: Moved = getattr(self, statistic)
        return found


@dataclass(frozen=True, kw_only=True)
class Row(LeftOut):
    """One measure without the excluded part: every statistic and its rank, and their changes."""

    key: str
    label: str
    tau: Number
    tau_change: Number
    tau_rank: Number
    tau_rank_change: Number
    r_segment: Number
    r_segment_change: Number
    r_segment_rank: Number
    r_segment_rank_change: Number
    r_system: Number
    r_system_change: Number
    r_system_rank: Number
    r_system_rank_change: Number


@dataclass(frozen=True)
class Base:
    """One measure on all data of the campaign."""

    key: str
    label: str
    tau: Number
    r_segment: Number
    r_system: Number


@dataclass(frozen=True, kw_only=True)
class WhatIf(CampaignDocument):
    """The document; `of` is the statistic that the reader chose."""

    n_outputs: int
    base: Sequence[Base]
    scenarios: Sequence[Movements]
    rows: Sequence[Row]
    notes: Sequence[Message]
    of: str = "tau"


DOCUMENT = WhatIf


def largest(scenarios: Sequence[Movements], of: str) -> list[Movements]:
    """Return the scenarios that change a correlation, the largest change first."""
    found = [(abs(change), one) for one in scenarios if (change := one.by(of).change) is not None]
    return [one for _, one in sorted(found, key=lambda each: -each[0])]


def compute(campaign: Campaign, filters: Filters) -> WhatIf:
    """Return the change of every correlation; `rows` has one row per scenario and measure."""
    panel = read_panel(campaign, filters)
    panel = panel.only(leading_keys(panel.measures))
    human, measures = panel.human, list(panel.measures.values())
    warnings, notes = list(human.warnings), list[Message]()
    if not human.is_there:
        warnings.append(NO_HUMAN_SCORES)
    elif not measures:
        warnings.append(NO_SCORES)
    warnings += compared_on(panel)
    metrics = panel.scored.compared()
    base = _table(panel.scored.humans, metrics)
    is_there = human.is_there and bool(measures)
    scenarios = _scenarios(campaign, filters, human, notes) if is_there else ()
    everything = [replace(one, human=_on(panel, one.human)) for one in scenarios]
    moved = list(zip(everything, _moved(panel, everything, metrics, base), strict=True))
    if len(human.systems) <= FEWEST_SYSTEMS:
        notes.append(FEW_SYSTEMS)
    return WhatIf(
        **head(campaign, human) | {"unit": ""},
        n_outputs=int((panel.scored.shared & ~np.isnan(human.values)).sum()),
        base=[
            Base(one.key, one.label, *values)
            for one, values in zip(measures, base.tolist(), strict=True)
        ],
        scenarios=[_summary(one, levels, measures) for one, (_, levels) in moved],
        rows=[row for one, found in moved for row in _rows(one, *found, measures)],
        warnings=warnings,
        notes=notes,
    )


Levels = dict[str, Movement]


def _on(panel: Panel, human: Floats) -> Floats:
    """Return the human scores on the outputs where metrics are compared."""
    shared = panel.scored.shared
    # Usually all have all scores; then nothing is copied for each of many scenarios.
    return human if shared.all() else np.where(shared, human, np.nan)


def _table(human: OrientedScores, metrics: list[OrientedScores]) -> Floats:
    """Return a table, (measures, LEVELS)."""
    rows = [level_correlations(human, one) for one in metrics]
    return np.array(rows).reshape(len(metrics), len(LEVELS))


def _moved(
    panel: Panel, everything: list[Scenario], metrics: list[OrientedScores], base: Floats
) -> list[tuple[Floats, Levels]]:
    """Return the table of every scenario, and how its levels differ from `base`.

    Imported scores of whole systems are not used for a part of the documents.
    """
    found: list[Floats | None] = [None] * len(everything)
    for is_part in (False, True):
        places = [at for at, one in enumerate(everything) if one.is_of_documents == is_part]
        known = [one.without_systems() for one in metrics] if is_part else metrics
        others = [OrientedScores(everything[at].human, systems=everything[at].published)
                  for at in places]  # fmt: skip
        tables = variant_tables(_on(panel, panel.human.values), others, known)
        for at, table in zip(places, tables, strict=True):
            found[at] = table
    return [(table, _levels(base, table)) for table in found if table is not None]


def _levels(base: Floats, table: Floats) -> Levels:
    columns = zip(LEVELS, base.T, table.T, strict=True)
    return {name: movement(old, new) for name, old, new in columns}


def _scenarios(
    campaign: Campaign, filters: Filters, human: HumanScores, notes: list[Message]
) -> Iterator[Scenario]:
    yield from _without_people(campaign, filters, human, notes)
    for row, name in enumerate(human.names):
        rest, published = human.values.copy(), human.published_systems
        rest[row] = np.nan
        if published is not None:
            published = np.where(np.arange(len(published)) == row, np.nan, published)
        yield Scenario(SYSTEM, name, rest, published)
    yield from _without_documents(campaign, human, notes)


def _without_people(
    campaign: Campaign, filters: Filters, human: HumanScores, notes: list[Message]
) -> Iterator[Scenario]:
    """Exclude judgments: of each annotator, of those who fail, and of control items."""
    columns, _ = read_judgments(campaign, filters)
    if campaign.has_published_scores or not len(columns):
        notes.append(NO_JUDGMENTS)
        return
    grid = read_grid(human.systems, human.segments)
    places = places_of(grid, columns)
    is_z = filters.of(campaign).scores == Z
    values = standardise(columns, campaign.z_pool).z if is_z else columns.score
    report = quality_report(campaign, columns)
    people = [one for one in report.annotators if one.n]
    if len(people) > MANY_PEOPLE:
        notes.append(
            message(
                "whatif.many-annotators",
                "Of {total} annotators, the {most} with the most judgments are excluded one by "
                "one.",
                total=len(people),
                most=MANY_PEOPLE,
            )
        )
    for one in sorted(people, key=lambda one: (-one.n, one.label))[:MANY_PEOPLE]:
        rest = grid_of(grid, places, np.where(columns.annotator != one.pk, values, np.nan))
        yield Scenario(ANNOTATOR, one.label, rest, None)
    failing = [one for one in people if one.checks.verdict == Verdict.FAILS]
    if len(failing) > 1:
        others = ~np.isin(columns.annotator, [one.pk for one in failing])
        rest = grid_of(grid, places, np.where(others, values, np.nan))
        yield Scenario(FAILING, ", ".join(one.label for one in failing), rest, None)
    elif not failing:
        notes += [*report.tested.messages, NO_FAILURES]
    if is_z and campaign.z_pool == campaign.ZPool.ALL and columns.is_kind(*CONTROLS).any():
        bare = human_scores(campaign, replace(filters, traps=OUT))
        yield Scenario(CONTROL, ALL, bare.values, None)
    elif filters.traps != OUT:
        notes.append(NO_EFFECT)


def _without_documents(
    campaign: Campaign, human: HumanScores, notes: list[Message]
) -> Iterator[Scenario]:
    rows = campaign.test_set.segments.order_by("position").values_list("document", flat=True)
    documents = np.array(list(rows), dtype=object)
    judged = (~np.isnan(human.values)).any(axis=0)
    names = list(dict.fromkeys(documents[judged & (documents != "")].tolist()))
    if len(names) < 2:
        return
    if len(names) > MANY_DOCUMENTS:
        notes.append(
            message(
                "whatif.many-documents",
                "No document is excluded, because {documents} are too many to exclude one by one.",
                documents=len(names),
            )
        )
        return
    # A published system score covers all documents, so it is not known for a part of them.
    published = human.published_systems
    unknown = None if published is None else np.full_like(published, np.nan)
    for name in names:
        rest = np.where(documents[None, :] == name, np.nan, human.values)
        yield Scenario(TEXTS, name, rest, unknown, is_of_documents=True)


def _rows(
    one: Scenario, table: Floats, levels: Levels, measures: list[MeasureScores]
) -> Iterator[Row]:
    for at, measure in enumerate(measures):
        numbers = dict(zip(LEVELS, table[at].tolist(), strict=True))
        for name, found in levels.items():
            for what in ("change", "rank", "rank_change"):
                numbers[f"{name}_{what}"] = float(getattr(found, what)[at])
        yield Row(**_about(one), key=measure.key, label=measure.label, **numbers)


def _summary(one: Scenario, levels: Levels, measures: list[MeasureScores]) -> Movements:
    """Return the largest change, by statistic."""
    labels = [measure.label for measure in measures]
    moved: dict[str, Any] = {
        name: Moved(
            change=None if found.most is None else float(found.change[found.most]),
            of="" if found.most is None else labels[found.most],
            n_ranks=found.n_ranks,
            best="" if found.best is None else labels[found.best],
            changes=found.change.tolist(),
        )
        for name, found in levels.items()
    }
    return Movements(**_about(one), **moved)


def _about(one: Scenario) -> dict[str, Any]:
    n_outputs = int((~np.isnan(one.human)).sum())
    return {"left_out_kind": one.kind, "left_out": one.name, "n_outputs": n_outputs}
