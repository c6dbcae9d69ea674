"""A study's table: the same measure over its campaigns, and the average."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotation.models import Campaign
from dashboards.correlations import CampaignCorrelations, MeasureRow

STATISTICS = {
    "tau": "Segment level, Kendall τ-b",
    "r_hybrid": "System level, Pearson r over hybrids",
    "r_segment": "Segment level, Pearson r",
    "r_system": "System level, Pearson r over systems",
}


@dataclass(frozen=True)
class StudyRow:
    """A measure: one value per campaign (nan where undefined), and their mean if all are there.

    `best` says which of the values, the average last, are the highest of their column.
    """

    key: str
    label: str
    values: Sequence[float]
    average: float
    best: Sequence[bool] = ()

    @property
    def cells(self) -> list[tuple[float, bool]]:
        """Every value with whether it is the best of its column; the average comes last."""
        return list(zip([*self.values, self.average], self.best, strict=True))


@dataclass(frozen=True)
class StudyTable:
    """One statistic over all campaigns of a study."""

    statistic: str
    title: str
    rows: Sequence[StudyRow]


def study_tables(
    results: Mapping[Campaign, CampaignCorrelations],
) -> list[StudyTable]:
    """Return one table a statistic, with measures in the order of the registry."""
    by_campaign = [{row.key: row for row in result.rows} for result in results.values()]
    labels = {key: row.label for rows in by_campaign for key, row in rows.items()}
    return [
        _table(statistic, title, labels, by_campaign) for statistic, title in STATISTICS.items()
    ]


def _table(
    statistic: str,
    title: str,
    labels: Mapping[str, str],
    by_campaign: Sequence[Mapping[str, MeasureRow]],
) -> StudyTable:
    rows = []
    for key, label in labels.items():
        values = [
            float(getattr(found[key], statistic)) if key in found else float("nan")
            for found in by_campaign
        ]
        # A mean over the campaigns that happen to be defined would compare unlike things.
        average = float(np.mean(values)) if not np.isnan(values).any() else float("nan")
        rows.append(StudyRow(key, label, values, average))
    return StudyTable(statistic, title, _mark_best(rows))


def _mark_best(rows: Sequence[StudyRow]) -> list[StudyRow]:
    if not rows:
        return []
    table = np.array([[*row.values, row.average] for row in rows])
    highest = np.nanmax(np.where(np.isnan(table), -np.inf, table), axis=0)
    return [
        replace(row, best=(values == highest).tolist())
        for row, values in zip(rows, table, strict=True)
    ]
