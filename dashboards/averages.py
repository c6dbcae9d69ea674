"""A study's table: the same measure over its campaigns, and the average."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
    """A measure: one value per campaign (nan where undefined), and their mean if all are there."""

    key: str
    label: str
    values: Sequence[float]
    average: float


@dataclass(frozen=True)
class StudyTable:
    """One statistic over all campaigns of a study; `best` are the columns' maxima."""

    statistic: str
    title: str
    rows: Sequence[StudyRow]
    best: Sequence[float]


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
    return StudyTable(statistic, title, rows, _best(rows, len(by_campaign)))


def _best(rows: Sequence[StudyRow], n: int) -> list[float]:
    columns = [[row.values[index] for row in rows] for index in range(n)]
    columns.append([row.average for row in rows])
    return [max((v for v in column if v == v), default=float("nan")) for column in columns]
