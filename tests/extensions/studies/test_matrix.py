"""A study's matrix: groups of columns, the order of rows, and published tables as printed."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dashboards.comparisons.document import Comparison, Metric
from dashboards.correlations.document import Correlations
from dashboards.documents.reasons import CampaignTrust, Verdict
from dashboards.papers.averages import line
from extensions.studies.matrix import Group, Head, group_of, matrix_of, step_of, trend_of
from extensions.studies.published import AVERAGE, beside_of
from metaeval.messages import message
from metaeval.replication.questions.statistics import SEGMENT

TABLES = {"hybrids": "table6_system_pearson", "tau-b": "table7_segment_kendall"}
TRUSTED = CampaignTrust(
    verdict=Verdict.NO_LIMITS, label="", summary="", reasons=(), campaign="", name="",
    n_systems=9, n_segments=90, n_informative=90,
)  # fmt: skip
# By key: value, low, high. The best, an indistinguishable one, a worse one, one at chance.
VALUES = {
    "a": (0.6, 0.5, 0.7),
    "b": (0.55, 0.4, 0.6),
    "c": (0.4, 0.3, 0.5),
    "d": (0.1, -0.1, 0.3),
}
# One-sided p that the row is better: .001 and .02 survive no correction of six tests alike.
P = {"ab": 0.3, "ac": 0.001, "ad": 0.02, "bc": 0.04, "bd": 0.02, "cd": 0.03}


def document(**changed: Any) -> Correlations:
    about = {
        "campaign": "x", "name": "X", "direction": "en-zh", "length_ratio": "0.80", "origin": "",
        "human_scores": message("human.z", "z"), "statistic": "tau-b",
        "statistic_label": message("statistic.tau-b", "Kendall τ-b"), "level": SEGMENT,
        "grouping": "none", "test": "segments", "is_of_draws": False, "n_outputs": 90,
        "n_judged": 90, "seed": 1,
    }  # fmt: skip
    metrics = [
        Metric(key=key, label=key, signature="", origin="", is_turned=False, metric=key,
               value=value, low=low, high=high)
        for key, (value, low, high) in VALUES.items()
    ]  # fmt: skip
    pvalues = [
        [None if i == j else P[i + j] if i < j else 1 - P[j + i] for j in VALUES] for i in VALUES
    ]
    compared = Comparison(**about, metrics=metrics, pvalues=pvalues)
    plain = Correlations(**about, n_hybrids=0, metrics=metrics, comparison=compared, trust=TRUSTED)
    return replace(plain, **changed)


@pytest.mark.parametrize(
    ("correction", "keys"),
    [
        # Holm: c stays worse (6 × .001), d does not (.02 × 5) but it is at chance.
        ("holm", "ab"),
        ("none", "ab"),
        ("bonferroni", "ab"),
    ],
)
def test_the_group_is_what_the_corrected_test_does_not_tell_apart(
    correction: str, keys: str
) -> None:
    found = group_of(document(), correction, "table")
    assert (found.case, found.leader, found.keys) == ("compared", "a", frozenset(keys))
    assert found.bold == found.keys


def test_a_correction_widens_the_group() -> None:
    wide = {key: (value, 0.05, high) for key, (value, _, high) in VALUES.items()}
    metrics = [replace(m, low=wide[m.key][1]) for m in document().metrics]
    compared = document().comparison
    assert compared is not None
    found = document(comparison=replace(compared, metrics=metrics))
    assert group_of(found, "none", "table").keys == {"a", "b"}
    assert group_of(found, "bonferroni", "table").keys == {"a", "b", "d"}


@pytest.mark.parametrize(
    ("changed", "case"),
    [
        ({"n_judged": 0, "metrics": ()}, "unjudged"),
        ({"metrics": ()}, "unscored"),
        ({"comparison": None}, "pending"),
        ({"trust": None}, "pending"),
        ({"trust": replace(TRUSTED, verdict=Verdict.DO_NOT_USE)}, "distrusted"),
    ],
)
def test_nothing_is_in_a_group_that_is_not_borne_out(changed: dict[str, Any], case: str) -> None:
    found = group_of(document(**changed), "holm", "table")
    assert (found.case, found.keys) == (case, frozenset())
    assert found.why


def test_hybrids_and_chance_mark_nothing() -> None:
    compared = document().comparison
    assert compared is not None
    drawn = document(comparison=replace(compared, is_of_draws=True))
    assert group_of(drawn, "holm", "table").case == "refused"
    low = [replace(metric, low=-0.1) for metric in compared.metrics]
    at_chance = document(comparison=replace(compared, metrics=low))
    assert group_of(at_chance, "holm", "table").case == "chance"


def heads() -> list[Head]:
    places = [(pair, length) for pair in ("en-zh", "zh-en") for length in ("80%", "50%")]
    return [
        Head("x", pair, length, f"{pair} {length}", Group("pending")) for pair, length in places
    ]


def test_rows_are_sorted_by_the_average_and_those_without_one_come_last() -> None:
    lines = [
        line("low", "Low", [0.1, 0.1, 0.1, 0.1]),
        line("gap", "Gap", [0.9, None, 0.9, 0.9]),
        line("high", "High", [0.2, 0.4, 0.2, 0.2]),
    ]
    found = matrix_of(heads(), lines, [{}] * 4, None)
    assert [row.key for row in found.rows] == ["high", "low", "gap"]
    assert [row.average for row in found.rows] == [pytest.approx(0.25), pytest.approx(0.1), None]
    assert [pair for pair, _ in found.directions] == ["en-zh", "zh-en"]


def test_shades_rise_with_the_value() -> None:
    assert [step_of(value, -0.5, 0.5) for value in (-0.5, -0.45, 0.0, 0.45, 0.5)] == [0, 0, 5, 9, 9]
    assert step_of(0.3, 0.3, 0.3) == 5


def test_a_trend_needs_the_same_lengths_in_every_direction() -> None:
    lines = [line("a", "A", [0.5, 0.4, 0.5, 0.4]), line("b", "B", [0.5, 0.6, 0.5, 0.4])]
    found = trend_of(heads(), lines)
    assert found is not None
    assert (found.longest, found.shortest) == ("80%", "50%")
    assert (found.n, found.n_falling, found.n_rising) == (2, 1, 0)
    assert trend_of(heads()[:3], [line("a", "A", [0.5, 0.4, 0.5])]) is None
    assert trend_of(heads()[::2], [line("a", "A", [0.5, 0.4])]) is None


@pytest.mark.parametrize(("statistic", "table"), TABLES.items())
def test_published_columns_are_as_printed(data_dir: Path, statistic: str, table: str) -> None:
    """Values, averages, order and bold of tables 6 and 7 of the study."""
    specs = json.loads((data_dir.parent / "specs" / "study-tables.json").read_text("utf-8"))
    printed = [row for row in specs[table][2:] if row[1]]
    found = matrix_of([], [], [], beside_of("cheng2023", statistic, ()))
    assert found.published is not None
    assert len(found.published.heads) == 5
    assert [re.sub("<.*?>", "", row[0]) for row in printed] == [row.label for row in found.rows]
    for row, cells in zip(found.rows, printed, strict=True):
        shown = [f"<b>{c.value:.4f}</b>" if c.is_best else f"{c.value:.4f}" for c in row.published]
        assert shown == cells[1:]


def test_published_columns_are_those_of_the_directions_shown() -> None:
    found = beside_of("cheng2023", "tau-b", {"en-zh"})
    assert found is not None
    assert found.heads == ["En-Zh 80%", "En-Zh 50%", AVERAGE]
    # Half of the table has another average than the whole.
    assert found.values["bleurt-20"] == [0.4611, 0.4348, pytest.approx((0.4611 + 0.4348) / 2)]
    assert beside_of("cheng2023", "spearman", ()) is None
    assert beside_of("cheng2023", "tau-b", {"de-en"}) is None
