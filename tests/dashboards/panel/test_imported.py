"""Imported scores on the pages: published figures come out of real sets without a text.

Figures are those of the data's README: WMT23 en-de against MQM over 12 MT systems, and the 114
correlations of metrics with humans that WMT15 published.
"""

import csv
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.conf import settings
from django.test import Client
from scipy.stats import pearsonr

from annotation.filters import Filters
from annotation.models import Campaign, Output
from annotation.uploads import InputFile
from dashboards.bundle import BundleChoice, build
from dashboards.correlations.page import tables
from dashboards.documents import kinds
from dashboards.documents.computing import encoded
from metaeval.commands import run_command
from metaeval.replication import plain
from metrics import imported
from metrics.imported.checking import bring_in, check
from metrics.imported.files import Choices
from tests.dashboards.imported import make_set, meta_campaign, rows_of, wmt15_campaign
from tests.refusals import tells
from tests.shared import SharedRows
from tests.world import World

PUBLISHED = {  # metric: (r over 12 systems, r over 5,520 outputs)
    "BLEU-refA": (0.917, 0.192),
    "chrF-refA": (0.866, 0.232),
    "COMET-refA": (0.990, 0.432),
    "CometKiwi-src": (0.946, 0.475),
    "XCOMET-Ensemble-refA": (0.980, 0.695),
    "GEMBA-MQM-src": (0.993, 0.502),
    "Random-sysname-src": (0.357, 0.064),
}


def file(*path: str) -> InputFile:
    return InputFile.at(Path(settings.DATA_DIR, *path))


def document(campaign: Campaign, kind: str, filters: Filters | None = None) -> dict[str, Any]:
    """A document as programs get it."""
    found = kinds.compute(kind, campaign, filters or kinds.filters_of(kind)())
    return json.loads(encoded(found))


@pytest.fixture(scope="module")
def meta_rows(shared_rows: SharedRows[Campaign]) -> Iterator[int]:
    with shared_rows(import_meta) as made:
        yield made.pk


@pytest.fixture
def meta(meta_rows: int, db: None) -> Campaign:
    return Campaign.objects.get(pk=meta_rows)


def import_meta() -> Campaign:
    """WMT23 en-de with the 13 metrics of both tables as they lie there."""
    campaign = meta_campaign()
    tables = [file("wmt23-meta", "en-de", f"{each}-scores.tsv") for each in ("segment", "system")]
    checked = check(campaign.test_set, tables, Choices())
    assert not checked.report.errors
    assert len(bring_in(checked)) == 13
    return campaign


def test_wmt23_comes_out_as_published(meta: Campaign) -> None:
    """Without texts all outputs are equal, and only scores by output can distinguish them."""
    found = document(meta, "correlations")
    rows = {row["label"].removesuffix(" (imported)"): row for row in found["rows"]}
    assert len(rows) == 13
    for name, (over_systems, over_outputs) in PUBLISHED.items():
        assert rows[name]["r_system"] == pytest.approx(over_systems, abs=5e-4)
        assert rows[name]["r_segment"] == pytest.approx(over_outputs, abs=5e-4)
        assert (rows[name]["n"], rows[name]["n_systems"]) == (5520, 12)
        assert rows[name]["origin"] == "imported"
        assert rows[name]["r_hybrid"] is not None


def test_systems_are_compared_as_published_in_every_document(meta: Campaign) -> None:
    asked = document(meta, "correlations:systems")
    values = {each["label"]: each["value"] for each in asked["metrics"]}
    tested = document(meta, "significance:systems")
    again = {each["label"]: each["value"] for each in tested["metrics"]}
    assert {each["origin"] for each in tested["metrics"]} == {"imported"}
    table = document(meta, "systems")
    columns = {column["label"]: column for column in table["columns"]}
    theirs = {row["system"]: row for row in rows_of("wmt23-meta", "en-de", "system-scores.tsv")}
    for name, (over_systems, _) in PUBLISHED.items():
        assert values[name] == pytest.approx(over_systems, abs=5e-4)
        assert again[name] == values[name]
        shown = {row["system"]: row["score"] for row in columns[name]["rows"]}
        assert len(shown) == 12
        assert shown == {system: float(theirs[system][name]) for system in shown}
    points = document(
        meta, "scatter", kinds.filters_of("scatter")(metric="imported-bleu-refa", level="system")
    )
    x, y = zip(*[(point[0], point[1]) for point in points["points"]], strict=True)
    assert pearsonr(x, y).statistic == pytest.approx(0.917, abs=5e-4)


def test_chosen_documents_have_no_score_of_whole_systems(meta: Campaign) -> None:
    segments = list(meta.test_set.segments.order_by("position"))
    for place, segment in enumerate(segments):
        segment.document = f"d{place % 5}"
    type(segments[0]).objects.bulk_update(segments, ["document"], batch_size=500)
    found = document(meta, "correlations", Filters(documents=("d1",)))
    assert "scores.imported-whole-systems" in {each["code"] for each in found["warnings"]}
    row = next(row for row in found["rows"] if row["label"].startswith("BLEU-refA"))
    rows = rows_of("wmt23-meta", "en-de", "segment-scores.tsv")
    kept = [r for r in rows if (int(r["seg"]) - 1) % 5 == 1 and r["mqm"] and r["system"] != "refA"]
    means = {}
    for name in dict.fromkeys(r["system"] for r in kept):
        own = [(float(r["mqm"]), float(r["BLEU-refA"])) for r in kept if r["system"] == name]
        means[name] = np.mean(own, axis=0)
    expected = pearsonr(*np.array(list(means.values())).T).statistic
    assert row["r_system"] == pytest.approx(expected, abs=1e-12)


DIRECTIONS = ("cs-en", "de-en", "ru-en", "en-cs", "en-de", "en-ru")


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_wmt15_comes_out_as_published(db: None, direction: str) -> None:
    """Scores of systems alone, on a set without segments: 114 published correlations in all."""
    campaign = wmt15_campaign(direction)
    checked = check(
        campaign.test_set,
        [file("wmt15", "scores.tsv")],
        Choices(lower=frozenset(["BS"]) if direction.endswith("-en") else frozenset()),
    )
    assert not checked.report.errors
    bring_in(checked)
    published = {
        row["metric"]: (float(row["published_r"]), int(row["n_systems"]))
        for row in rows_of("wmt15", "metric-correlations.tsv")
        if row["lp"] == direction
    }
    for kind in ("correlations", "correlations:systems"):
        found = document(campaign, kind)
        assert len(found["rows"]) == len(published)
        for row in found["rows"]:
            r, n = published[row["label"].removesuffix(" (imported)")]
            value = row["r_system"] if kind == "correlations" else row["value"]
            assert abs(value) == pytest.approx(r, abs=1e-12)
            assert row["n_systems"] == n
            assert [row[name] for name in ("tau", "r_segment", "r_hybrid")] == [None] * 3
        assert "scores.imported-systems-only" in {each["code"] for each in found["warnings"]}


def test_every_page_has_something_to_say_of_systems_alone(db: None) -> None:
    campaign = wmt15_campaign("en-ru")
    bring_in(check(campaign.test_set, [file("wmt15", "scores.tsv")], Choices()))
    tested = document(campaign, "significance:systems")
    assert len(tested["metrics"]) == len(tested["pvalues"]) == 15
    by_segment = document(campaign, "significance")
    assert by_segment["metrics"] == []
    assert by_segment["by_systems"]
    assert document(campaign, "scatter")["n"] == 10
    assert [len(column["rows"]) for column in document(campaign, "systems")["columns"]] == [10] * 15
    assert document(campaign, "scatter", kinds.filters_of("scatter")(level="system"))["n"] == 10
    assert {row["left_out"] for row in document(campaign, "whatif")["rows"]} == set(
        campaign.systems.values_list("name", flat=True)
    )
    for kind in {"samplesize", "compare", "trust", "overview"} & kinds.KINDS.keys():
        assert document(campaign, kind)


def test_a_metric_of_systems_alone_leaves_the_others_as_they_are(meta: Campaign) -> None:
    before = {row["key"]: row for row in document(meta, "correlations")["rows"]}
    scores = {system.name: float(place) for place, system in enumerate(meta.systems.all())}
    imported.store(meta.test_set, "Alone", {}, scores)
    found = document(meta, "correlations")
    after = {row["key"]: row for row in found["rows"]}
    alone = after.pop("imported-alone")
    assert after == before
    assert (alone["tau"], alone["r_hybrid"], alone["n_systems"]) == (None, None, 12)
    assert alone["r_system"] is not None
    tested = document(meta, "significance")
    place = [each["key"] for each in tested["metrics"]].index("imported-alone")
    assert tested["metrics"][place]["value"] is None
    assert any("Alone" in each["text"] for each in tested["comparison_warnings"])
    assert sum(each["value"] is not None for each in tested["metrics"]) == 13


@pytest.mark.needs("extensions.comparison")
def test_pages_say_on_which_outputs_metrics_are_compared(meta: Campaign) -> None:
    """Three quarters of the outputs of all systems but one: the others are compared there, too."""
    systems = [system.name for system in meta.systems.order_by("pk")]
    judged = meta.published_scores.exclude(output=None).values_list("output__segment__key")
    keys = sorted({key for (key,) in judged})
    some = {(name, key): float(at) for name in systems[1:] for at, key in enumerate(keys) if at % 4}
    imported.store(meta.test_set, "Partial", some, {})
    n, n_all = 11 * 345, 5_520
    for kind, where in (
        ("correlations", "warnings"), ("significance", "comparison_warnings"),
        ("whatif", "warnings"), ("samplesize", "warnings"),
    ):  # fmt: skip
        found = {each["code"]: each["parameters"] for each in document(meta, kind)[where]}
        common = found["outputs.in-common"]
        assert (common["outputs"], common["judged"], common["segments"]) == (n, n_all, 345)
        assert found["outputs.systems-excluded"] == {"systems": [systems[0]]}
    shown = kinds.compute("correlations", meta, kinds.filters_of("correlations")())
    assert all(f"{n_all:,}" in part.heading for part in tables(shown))
    for part in tables(shown):
        names = [row[0].text for row in part.body]
        assert [each for each in names if "(n = " in each] == [f"Partial (n = {n:,})"]
    found = {each["code"]: each["parameters"] for each in document(meta, "compare")["warnings"]}
    assert found["outputs.own"] == {"low": n, "high": n_all, "judged": n_all}


def test_metrics_without_a_common_output_are_not_compared(meta: Campaign) -> None:
    found = {row["key"]: row for row in document(meta, "whatif")["base"]}
    judged = meta.published_scores.exclude(output=None)
    places = sorted(judged.values_list("output__system__name", "output__segment__key"))
    for name, parity in (("Even", 0), ("Odd", 1)):
        half = {at: float(n) for n, at in enumerate(places) if n % 2 == parity}
        imported.store(meta.test_set, name, half, {})
    for kind in ("whatif", "samplesize"):
        after = document(meta, kind)
        codes = {each["code"] for each in after["warnings"]}
        assert "outputs.none-in-common" in codes, kind
        assert "outputs.no-human-scores" not in codes, kind
    assert found.keys() < {row["key"] for row in document(meta, "whatif")["base"]}


def test_what_if_and_sample_size_compare_on_what_all_metrics_have(meta: Campaign) -> None:
    """A metric that lacks scores beside itself with all of them: the same numbers in every row."""
    systems = [system.name for system in meta.systems.order_by("pk")]
    judged = meta.published_scores.exclude(output=None).values_list("output__segment__key")
    keys = sorted({key for (key,) in judged})
    rng = np.random.default_rng(5)
    full = {(name, key): float(rng.normal()) for name in systems for key in keys}
    few = {place: value for at, (place, value) in enumerate(full.items()) if at % 3}
    imported.store(meta.test_set, "Full", full, {})
    imported.store(meta.test_set, "Lacking", few, {})
    found = document(meta, "whatif")
    assert found["n_outputs"] < 5_520
    for rows in (found["base"], found["rows"], document(meta, "samplesize")["rows"]):
        one, other = (
            [{k: v for k, v in row.items() if k not in ("key", "label")}
             for row in rows if row["key"] == f"imported-{key}"]
            for key in ("full", "lacking")
        )  # fmt: skip
        assert one
        assert one == other


def test_the_bundle_reproduces_imported_scores(meta: Campaign, tmp_path: Path) -> None:
    choice = BundleChoice(statistic="systems limit")
    built = build(meta, choice)
    manifest = built.manifest
    assert {each["origin"] for each in manifest["metrics"]} == {"imported"}
    assert {each["system_score"] for each in manifest["metrics"]} == {"as imported"}
    with zipfile.ZipFile(io.BytesIO(built.zip)) as files:
        files.extractall(tmp_path)
    [folder] = [path.parent for path in tmp_path.rglob("manifest.json")]
    assert "imported" in (folder / "README.md").read_text()
    expected = json.loads((folder / "expected" / "correlations.json").read_text())
    [table] = [each for each in manifest["tables"] if each["name"] == "correlations"]
    assert plain(run_command(table["arguments"], folder)) == expected
    rows = {row["metric"]: row for row in expected["rows"]}
    for row in document(meta, "correlations")["rows"]:
        assert rows[row["key"]]["r_system"] == row["r_system"]


def test_wmt17_sentence_bleu_stands_beside_ours(db: None) -> None:
    """The column that came with the data: r with the humans over 560 outputs."""
    from annotation.imports import DATASETS, store_campaign
    from annotation.imports.published.human import wmt17 as read
    from annotation.uploads import store
    from metrics.runs import scoring, starting

    for pair in DATASETS["wmt17"].pairs(Path(settings.DATA_DIR)):
        test_set_draft, campaign_draft = read(pair)
        test_set = store(test_set_draft).test_set
        campaign = store_campaign(campaign_draft, test_set).campaign
        direction = test_set.direction
        table = file("wmt17", direction, "seg-human.tsv")
        bring_in(check(test_set, [table], Choices(metrics=("repo_sentbleu",))))
        [run] = starting.start(test_set=test_set, metrics=["sentbleu"], enqueue=False).runs
        scoring.drain(run.pk, worker="test")
        rows = {row["key"]: row for row in document(campaign, "correlations")["rows"]}
        published = {"zh-en": (0.5117, 0.5032), "de-en": (0.4325, 0.4145)}[direction]
        found = [rows[key] for key in ("imported-repo-sentbleu", "sentbleu")]
        assert [row["origin"] for row in found] == ["imported", "computed"]
        assert [row["r_segment"] for row in found] == pytest.approx(published, abs=5e-5)
        assert [row["n"] for row in found] == [560, 560]


def test_fifty_metrics_are_stored_in_few_queries(
    db: None, django_assert_max_num_queries: object
) -> None:
    keys = [str(n) for n in range(40)]
    test_set = make_set("wide", "en-de", ["a", "b"], keys)
    names = [f"m{n}" for n in range(50)]
    lines = ["\t".join(["segment", "system", *names])]
    lines += ["\t".join([key, system, *["0.5"] * 50]) for key in keys for system in "ab"]
    table = InputFile.holding("wide.tsv", "\n".join(lines).encode())
    checked = check(test_set, [table], Choices())
    with django_assert_max_num_queries(50 * 9 + 30):  # type: ignore[operator]
        assert len(bring_in(checked)) == 50


PAGES = (
    "correlations/", "correlations/?statistic=systems", "significance/?statistic=systems",
    "significance/", "systems/", "scatter/?level=system", "scatter/", "quality/", "whatif/",
    "samplesize/", "report/", "bundle/", "correlations.csv", "correlations.tex", "systems.json",
    "systems.tex",
)  # fmt: skip


def test_every_page_shows_a_set_of_systems_alone(world: World, as_admin: Client) -> None:
    campaign = wmt15_campaign("en-ru")
    bring_in(check(campaign.test_set, [file("wmt15", "scores.tsv")], Choices()))
    for address in PAGES:
        response = as_admin.get(f"/campaigns/{campaign.slug}/{address}")
        assert response.status_code == 200, address
        if address == "significance/":
            assert "?statistic=systems" in body(response)
        if address.startswith(("correlations", "systems")):
            assert "BLEU" in body(response), address
    rows = list(
        csv.DictReader(
            io.StringIO(body(as_admin.get(f"/campaigns/{campaign.slug}/correlations.csv")))
        )
    )
    assert {row["origin"] for row in rows} == {"imported"}
    assert {row["tau"] for row in rows} == {""}


def test_the_answer_of_systems_alone_is_over_systems(world: World, as_admin: Client) -> None:
    campaign = wmt15_campaign("en-ru")
    bring_in(check(campaign.test_set, [file("wmt15", "scores.tsv")], Choices()))
    address = f"/campaigns/{campaign.slug}/results/"
    first = body(as_admin.get(address))
    assert 'id="empty-title"' not in first
    assert 'data-case="unjudged"' not in first
    assert f'href="{address}?statistic=systems"' in first
    shown = body(as_admin.get(f"{address}?statistic=systems"))
    assert any(tells(shown, code) for code in ("answer.best", "answer.best-of-some"))


def test_an_output_shows_its_imported_scores(rated: Campaign, as_admin: Client) -> None:
    output = rated.systems.earliest("pk").outputs.earliest("pk")
    label = f"{output.system.name}"
    imported.store(rated.test_set, "COMET", {(label, output.segment.key): 0.125}, {})
    page = as_admin.get(f"/campaigns/{rated.slug}/outputs/{output.pk}/").text
    assert "COMET (imported)" in page
    assert "0.125" in page


def test_a_constant_metric_has_one_warning_with_its_label(rated: Campaign) -> None:
    outputs = Output.objects.filter(system__in=rated.systems.all()).select_related()
    scores = {(each.system.name, each.segment.key): 0.5 for each in outputs}
    imported.store(rated.test_set, "Myconst", scores, {})
    warnings = document(rated, "correlations")["warnings"]
    undefined = [each["text"] for each in warnings if "undefined" in each["text"]]
    assert len(undefined) == 1
    assert "Myconst" in undefined[0]
    assert not any("imported-myconst" in each["text"] for each in warnings)


def body(response: object) -> str:
    content = getattr(response, "streaming_content", None)
    return b"".join(content).decode() if content else response.content.decode()  # type: ignore[attr-defined]
