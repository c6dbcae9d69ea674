"""Bold follows one rule in campaigns and studies, on pages and in files."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from django.http import QueryDict
from scipy.stats import norm

from dashboards.comparisons import selection
from dashboards.correlations.document import Correlations, Row
from dashboards.correlations.page import choose, tables
from dashboards.trust.marks import marking
from extensions.studies.metrics import choose_of_study, combine, study_tables
from tests.dashboards import typed
from tests.world import World

ALPHA = 0.05


def document(values: Sequence[float], p: np.ndarray, low: float = 0.1) -> Correlations:
    """A campaign of metrics with these values, and p that the one of the row is better."""
    metrics = [
        typed.metric(f"m{place:02}", value, low=min(low, value), high=1.0)
        for place, value in enumerate(values)
    ]
    listed = [[None if i == j else float(p[i, j]) for j in range(len(p))] for i in range(len(p))]
    matrices = dict.fromkeys(selection.MATRICES, listed)
    compared = typed.comparison(metrics=metrics, test_label="t", **matrices)
    rows = [
        Row(
            key=m.key, label=m.label, signature="", origin="", is_turned=False, metric=m.metric,
            n=9, n_missing=0, tau=None, r_segment=None, n_systems=9, r_system=None, r_hybrid=None,
            r_limit=None, campaign="c", scores="z", value=m.value, low=m.low, high=m.high,
        )
        for m in metrics
    ]  # fmt: skip
    same = {name: getattr(compared, name) for name in typed.ASKED}
    return Correlations(
        **same | {"trust": typed.trusted()},
        n_hybrids=0,
        metrics=metrics,
        rows=rows,
        comparison=compared,
    )


def holm(p: np.ndarray) -> np.ndarray:
    """Corrected p of all pairs, by the definition: each pair once, twice the smaller p."""
    pairs = list(combinations(range(len(p)), 2))
    both = [2 * min(p[i, j], p[j, i]) for i, j in pairs]
    order = np.argsort(both, kind="stable")
    found, reached = np.ones_like(p), 0.0
    for place, at in enumerate(order):
        reached = max(reached, (len(pairs) - place) * both[at])
        i, j = pairs[at]
        i, j = (i, j) if p[i, j] <= p[j, i] else (j, i)
        found[i, j] = min(1.0, reached)
    return found


def wanted(values: Sequence[float], p: np.ndarray) -> set[str]:
    """The rule by brute force."""
    corrected, best = holm(p), int(np.argmax(values))
    alike = {place for place in range(len(values)) if corrected[best, place] > ALPHA}
    if not (corrected <= ALPHA).any():
        return set()
    bold = {best} if 2 * len(alike) > len(values) else alike
    return {f"m{place:02}" for place in bold}


def drawn(seed: int, size: int, width: float) -> tuple[list[float], np.ndarray]:
    """Values of metrics and p of their differences, whose errors differ from pair to pair."""
    rng = np.random.default_rng(seed)
    values = np.sort(rng.uniform(0.2, 0.7, size))[::-1]
    errors = rng.uniform(0.3, 1.7, (size, size)) * width
    errors = (errors + errors.T) / 2
    return values.tolist(), norm.sf(np.subtract.outer(values, values) / errors)


def bold_of_all(world: World, values: Sequence[float], p: np.ndarray) -> list[set[str]]:
    """What is bold on the campaign's page, in its LaTeX, in the study, its matrix and its LaTeX."""
    own = document(values, p)
    page = choose(own, QueryDict())
    study = choose_of_study(combine([world.campaign], [own]), QueryDict())
    assert study.matrix is not None
    return [
        {row.key for row in page.rows if row.is_best},
        {row[0].text.lower() for table in tables(page) for row in table.body if row[2].is_bold},
        {row.key for row in study.rows if row.is_best},
        {row.key for row in study.matrix.rows if row.cells[0].is_best},
        {
            row[0].text.lower()
            for row in study_tables(study)[1].body
            if len(row) > 1 and row[1].is_bold
        },
    ]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("width", [0.01, 0.05, 0.15])
def test_one_rule_everywhere(world: World, seed: int, width: float) -> None:
    values, p = drawn(seed, 7, width)
    found = bold_of_all(world, values, p)
    assert found == [wanted(values, p)] * 5


def test_a_metric_of_rank_2_that_the_best_does_not_beat_is_bold_in_both(world: World) -> None:
    """Holm p of .053 against the best, while another metric of rank 1 beats it."""
    values = [0.60, 0.58, 0.50, 0.20, 0.18]
    z = np.array(
        [[0, 0.2, 2.373, 9, 9], [0, 0, 4, 9, 9], [0, 0, 0, 9, 9], [0, 0, 0, 0, 0.2], [0] * 5]
    )
    p = norm.sf(z - z.T)
    assert 0.05 < holm(p)[0, 2] < 0.06
    assert wanted(values, p) == {"m00"}
    page = choose(document(values, p), QueryDict())
    assert {row.key: row.rank for row in page.rows}["m02"] == 2
    # Three of five are alike, more than half, so the best alone is bold; of seven all three are.
    assert bold_of_all(world, values, p) == [{"m00"}] * 5
    more = np.pad(z, ((0, 2), (0, 2)))
    more[:5, 5:] = 9
    q = norm.sf(more - more.T)
    assert bold_of_all(world, [*values, 0.1, 0.09], q) == [{"m00", "m01", "m02"}] * 5


def test_bold_on_most_rows_is_bold_on_the_best_and_says_why(world: World) -> None:
    """16 of 22 metrics cannot be distinguished from the best."""
    values = [0.6 - place / 1000 for place in range(16)] + [
        0.2 - place / 1000 for place in range(6)
    ]
    p = np.full((22, 22), 0.5)
    p[:16, 16:], p[16:, :16] = 1e-9, 1 - 1e-9
    assert bold_of_all(world, values, p) == [{"m00"}] * 5
    page = choose(document(values, p), QueryDict())
    (note,) = page.marks
    assert note.code == "marks.bold-best"
    assert (note.parameters["n"], note.parameters["total"]) == (16, 22)
    assert note in tables(page)[0].caption
    study = choose_of_study(combine([world.campaign], [document(values, p)]), QueryDict())
    caption = study_tables(study)[1].caption
    assert study.bold in caption
    assert "of 16" in study_tables(study)[1].heading
    # One campaign: after the metric and its value all columns are averages.
    averages = [c for each in study_tables(study)[1:-1] for row in each.body for c in row[2:]]
    assert averages
    assert not any(cell.is_bold for cell in averages)


def test_without_a_correction_the_sentence_says_so() -> None:
    values, p = drawn(1, 7, 0.05)
    own = replace(document(values, p), trust=typed.trusted())
    assert own.comparison is not None
    found = marking(own.trust, own.comparison, "none", "table")
    note = found.notes[0]
    assert note.parameters["correction"].code == "marks.uncorrected"
    assert (note.parameters["n"], note.parameters["total"]) == (len(found.group), 7)
