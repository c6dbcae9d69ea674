"""Documents of preferences: the newest counts, pairs are pooled, files say what pages show."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.db.models import Value
from django.db.models.functions import Concat
from django.test import Client
from django.urls import reverse
from scipy import stats

from annotation.models import TestSet
from dashboards.documents.computing import settled
from metaeval.messages import Message
from metaeval.systems import preference
from tests.world import World, make_test_set
from training.models import PreferenceFile, PreferenceResult, TrainingJob
from training.preferences import documents
from training.preferences.tables import SIDES, histograms


def across() -> documents.Across:
    """The table as somebody sees it who may see every test set."""
    return documents.across("word-by-word", User(is_superuser=True))


def store(test_set: TestSet, differences: Sequence[float], **what: Any) -> PreferenceResult:
    """Store a result as a job does, with d of every segment."""
    job = TrainingJob.objects.create(
        kind="preferences", name="p", status="done", options={"test_set": "x", "seed": 0}
    )
    known = np.array([each for each in differences if not np.isnan(each)])
    found = preference(known, np.zeros_like(known))
    values = {
        name: None if np.isnan(value := getattr(found, name)) else value
        for name in ("statistic", "mean", "median", "ties")
    }
    described = {
        "metric": "ordered", "condition": "word-by-word", "measure": "ordered-f", "label": "Ordered"
    } | what  # fmt: skip
    return PreferenceResult.objects.create(
        job=job,
        test_set=test_set,
        n=found.n,
        low=found.interval.low if found.interval else None,
        high=found.interval.high if found.interval else None,
        signature="ordered|version:1",
        differences=np.asarray(differences, dtype="<f8").tobytes(),
        **values,
        **described,
    )


def test_the_newest_result_counts(world: World) -> None:
    store(world.test_set, [1, 1, 1, 1])
    kept = store(world.test_set, [1, -1, 0, np.nan])
    store(world.test_set, [-1, -1, -1, -1], condition="reorder")
    PreferenceFile.objects.create(
        job=kept.job, condition="word-by-word", name="w.tsv", sha256="ab", packed=b""
    )
    document = documents.of_test_set(world.test_set)
    assert [row.condition for row in document.rows] == ["reorder", "word-by-word"]
    row = document.rows[1]
    assert (row.n, row.left_out, row.w2w, row.ties) == (3, 1, 1 / 3, 1 / 3)
    assert (row.file, row.sha256, row.job) == ("w.tsv", "ab", kept.job_id)
    parts = row.histogram
    assert [sum(parts[name]) for name in ("lower", "equal", "higher")] == [1, 1, 1]
    whole = settled(documents.in_full(world.test_set, document))
    assert whole.rows[1].differences == [1.0, -1.0, 0.0, None]
    assert whole.segments == ["1", "2", "3", "4"]


def test_test_sets_of_a_language_pair_are_pooled(world: World) -> None:
    other = make_test_set("quay")
    other.segments.update(source=Concat(Value("quay: "), "source"))
    third = make_test_set("pier", languages=("de", "en"))
    store(world.test_set, [1, 1, 1, 1])  # an older one
    store(world.test_set, [1, -2, -1, 0])
    store(other, [1, np.nan, 1, -1])
    store(third, [-1, -1, -1, -1])
    store(third, [1, 1, 1, 1], condition="reorder")
    rows = {row.direction: row for row in across().rows}
    pooled = rows[world.test_set.direction]
    assert (pooled.n, pooled.w2w, pooled.test_sets) == (7, 3 / 7, "harbour quay")
    theirs = stats.binomtest(3, 7).proportion_ci(method="wilson")
    assert (pooled.low, pooled.high) == pytest.approx(tuple(theirs), abs=1e-12)
    assert pooled.mean == pytest.approx(-1 / 7)
    assert pooled.ties == pytest.approx(1 / 7)
    assert rows[third.direction].w2w == 0


def test_a_source_in_two_test_sets_is_asked_once(world: World) -> None:
    """As one set whose segments have the sources for documents."""
    first, second = make_test_set("pier", segments=9), make_test_set("mole", segments=8)
    gaps = [1, -1, 1, -1, -1, 1, -1, -1, 1], [1, -1, 1, -1, -1, 1, 1, -1]
    store(first, gaps[0])
    store(second, gaps[1])
    [row] = across().rows
    expected = preference(np.concatenate(gaps), np.zeros(17), documents=[*range(9), *range(8)])
    assert expected.interval is not None
    assert (row.n, row.low, row.high) == (17, *expected.interval[:2])


def test_a_dictionary_that_knows_few_words_defines_nothing(
    world: World, as_researcher: Client
) -> None:
    """Also of results that were stored before that was checked."""
    store(world.test_set, [1, 1, 1, 1], coverage=0.06)
    store(world.test_set, [1, -1, -1, 0], coverage=0.5, measure="b", label="Beta")
    document = documents.of_test_set(world.test_set)
    known, sparse = document.rows
    assert (known.w2w, known.coverage, known.n) == (0.25, 0.5, 4)
    assert (sparse.w2w, sparse.low, sparse.mean, sparse.coverage) == (None, None, None, 0.06)
    assert (sparse.n, sparse.left_out, sparse.histogram) == (0, 4, {})
    assert len(document.warnings) == 1
    address = reverse("preferences", args=[world.test_set.slug])
    page = as_researcher.get(address).text
    (warning,) = document.warnings
    assert (warning.code, warning.parameters["coverage"]) == ("preferences.coverage", 0.06)
    assert "6.0%" in page
    assert "1.000" not in page
    found = as_researcher.get(address.removesuffix("/") + ".json").json()
    assert [row["coverage"] for row in found["rows"]] == [0.5, 0.06]
    assert [row["differences"] for row in found["rows"]] == [[1, -1, -1, 0], [None] * 4]
    assert [each["code"] for each in found["warnings"]] == [warning.code]
    assert [row.label for row in across().rows] == ["Beta"]


def test_equal_labels_are_made_distinct(world: World) -> None:
    store(world.test_set, [1, 1, 1, 1])
    store(world.test_set, [1, 1, 1, 1], metric="other", measure="other-f")
    rows = documents.of_test_set(world.test_set).rows
    assert [row.label for row in rows] == ["Ordered (ordered)", "Ordered (other)"]


def test_nothing_to_draw_is_not_drawn(world: World) -> None:
    store(world.test_set, [np.nan] * 4)
    document = documents.of_test_set(world.test_set)
    assert histograms(document, "word-by-word") is None
    assert document.rows[0].w2w is None


def test_every_segment_is_in_the_figure(world: World) -> None:
    store(world.test_set, [0.25, -0.5, 0, 0])
    spec = histograms(documents.of_test_set(world.test_set), "word-by-word")
    assert spec is not None
    counted: dict[Message, int] = {}
    for bar in spec["data"]["values"]:
        counted[bar["side"]] = counted.get(bar["side"], 0) + bar["segments"]
    assert counted == {SIDES["higher"]: 1, SIDES["lower"]: 1, SIDES["equal"]: 2}


def test_tables_as_latex(world: World, as_researcher: Client) -> None:
    store(world.test_set, [1, -1, 0, 1], label="A_B & C")
    text = as_researcher.get("/testsets/harbour/preferences.tex").text
    assert r"A\_B \& C & 0.500 \\" in text
    assert r"A\_B \& C & 4 & 0.500" in text
    assert r"& 0.500 \\" in as_researcher.get("/preferences.tex").text
    for address in ("/testsets/harbour/preferences.xls", "/preferences.xls",
                    "/testsets/nowhere/preferences/"):  # fmt: skip
        assert as_researcher.get(address).status_code == 404
    assert as_researcher.get("/preferences/?condition=odd").status_code == 400


def test_the_lowest_is_bold_where_its_interval_lies_below_the_others(
    world: World, as_researcher: Client
) -> None:
    address = "/testsets/harbour/preferences.tex"
    store(world.test_set, [-1] * 40, measure="low", label="Low")
    store(world.test_set, [-1] * 37 + [1] * 3, measure="near", label="Near")
    assert r"\textbf" not in as_researcher.get(address).text
    store(world.test_set, [1] * 40, measure="near", label="Near")
    text = as_researcher.get(address).text
    assert text.count(r"\textbf") == 1
    assert r"Low & \textbf{0.000} \\" in text


def test_pages_ask_the_database_as_often_for_many_results(
    world: World, as_researcher: Client, django_assert_max_num_queries: Any
) -> None:
    for number in range(12):
        store(world.test_set, [1, 1, 1, 1], measure=f"m{number}", label=f"M{number}")
    for address, most in (("/testsets/harbour/preferences/", 14), ("/preferences/", 9)):
        with django_assert_max_num_queries(most):
            assert as_researcher.get(address).status_code == 200


def test_the_form_says_what_a_metric_reads(world: World, as_researcher: Client) -> None:
    page = as_researcher.get(reverse("preferences-start", args=[world.test_set.slug])).text
    assert "Reads source." in page
