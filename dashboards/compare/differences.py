"""Campaigns and published columns side by side: differences to the first, with intervals."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.models import Campaign
from dashboards.compare.document import QUALITY, interval
from dashboards.documents.plain import plain
from dashboards.published import Published
from metaeval.sensitivity import LEVELS

CORRELATIONS = {
    "tau": LEVELS["tau"],
    "r_hybrid": "System level, Pearson r over hybrids",
    "r_segment": LEVELS["r_segment"],
    "r_system": LEVELS["r_system"],
    # Only published tables have it: campaigns rate outputs, not pairs of them.
    "darr": "Segment level, WMT’s τ over pairs (published)",
}
Estimate = Sequence[Any]
NOTHING: Estimate = (None, None)


@dataclass(frozen=True)
class Column:
    """One side of a comparison. `document` is that of the analysis `compare`, or None."""

    key: str
    label: str
    campaign: Campaign | None = None
    document: Mapping[str, Any] | None = None
    published: Published | None = None

    def estimate(self, section: str, statistic: str, key: str) -> Estimate:
        """Return [value, interval]; NOTHING where this side has no such number."""
        if self.published is not None:
            return [self.published.values.get((statistic, key)), None]
        found: Mapping[str, Any] = (self.document or {}).get(section, {})
        if section == "correlations":
            found = found.get(key, {})
        estimate: Estimate = found.get(key if section == "systems" else statistic, NOTHING)
        return estimate

    def samples(self, section: str, statistic: str, key: str) -> Any:
        """Return the bootstrap samples of a number, None where there are none."""
        found = (self.document or {}).get("samples", {}).get(section, {}).get(key)
        if section == "correlations" and found is not None:
            return found.get(statistic)
        return found

    def labels(self, section: str) -> dict[str, str]:
        """Return keys and labels of the lines of a section."""
        if section == "quality":
            return QUALITY
        if self.published is not None:
            return dict(self.published.measures) if section == "correlations" else {}
        found: Mapping[str, Any] = (self.document or {}).get(section, {})
        if section == "systems":
            return {name: name for name in found}
        return {key: one["label"] for key, one in found.items()}


def rows_of(columns: Sequence[Column]) -> list[dict[str, Any]]:
    """Return a dict for every number: where it stands, its interval, its difference to the first.

    A difference has an interval where both sides have samples: paired where the campaigns share
    their test set, independent otherwise.
    """
    rows = [
        row
        for section, statistic, key, label in _lines(columns)
        for row in _row(columns, section, statistic, key, label)
    ]
    result: list[dict[str, Any]] = plain(rows)
    return result


def _lines(columns: Sequence[Column]) -> Iterator[tuple[str, str, str, str]]:
    """Yield section, statistic, key and label of every line that some column has."""
    for statistic, label in QUALITY.items():
        yield "quality", statistic, "", label
    for section, statistics in (("correlations", [*CORRELATIONS]), ("systems", ["mean"])):
        labels: dict[str, str] = {}
        for column in columns:
            for key, name in column.labels(section).items():
                labels.setdefault(key, name)
        for statistic in statistics:
            for key, label in labels.items():
                yield section, statistic, key, label


def _row(
    columns: Sequence[Column], section: str, statistic: str, key: str, label: str
) -> Iterator[dict[str, Any]]:
    estimates = [column.estimate(section, statistic, key) for column in columns]
    if all(value is None for value, _ in estimates):
        return
    base = columns[0]
    for column, (value, own) in zip(columns, estimates, strict=True):
        low, high = own or (None, None)
        change = _change(base, column, section, statistic, key) if column is not base else {}
        yield {
            "section": section,
            "statistic": statistic,
            "key": key,
            "label": label,
            "column": column.key,
            "value": value,
            "low": low,
            "high": high,
            "difference": None,
            "difference_low": None,
            "difference_high": None,
        } | change


def _change(base: Column, other: Column, section: str, statistic: str, key: str) -> dict[str, Any]:
    (x, _), (y, _) = (side.estimate(section, statistic, key) for side in (base, other))
    if x is None or y is None:
        return {}
    drawn = [side.samples(section, statistic, key) for side in (base, other)]
    found = None
    if None not in drawn:
        first, second = (np.array(each, dtype=np.float64) for each in drawn)
        n = min(len(first), len(second))
        found = interval(second[:n] - first[:n])
    return {
        "difference": y - x,
        "difference_low": found.low if found else None,
        "difference_high": found.high if found else None,
    }
