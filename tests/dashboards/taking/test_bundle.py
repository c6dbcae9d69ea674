"""The bundle: another process gives the pages' numbers again, and a changed one is caught."""

import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import reverse

from annotation.filters import Filters
from annotation.filters.chosen import read_judgments
from annotation.models import Campaign, TestSet
from annotation.quality import QualityReport, quality_report
from dashboards.bundle import BundleChoice, build
from dashboards.comparisons import document as significance
from dashboards.comparisons.document import Shown
from dashboards.comparisons.statistics import Bounds
from dashboards.correlations.agreement import CampaignCorrelations, correlate
from dashboards.documents.computing import settled
from dashboards.panel.human import human_scores
from dashboards.significance.pairs import choose
from dashboards.systems import document as systems
from dashboards.systems.document import Systems
from dashboards.trust import verdict
from dashboards.trust.agreement import AgreementLine, agreement
from metaeval.commands import main
from metaeval.files import read_evalset
from metaeval.messages import from_json
from metaeval.replication import plain
from metaeval.replication.reproduce import UNITS
from metrics.runs import scoring, starting
from metrics.workers import telemetry
from tests.dashboards.conftest import make_rated
from tests.refusals import tells
from tests.shared import SharedRows
from tests.world import World, make_dataset, make_demo, make_user

ROOT = Path(__file__).parents[3]
SLUG = "demo-en-zh-80"


def score(test_set: TestSet, *metrics: str) -> None:
    for run in starting.start(test_set=test_set, metrics=metrics, enqueue=False).runs:
        scoring.drain(run.pk, worker="test")


@dataclass(frozen=True)
class Made:
    """A bundle of the demo, and what the pages of the same data show."""

    content: bytes
    again: bytes
    correlations: CampaignCorrelations
    systems: Systems
    quality: QualityReport
    human: list[float]
    bounds: Bounds


@pytest.fixture(scope="module")
def made(demo: int, shared_rows: SharedRows[Made]) -> Made:
    """A bundle is plain bytes: the scores that it took are gone again."""
    with shared_rows(lambda: make(Campaign.objects.get(pk=demo))) as made:
        pass
    return made


def make(campaign: Campaign) -> Made:
    score(campaign.test_set, "bleu", "bleu-star", "chrf", "ter", "rouge")
    human = human_scores(campaign).values
    return Made(
        build(campaign, Filters()).zip,
        build(campaign, Filters()).zip,
        correlate(campaign),
        settled(systems.compute(campaign, systems.SystemsChoice())),
        quality_report(campaign),
        human[~np.isnan(human)].tolist(),
        settled(significance.compute(campaign, Filters())).bounds,
    )


@pytest.fixture
def folder(made: Made, tmp_path: Path) -> Path:
    return unpack(made.content, tmp_path)


@pytest.fixture(scope="module")
def demo(shared_rows: SharedRows[int]) -> Iterator[int]:
    with shared_rows(load) as demo:
        yield demo


def load() -> int:
    """The demo's judgments."""
    make_demo()
    return Campaign.objects.get(slug=SLUG).pk


@pytest.fixture
def campaign(demo: int, db: None) -> Campaign:
    return Campaign.objects.get(pk=demo)


def unpack(content: bytes, place: Path) -> Path:
    zipfile.ZipFile(BytesIO(content)).extractall(place)
    return next(place.glob("*/manifest.json")).parent


def rows(folder: Path, name: str) -> list[dict[str, object]]:
    document = json.loads((folder / f"expected/{name}.json").read_text())
    return list(document["rows"])


def test_a_fresh_process_reproduces_it(folder: Path) -> None:
    """With nothing but metaeval: the environment has no settings, and Django is not imported."""
    command = [sys.executable, "-X", "importtime", "-m", "metaeval", "reproduce", str(folder)]
    # What chooses the processor's kernels: others may give another last digit.
    kernels = {k: v for k, v in os.environ.items() if k.startswith(("OPENBLAS_", "NPY_", "OMP_"))}
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **kernels}
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, cwd="/", check=False
    )
    assert done.returncode == 0, done.stdout[:3000]
    assert re.search(r"6 tables with [\d,]+ numbers: all equal", done.stderr)
    assert not re.search(r"\| +(django|torch|sacrebleu)\b", done.stderr)


def test_the_manifest_says_on_what_scores_and_tables_were_computed(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["builds"] == telemetry.numpy_builds()
    for metric in manifest["metrics"]:
        [way] = metric["computed_on"]
        assert (way["device"], way["numpy"]) == ("cpu", np.__version__)
        assert way["processor"] == telemetry.processor()["processor"]
        assert way["processor"] not in metric["signature"]


def test_its_numbers_are_those_of_the_pages_to_the_last_bit(made: Made, folder: Path) -> None:
    names = ("n", "tau", "r_segment", "n_systems", "r_system", "r_hybrid", "r_limit")
    shown = [{"metric": row.key} | {n: getattr(row, n) for n in names}
             for row in made.correlations.rows]  # fmt: skip
    assert rows(folder, "correlations") == plain(shown)
    document = made.systems
    cells = {(r.measure, r.system): r for r in document.rows}
    found = {(r["measure"], r["system"]): r for r in rows(folder, "systems")}
    assert {key: (r["score"], r.get("p")) for key, r in found.items()} == {
        key: (r.score, r.p) for key, r in cells.items()
    }
    lengths = {row.system: dict(vars(row)) for row in document.lengths.rows}
    assert all(row.pop("is_judged") for row in lengths.values())
    assert {row["system"]: row for row in rows(folder, "lengths")} == lengths
    found_human = sorted(float(str(r["human"])) for r in rows(folder, "human-scores"))
    assert found_human == sorted(made.human)


def test_floor_and_ceiling_are_those_of_the_pages_to_the_last_bit(made: Made, folder: Path) -> None:
    found = json.loads((folder / "expected/tau-b-none-segments.json").read_text())
    same(found, made.bounds)
    ceiling = made.bounds.ceiling
    assert ceiling is not None
    assert found["ceiling"]["value"] == ceiling.value
    people = [(each.n, each.value) for each in ceiling.people]
    assert [tuple(each.values()) for each in found["ceiling"]["people"]] == people
    assert found["ceiling"]["metrics"] == {each.key: each.value for each in ceiling.metrics}


def same(found: dict[str, Any], page: Bounds) -> None:
    assert from_json(found["floor_test"]) == page.test
    assert [tuple(each.values()) for each in found["floors"]] == [
        (each.key, each.value, each.low, each.high) for each in page.floors
    ]
    assert [tuple(each.values()) for each in found["against"]] == [
        (each.key, each.above, each.below, each.state) for each in page.against
    ]


def test_its_quality_is_that_of_the_page(made: Made, folder: Path) -> None:
    report = made.quality
    found = {str(row["statistic"]): row["value"] for row in rows(folder, "quality")}
    assert found["judgments"] == report.n_judgments
    assert report.times is not None
    assert (found["seconds"], found["seconds_cut"]) == (report.times.mean, report.times.mean_cut)
    assert report.traps is not None
    assert found["traps_zero"] == report.traps.zero
    for name, part in (("with_traps", report.with_traps), ("without_traps", report.without_traps)):
        assert part is not None
        assert found[f"one_vs_rest_{name}"] == part.one_vs_rest.statistic
        assert found[f"alpha_z_{name}"] == part.alpha_z.statistic
        assert found[f"alpha_raw_{name}"] == part.alpha_raw.statistic


@dataclass(frozen=True)
class Asked:
    """A bundle of chosen statistics under filters, and what the pages show under them."""

    folder: Path
    choice: BundleChoice
    pages: dict[str, Shown]
    quality: QualityReport
    agreement: list[AgreementLine]
    human: list[float]


FILTERED: dict[str, Any] = {
    "scores": "raw",
    "traps": "out",
    "documents": ("clinic", "market"),
    "unit": "segments",
    "since": "2020-01-01",
    "until": "2100-01-01",
    "min_seconds": 0.5,
}
STATISTICS = "pearson acc-eq hybrids limit systems"


@pytest.fixture
def asked(rated: Campaign, tmp_path: Path) -> Asked:
    """Under every filter at once, Holm's correction by row, by segment, two of three metrics."""
    score(rated.test_set, "ter", "bleu", "chrf")
    first = rated.annotators.order_by("pk").first()
    assert first is not None
    segments = rated.test_set.segments.all()
    segments.update(domain="health")
    # A domain is a part of a document here.
    segments.filter(pk=segments.filter(document="market").first().pk).update(domain="trade")
    choice = BundleChoice(
        **FILTERED, domains=("health",), without=(first.label,), statistic=STATISTICS,
        grouping="item", correction="holm", scope="row", metric="chrf ter",
    )  # fmt: skip
    query = QueryDict("metric=chrf&metric=ter&correction=holm&scope=row&bounds=shown")
    shared = choice.shared()
    trust = verdict.compute(rated, shared)
    pages = {
        question.statistic.key: choose(
            replace(settled(significance.compute(rated, shared, question.key)), trust=trust), query
        )
        for question in choice.questions
    }
    columns, _ = read_judgments(rated, shared)
    human = human_scores(rated, shared).values
    return Asked(
        unpack(build(rated, choice).zip, tmp_path),
        choice,
        pages,
        quality_report(rated, columns),
        agreement(rated, columns),
        human[~np.isnan(human)].tolist(),
    )


def test_chosen_statistics_under_filters_are_those_of_the_pages(asked: Asked) -> None:
    for question in asked.choice.questions:
        page = asked.pages[question.statistic.key]
        name = question.key.replace("/", "-")
        found = json.loads((asked.folder / f"expected/{name}.json").read_text())
        names = ("key", "value", "low", "high")
        assert [tuple(row.values())[:4] for row in found["metrics"]] == [
            tuple(getattr(m, n) for n in names) for m in page.metrics
        ]
        assert page.bounds is not None
        same(found, page.bounds)
        # A page withholds ranks that nothing bears out; those that it has are the table's.
        ranks = {next(iter(row.values())): row["rank"] for row in found["metrics"]}
        shown = {m.key: m.rank for m in page.metrics if m.rank is not None}
        assert shown.items() <= ranks.items()
        names = ("metric", "other", "difference", "low", "high", "pvalue", "adjusted")
        assert [tuple(row.values()) for row in found["pairs"]] == [
            tuple(getattr(row, n) for n in names) for row in page.rows
        ]
        counts = ("n", "n_systems", "n_segments", "n_informative", "n_permutations")
        assert {n: found[n] for n in counts} == {n: getattr(page, n) for n in counts}
        assert from_json(found["interval"]) == page.interval
        assert from_json(found["test"]) == page.test_label
    # Something was compared; of six segments and three systems nothing has an interval.
    pearson = asked.pages["pearson"]
    assert all(m.value is not None and m.low is None for m in pearson.metrics)
    assert pearson.no_interval is not None
    assert pearson.no_interval.code == "no-interval.few-segments-or-systems"
    drawn = asked.pages["hybrids"]
    assert all(m.low < m.value < m.high for m in drawn.metrics)
    assert asked.choice.questions[0].grouping == "item"


def test_filters_choose_the_judgments_of_all_tables(asked: Asked) -> None:
    found = {str(row["statistic"]): row["value"] for row in rows(asked.folder, "quality")}
    assert found["judgments"] == asked.quality.n_judgments > 0
    assert asked.quality.times is not None
    assert found["seconds"] == asked.quality.times.mean
    assert "traps_zero" not in found
    (part,) = asked.agreement
    for name, key in (("one_vs_rest", "one_vs_rest"), ("alpha_z", "alpha_z")):
        value, interval = getattr(part, key)
        ends = (found[f"{name}_without_traps_low"], found[f"{name}_without_traps_high"])
        assert ends == interval
        assert found[f"{name}_without_traps"] == value
    shown = sorted(float(str(r["human"])) for r in rows(asked.folder, "human-scores"))
    assert shown == sorted(asked.human)
    manifest = json.loads((asked.folder / "manifest.json").read_text())
    assert manifest["filters"]["documents"] == ["clinic", "market"]
    assert manifest["filters"]["domains"] == ["health"]
    assert manifest["filters"]["unit"] == "segments"


def test_they_are_reproduced_and_a_changed_p_is_caught(
    asked: Asked, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", str(asked.folder)]) == 0
    assert "10 tables" in capsys.readouterr().err
    path = asked.folder / "expected/hybrids-none-zou.json"
    document = json.loads(path.read_text())
    document["pairs"][0]["p"] += 1e-15
    path.write_text(json.dumps(document))
    assert main(["reproduce", str(asked.folder)]) == 1
    assert "hybrids-none-zou\tpairs[" in capsys.readouterr().out


def test_an_address_asks_for_statistics(campaign: Campaign, client: Client) -> None:
    client.force_login(make_user("reader", "researcher"))
    query = "?statistic=tau-b&statistic=spa&grouping=item&traps=out"
    page = client.get(reverse("bundle", args=[SLUG]) + query).text
    assert "tau-b, spa" in page
    assert "control items" in page
    data = client.get(reverse("bundle-file", args=[SLUG, "json"]) + query).json()
    assert data["statistics"] == ["tau-b", "spa"]
    for wrong in ("statistic=x", "scope=x", "test=x", "without=nobody"):
        assert client.get(f"{reverse('bundle', args=[SLUG])}?{wrong}").status_code == 400
        assert client.get(f"/campaigns/{SLUG}/bundle.zip?{wrong}").status_code == 400


def test_a_changed_score_is_caught(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "scores.tsv"
    lines = path.read_text().splitlines()
    cells = lines[1].split("\t")
    cells[3] = str(float(cells[3]) + 1)
    path.write_text("\n".join([lines[0], "\t".join(cells), *lines[2:]]) + "\n")
    assert main(["reproduce", str(folder)]) == 1
    differences = capsys.readouterr().out
    assert "files\tscores.tsv" in differences
    assert "correlations\trows[" in differences


def test_a_changed_result_is_caught_although_all_sums_fit(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "expected/correlations.json"
    document = json.loads(path.read_text())
    document["rows"][0]["tau"] += 1e-15
    path.write_text(json.dumps(document))
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["files"]["expected/correlations.json"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert main(["reproduce", str(folder)]) == 1
    answer = capsys.readouterr()
    assert ".tau\t" in answer.out
    assert "rounding" in answer.err
    assert main(["reproduce", str(folder), "--tolerance", "1e-12"]) == 0


def test_a_bundle_over_documents_has_their_column_and_reproduces(
    world: World, tmp_path: Path
) -> None:
    campaign, over = make_rated("several", segments=24), {}
    for unit in ("", "segments"):
        content = build(campaign, BundleChoice(unit=unit, statistic="pearson")).zip
        folder = unpack(content, tmp_path / (unit or "documents"))
        assert main(["reproduce", str(folder)]) == 0
        header = (folder / "scores.tsv").read_text().splitlines()[0].split("\t")
        assert ("document" in header) == (not unit)
        over[unit] = json.loads((folder / "expected/pearson-none-segments.json").read_text())
        page = significance.compute(campaign, Filters(unit=unit), "pearson/none/segments")
        names = ("key", "value", "low", "high")
        found = {tuple(row.values())[:4] for row in over[unit]["metrics"]}
        assert found == {tuple(getattr(m, n) for n in names) for m in settled(page).metrics}
        assert all(low < high for _, _, low, high in found)
    assert (over[""]["unit"], over[""]["n_units"]) == ("documents", 6)
    assert over["segments"]["unit"] == "segments"


def test_a_bundle_of_before_there_were_units_reproduces(asked: Asked) -> None:
    """Its tables do not name the unit, and its scores no documents."""
    for path in (asked.folder / "expected").glob("*.json"):
        document = json.loads(path.read_text())
        older = {key: value for key, value in document.items() if key not in UNITS}
        path.write_text(json.dumps(older))
    manifest = json.loads((asked.folder / "manifest.json").read_text())
    manifest["files"] = {}
    (asked.folder / "manifest.json").write_text(json.dumps(manifest))
    assert main(["reproduce", str(asked.folder)]) == 0


def test_what_is_no_bundle_is_refused_in_a_sentence(
    tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text").write_text("nothing")
    assert main(["reproduce", str(tmp_path / "text")]) == 2
    assert tells(capsys.readouterr().err, "bundle.neither-folder-nor-zip")
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["tables"][0]["arguments"][1] = "../../../etc/passwd"
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert main(["reproduce", str(folder)]) == 1
    assert tells(capsys.readouterr().out, "bundle.outside-file")


def test_the_same_data_give_the_same_bytes(made: Made) -> None:
    assert made.content == made.again


def test_it_holds_no_secret_and_no_account(campaign: Campaign, tmp_path: Path) -> None:
    annotator = campaign.annotators.order_by("pk").first()
    assert annotator is not None
    user = make_user("someone-real", "annotator")
    user.email = "someone@example.org"
    user.save()
    annotator.user, annotator.external_id = user, "5f3c9e"
    annotator.token_hash, annotator.background = "deadbeef", {"age": "41"}
    annotator.save()
    folder = unpack(build(campaign, Filters()).zip, tmp_path)
    text = "".join(p.read_text() for p in folder.rglob("*") if p.is_file())
    assert annotator.label in text
    secrets = ("someone-real", "someone@", "5f3c9e", "deadbeef", '"age"', "background")
    assert [each for each in secrets if each in text] == []


def test_excluded_annotators_are_there_and_count_in_nothing(
    campaign: Campaign, tmp_path: Path
) -> None:
    annotator = campaign.annotators.order_by("pk").first()
    assert annotator is not None
    campaign.annotators.filter(pk=annotator.pk).update(excluded_at="2026-01-01T00:00:00Z")
    folder = unpack(build(campaign, Filters()).zip, tmp_path)
    assert f"{annotator.label}\t1\t" in (folder / "annotators.tsv").read_text()
    found = {str(row["statistic"]): row["value"] for row in rows(folder, "quality")}
    assert found["judgments"] == quality_report(campaign).n_judgments
    assert main(["reproduce", str(folder)]) == 0


@pytest.mark.parametrize(("metric", "sign"), [("chrf", 1), ("ter", -1)])
def test_mt_metrics_eval_reads_its_layout_where_higher_is_better(
    folder: Path, metric: str, sign: int
) -> None:
    evalset = read_evalset(folder / "mt-metrics-eval/demo-en-zh", "en-zh")
    assert len(evalset.sources) == 44
    table = (folder / "scores.tsv").read_text().splitlines()
    column = table[0].split("\t").index(metric)
    ours = sorted(sign * float(line.split("\t")[column]) for line in table[1:])
    theirs = evalset.metrics()[f"{metric}-refA"].values.ravel().tolist()
    assert ours == sorted(theirs)


def test_published_scores_of_real_data(db: None, data_dir: Path, tmp_path: Path) -> None:
    make_dataset("wmt17-de-en")
    campaign = Campaign.objects.get(slug="wmt17-de-en")
    score(campaign.test_set, "chrf")
    folder = unpack(build(campaign, Filters()).zip, tmp_path)
    (row,) = rows(folder, "correlations")
    # The README of the data: Pearson of chrF with the humans over 560 outputs and 11 systems.
    assert (row["r_segment"], row["n"]) == (pytest.approx(0.5159, abs=5e-5), 560)
    assert row["r_system"] == pytest.approx(0.9412, abs=5e-5)
    assert main(["reproduce", str(folder)]) == 0


def test_it_is_downloaded_from_its_page(campaign: Campaign, client: Client) -> None:
    client.force_login(make_user("reader", "researcher"))
    page = client.get(reverse("bundle", args=[SLUG])).text
    assert f"python -m metaeval reproduce {SLUG}-bundle.zip" in page
    answer = client.get(reverse("bundle-file", args=[SLUG, "zip"]))
    archive = zipfile.ZipFile(BytesIO(answer.getvalue()))
    assert f"{SLUG}-bundle/reproduce.sh" in archive.namelist()
    data = client.get(reverse("bundle-file", args=[SLUG, "json"])).json()
    assert "zip" not in data
    assert {row["file"] for row in data["rows"]} >= {"scores.tsv", "judgments.tsv"}
    assert client.get(reverse("bundle-file", args=[SLUG, "rar"])).status_code == 404
