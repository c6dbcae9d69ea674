"""What would change? Annotators, systems, documents and control items left out in turn.

An annotator's z-scores rest on that person's judgments alone, so leaving somebody out takes their
judgments away and moves nobody else's; leaving out control items computes all z-scores again.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from annotation.filters import OUT, Filters, Z
from annotation.filters.chosen import CONTROLS, read_judgments
from annotation.models import Campaign, Output
from annotation.quality import JudgmentColumns, Verdict, quality_report, standardise
from dashboards import brief, variants
from dashboards.plain import plain
from dashboards.selectors import Floats, HumanScores, human_scores, output_means

VERSION = 2
# A crowd is left out one by one only as far as these, whoever gave most judgments first.
MANY_PEOPLE = 150
# More documents than this are not left out one by one: the page could not show them.
MANY_DOCUMENTS = 60
ANNOTATOR, FAILING, CONTROL, SYSTEM, DOCUMENT = (
    "annotator",
    "failing annotators",
    "control items",
    "system",
    "document",
)


@dataclass(frozen=True, eq=False)
class Scenario:
    """What is left out, and the human scores without it (systems x segments).

    Where documents are left out, scores of whole systems are not known.
    """

    kind: str
    name: str
    human: Floats
    published: Floats | None
    is_of_documents: bool = False


def compute(campaign: Campaign, filters: Filters) -> dict[str, Any]:
    """Return the movement of every correlation; `rows` has one dict for scenario and measure."""
    human = human_scores(campaign, filters)
    measures = brief.read_measures(campaign, human)
    warnings, notes = list(human.warnings), list[str]()
    if not human.is_there:
        warnings.append("No output of this campaign has a human score yet.")
    elif not measures:
        warnings.append("No metric has scored this campaign's outputs yet.")
    base = _table(human.values, measures, human.published_systems)
    is_there = human.is_there and bool(measures)
    everything = list(_scenarios(campaign, filters, human, notes)) if is_there else []
    tables = _tables(human, everything, measures)
    if len(human.systems) <= brief.FEWEST_SYSTEMS:
        notes.append("With fewer than three systems left there is no correlation over systems.")
    document = {
        "campaign": campaign.slug,
        "human_scores": human.source,
        "n_outputs": human.n,
        "base": [
            {"key": one.key, "label": one.label, **_named(values)}
            for one, values in zip(measures, base, strict=True)
        ],
        "scenarios": [
            _summary(one, table, base, measures)
            for one, table in zip(everything, tables, strict=True)
        ],
        "rows": [
            row
            for one, table in zip(everything, tables, strict=True)
            for row in _rows(one, table, base, measures)
        ],
        "warnings": warnings,
        "notes": notes,
    }
    result: dict[str, Any] = plain(document)
    return result


def _table(human: Floats, measures: list[brief.Brief], published: Floats | None) -> Floats:
    """Return measures x statistics."""
    rows = [brief.correlations(human, one, published) for one in measures]
    return np.array(rows).reshape(len(measures), len(brief.STATISTICS))


def _tables(
    human: HumanScores, everything: list[Scenario], measures: list[brief.Brief]
) -> list[Floats]:
    """The same for every scenario; scores of whole systems are no means of cells."""
    of_systems = [human.published_systems, *(one.systems for one in measures)]
    if any(scores is not None for scores in of_systems):
        return [_without(one, measures) for one in everything]
    return variants.tables(human.values, [one.human for one in everything], measures)


def _without(one: Scenario, measures: list[brief.Brief]) -> Floats:
    known = [each.of_documents() for each in measures] if one.is_of_documents else measures
    return _table(one.human, known, one.published)


def _scenarios(
    campaign: Campaign, filters: Filters, human: HumanScores, notes: list[str]
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
    campaign: Campaign, filters: Filters, human: HumanScores, notes: list[str]
) -> Iterator[Scenario]:
    """Leave out judgments: of each annotator, of those who fail, and of control items."""
    columns, _ = read_judgments(campaign, filters)
    if campaign.published_scores.exists() or not len(columns):
        notes.append("These human scores come without judgments: no annotator can be left out.")
        return
    place = _places(human)
    is_z = filters.of(campaign).scores == Z
    values = standardise(columns, campaign.z_pool).z if is_z else columns.score
    report = quality_report(campaign, columns)
    people = [one for one in report.annotators if one.n]
    if len(people) > MANY_PEOPLE:
        notes.append(
            f"Of {len(people):,} annotators the {MANY_PEOPLE} with the most judgments are left out "
            "one by one."
        )
    for one in sorted(people, key=lambda one: (-one.n, one.label))[:MANY_PEOPLE]:
        rest = _grid(human, place, columns, values, columns.annotator != one.pk)
        yield Scenario(ANNOTATOR, one.label, rest, None)
    failing = [one for one in people if one.checks.verdict == Verdict.FAILS]
    if len(failing) > 1:
        others = ~np.isin(columns.annotator, [one.pk for one in failing])
        rest = _grid(human, place, columns, values, others)
        yield Scenario(FAILING, ", ".join(one.label for one in failing), rest, None)
    elif not failing:
        notes.append(f"{report.tested.sentence} So nobody is left out for failing them.")
    if is_z and campaign.z_pool == campaign.ZPool.ALL and columns.is_kind(*CONTROLS).any():
        bare = human_scores(campaign, replace(filters, traps=OUT))
        yield Scenario(CONTROL, "all", bare.values, None)
    elif filters.traps != OUT:
        notes.append("Control items move nothing here: they enter no output and no z-score.")


def _without_documents(
    campaign: Campaign, human: HumanScores, notes: list[str]
) -> Iterator[Scenario]:
    rows = campaign.test_set.segments.order_by("position").values_list("document", flat=True)
    documents = np.array(list(rows), dtype=object)
    judged = (~np.isnan(human.values)).any(axis=0)
    names = list(dict.fromkeys(documents[judged & (documents != "")].tolist()))
    if len(names) < 2:
        return
    if len(names) > MANY_DOCUMENTS:
        notes.append(f"{len(names)} documents are too many to leave out one by one.")
        return
    # A published system score is of all documents: without one of them it is not known.
    published = human.published_systems
    unknown = None if published is None else np.full_like(published, np.nan)
    for name in names:
        rest = np.where(documents[None, :] == name, np.nan, human.values)
        yield Scenario(DOCUMENT, name, rest, unknown, is_of_documents=True)


def _places(human: HumanScores) -> dict[int, tuple[int, int]]:
    row = {system.pk: index for index, system in enumerate(human.systems)}
    column = {segment: index for index, segment in enumerate(human.segments)}
    outputs = Output.objects.filter(system__in=human.systems).order_by()
    return {
        pk: (row[system], column[segment])
        for pk, system, segment in outputs.values_list("pk", "system_id", "segment_id")
    }


def _grid(
    human: HumanScores,
    place: dict[int, tuple[int, int]],
    columns: JudgmentColumns,
    values: Floats,
    kept: Any,
) -> Floats:
    grid = np.full(human.values.shape, np.nan)
    for output, mean in output_means(columns.select(kept), values[kept]).items():
        if output in place:
            grid[place[output]] = mean
    return grid


def _named(values: Floats) -> dict[str, float]:
    return dict(zip(brief.STATISTICS, values.tolist(), strict=True))


def _rows(
    one: Scenario, table: Floats, base: Floats, measures: list[brief.Brief]
) -> Iterator[dict[str, Any]]:
    old = [brief.ranks(column) for column in base.T]
    new = [brief.ranks(column) for column in table.T]
    for at, measure in enumerate(measures):
        row: dict[str, Any] = {
            "left_out_kind": one.kind,
            "left_out": one.name,
            "n_outputs": int((~np.isnan(one.human)).sum()),
            "key": measure.key,
            "label": measure.label,
        }
        for number, name in enumerate(brief.STATISTICS):
            row[name] = float(table[at, number])
            row[f"{name}_change"] = float(table[at, number] - base[at, number])
            row[f"{name}_rank"] = float(new[number][at])
            # Above 0: it climbs.
            row[f"{name}_rank_change"] = float(old[number][at] - new[number][at])
        yield row


def _summary(
    one: Scenario, table: Floats, base: Floats, measures: list[brief.Brief]
) -> dict[str, Any]:
    """What moved most, by statistic."""
    found: dict[str, Any] = {
        "left_out_kind": one.kind,
        "left_out": one.name,
        "n_outputs": int((~np.isnan(one.human)).sum()),
    }
    labels = [measure.label for measure in measures]
    for number, name in enumerate(brief.STATISTICS):
        change = table[:, number] - base[:, number]
        moved = brief.ranks(table[:, number]) != brief.ranks(base[:, number])
        known = ~np.isnan(change)
        most = int(np.argmax(np.where(known, np.abs(change), -1.0)))
        best = int(np.argmax(np.where(known, table[:, number], -np.inf)))
        found[name] = {
            "change": float(change[most]) if known.any() else None,
            "of": labels[most] if known.any() else "",
            "n_ranks": int((moved & known).sum()) if known.any() else None,
            "best": labels[best] if known.any() else "",
            "changes": change.tolist(),
        }
    return found
