"""Count how often each option of a choice is chosen for a system, and compute agreement."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.models import Campaign, Judgment, Output
from annotation.protocols.base import Choice
from annotation.quality.columns import JudgmentColumns
from metaeval.correlation.intervals.independent import wilson_interval
from metaeval.judgments.agreement import krippendorff_alpha

Chosen = Sequence[tuple[int, int, str]]


@dataclass(frozen=True)
class ChosenOption:
    """How often an option was chosen, and its share with a 95% Wilson interval."""

    option: str
    n: int
    share: float
    low: float
    high: float


@dataclass(frozen=True)
class ChosenBySystem:
    """The options chosen in `n` judgments of a system."""

    system: str
    n: int
    options: Sequence[ChosenOption]


@dataclass(frozen=True)
class ChoiceTable:
    """One choice: its systems, and Krippendorff's nominal alpha; None where it is undefined.

    `n_units` counts the outputs with two or more answers.
    """

    name: str
    options: Sequence[str]
    systems: Sequence[ChosenBySystem]
    alpha: float | None
    n_units: int


def choices_of(campaign: Campaign, columns: JudgmentColumns) -> list[ChoiceTable]:
    """Return a table for each choice of the campaign, from first ratings of outputs.

    Makes one query for the answers and one for the systems.
    """
    asked = campaign.judging.choices
    own = columns.select((columns.output >= 0) & columns.is_target)
    if not asked or not len(own):
        return []
    asked_of = zip(own.annotator.tolist(), own.item.tolist(), strict=True)
    wanted = dict(zip(asked_of, own.output.tolist(), strict=True))
    stored = Judgment.objects.filter(is_current=True, assignment__annotator__campaign=campaign)
    rows = [
        (annotator, wanted[annotator, item], given)
        for annotator, item, given in stored.values_list(
            "assignment__annotator", "assignment__item", "choices"
        )
        if (annotator, item) in wanted
    ]
    outputs = Output.objects.filter(system__in=campaign.systems.all())
    names = dict(outputs.values_list("pk", "system__name"))
    return [
        _table(
            choice,
            [(who, of, own[choice.key]) for who, of, own in rows if choice.key in own],
            names,
        )
        for choice in asked
    ]


def _table(choice: Choice, chosen: Chosen, names: dict[int, str]) -> ChoiceTable:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for _, output, option in chosen:
        counts[names[output]][option] += 1
    alpha, n_units = _agreement(choice, chosen)
    systems = [_of_system(choice, name, counts[name]) for name in sorted(counts)]
    return ChoiceTable(choice.key, list(choice.options), systems, alpha, n_units)


def _of_system(choice: Choice, name: str, counts: Counter[str]) -> ChosenBySystem:
    total = counts.total()
    options = []
    for option in choice.options:
        n = counts[option]
        low, high = wilson_interval(n / total, total)
        options.append(ChosenOption(option, n, n / total, float(low), float(high)))
    return ChosenBySystem(name, total, options)


def _agreement(choice: Choice, chosen: Chosen) -> tuple[float | None, int]:
    """Compute nominal alpha over outputs; of one annotator's answers the last one counts."""
    people = {who: n for n, who in enumerate(dict.fromkeys(who for who, _, _ in chosen))}
    outputs = {output: n for n, output in enumerate(dict.fromkeys(each for _, each, _ in chosen))}
    table = np.full((len(people), len(outputs)), np.nan)
    for who, output, option in chosen:
        table[people[who], outputs[output]] = list(choice.options).index(option)
    if not ((~np.isnan(table)).sum(axis=0) > 1).any():
        return None, 0
    found = krippendorff_alpha(table, level="nominal")
    return (found.statistic if found.statistic == found.statistic else None), found.n_items
