"""Human translations and outliers among the systems: what metrics are compared on, and what not."""

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
from django.test import Client

from annotation.filters import IN, OUT, FilterError, Filters
from annotation.filters.systems import compared_systems
from annotation.models import Campaign, System, TestSet
from dashboards.bundle import BundleChoice, build
from dashboards.correlations import document as correlations
from dashboards.documents import kinds
from dashboards.panel.panel import read_panel
from dashboards.results import document as results
from dashboards.systems import document as systems
from metaeval.commands import main
from metaeval.results import plain
from metrics import imported
from tests.dashboards.conftest import add_outputs, rate
from tests.dashboards.documents.working import compute_waiting
from tests.dashboards.imported import make_set
from tests.metaeval.systems.test_outliers import WMT19
from tests.shared import SharedRows
from tests.world import World, make_campaign, make_dataset, make_test_set, score

HUMANS = ["ref", "refB"]
ALL_IN = Filters(humans=IN)


@pytest.fixture(scope="module")
def ted_rows(shared_rows: SharedRows[TestSet], data_dir: Path) -> Iterator[int]:
    with shared_rows(lambda: make_dataset("mqm-ted", "bleu")) as made:
        yield made.pk


@pytest.fixture
def ted(ted_rows: int, world: World) -> Campaign:
    """TED zh-en with MQM: both references are judged as systems."""
    return Campaign.objects.get(slug="mqm-ted-zh-en")


def bleu(document: correlations.Correlations) -> correlations.Row:
    (row,) = [each for each in document.rows if each.key == "bleu"]
    return row


def test_references_are_known_by_their_texts(ted: Campaign) -> None:
    rows = ted.systems.filter(is_human=True).values_list("name", "reference").order_by("name")
    assert list(rows) == [("ref", "A"), ("refB", "B")]


def test_bleu_over_the_systems_of_ted(ted: Campaign, as_researcher: Client) -> None:
    """r was -.230 with both references among the systems; without them it is .185."""
    address = "/campaigns/mqm-ted-zh-en/correlations.json"
    as_researcher.get(address)
    compute_waiting()
    document = as_researcher.get(address).json()
    (row,) = document["rows"]
    assert (round(row["r_system"], 3), row["n_systems"]) == (0.185, 13)
    assert document["human_systems"] == HUMANS
    (warning,) = [w for w in document["warnings"] if w["code"] == "human.translations-excluded"]
    assert warning["parameters"] == {"n": 2, "systems": ["ref", "refB"]}
    assert warning["text"] in as_researcher.get("/campaigns/mqm-ted-zh-en/correlations/").text


def test_a_reference_never_enters_its_own_correlation(ted: Campaign) -> None:
    """BLEU reads both references: with the humans in, it has the same 13 systems."""
    row = bleu(correlations.compute(ted, ALL_IN))
    assert (round(row.r_system or 0, 3), row.n_systems) == (0.185, 13)
    panel = read_panel(ted, ALL_IN)
    assert len(panel.human.systems) == 15
    (warning,) = panel.measures["bleu"].warnings
    assert (warning.code, warning.message.parameters["n"]) == ("own_reference", 1058)
    for name in ("human_systems", "outlier_systems"):
        assert name in asdict(correlations.compute(ted, ALL_IN))


def test_pages_show_human_translations_beside(ted: Campaign, as_researcher: Client) -> None:
    base = "/campaigns/mqm-ted-zh-en"
    for page in ("systems", "results"):
        as_researcher.get(f"{base}/{page}/")
    compute_waiting()
    shown = as_researcher.get(f"{base}/systems/").text
    assert 'id="left-out"' in shown
    assert "above 13 of 13" in shown
    summary = as_researcher.get(f"{base}/results/").text
    assert "scatter/?system=refB&amp;humans=in" in summary
    assert as_researcher.get(f"{base}/scatter/?system=refB&humans=in").status_code == 200
    refused = as_researcher.get(f"{base}/scatter/?system=refB")
    assert refused.status_code == 400


@pytest.mark.parametrize(
    ("metric", "n"), [("X-ref", 14), ("X-refB", 14), ("X-refA.refB", 13), ("X-src", 15)]
)
def test_a_metric_that_reads_one_reference_is_compared_on_the_other(
    ted: Campaign, metric: str, n: int
) -> None:
    rng = np.random.default_rng(3)
    keys = list(ted.test_set.segments.values_list("key", flat=True))
    scores = {s.name: dict(zip(keys, rng.random(len(keys)).tolist(), strict=True))
              for s in ted.systems.all()}  # fmt: skip
    imported.store(
        ted.test_set,
        metric,
        {(name, key): value for name, own in scores.items() for key, value in own.items()},
        {},
    )
    (key,) = [key for key in read_panel(ted, ALL_IN).measures if key != "bleu"]
    document = correlations.compute(ted, ALL_IN)
    (row,) = [each for each in document.rows if each.key == key]
    assert row.n_systems == n
    codes = {each.code for each in document.warnings}
    assert ("scores.imported-own-reference" in codes) == (n < 15)
    (row,) = [each for each in correlations.compute(ted, Filters()).rows if each.key == key]
    assert row.n_systems == 13


def test_human_translations_stand_beside_the_systems(ted: Campaign) -> None:
    """Published penalties: refB .42 is the best of all, ref 5.52 the worst."""
    shown = systems.compute(ted, Filters())
    assert not {row.system for row in shown.rows} & set(HUMANS)
    beside = {(row.measure, row.system): row for row in shown.excluded}
    assert set(beside) == {(m, name) for m in ("human", "bleu") for name in HUMANS}
    assert round(beside["human", "refB"].score or 0, 2) == -0.42
    assert round(beside["human", "ref"].score or 0, 2) == -5.52
    assert [beside["human", name].above for name in HUMANS] == [0, 13]
    # Texts against themselves: shown here, and nowhere compared.
    assert [beside["bleu", name].score for name in HUMANS] == [pytest.approx(100)] * 2
    assert [each.system for each in results.compute(ted, Filters()).humans] == ["refB", "ref"]
    ranked = systems.compute(ted, ALL_IN).human
    assert (ranked[0].system, ranked[-1].system) == ("refB", "ref")


def test_outliers_are_found_among_the_mt_systems(ted: Campaign) -> None:
    """Deviations by hand: the largest of an MT system is 2.22 without the humans in the median."""
    assert read_panel(ted, Filters()).human.outliers == ()
    assert read_panel(ted, ALL_IN).human.outliers == ()


@pytest.fixture
def wmt19(db: None) -> Campaign:
    """System scores of WMT19 en-de alone, with sacreBLEU imported."""
    from annotation.imports import CampaignDraft, store_campaign

    test_set = make_set("wmt19-en-de", "en-de", list(WMT19), [])
    human = {name: score for name, (score, _) in WMT19.items()}
    draft = CampaignDraft(slug="wmt19", name="WMT19", question="How good?", system_scores=human)
    campaign = store_campaign(draft, test_set).campaign
    imported.store(test_set, "BLEU", {}, {name: score for name, (_, score) in WMT19.items()})
    return campaign


def test_both_values_stand_where_outliers_make_a_difference(wmt19: Campaign) -> None:
    """Mathur et al. 2020, table 1: .97 over 22 systems of en-de, .81 over 20."""
    document = correlations.compute(wmt19, Filters(), "systems")
    (row,) = document.rows
    assert document.outlier_systems == ["en_de_task", "online-X"]
    assert [round(x or 0, 2) for x in (row.r_system, row.r_system_without_outliers)] == [0.97, 0.81]
    assert round(row.value_without_outliers or 0, 2) == 0.81
    document = correlations.compute(wmt19, Filters(outliers=OUT), "systems")
    (row,) = document.rows
    assert (round(row.r_system or 0, 2), row.n_systems) == (0.81, 20)
    assert row.r_system_without_outliers is None
    table = systems.compute(wmt19, Filters())
    (column,) = table.columns
    without = systems.compute(wmt19, Filters(outliers=OUT)).columns[0]
    assert column.tau_without_outliers == pytest.approx(without.tau)
    assert column.accuracy_without_outliers == pytest.approx(without.accuracy)
    left_out = systems.compute(wmt19, Filters(outliers=OUT)).excluded
    assert {row.system for row in left_out} == {"en_de_task", "online-X"}


@pytest.fixture(scope="module")
def mixed_rows(shared_rows: SharedRows[Campaign]) -> Iterator[int]:
    def make() -> Campaign:
        """Three MT systems and a human translation that is no stored reference."""
        test_set = make_test_set("mixed-set", segments=9, systems=())
        for name, dropped in {"strong": (0, 3), "middling": (1, 5), "weak": (2, 6)}.items():
            add_outputs(test_set, name, dropped)
        add_outputs(test_set, "Human-B", (1, 2))
        System.objects.filter(name="Human-B").update(is_human=True)
        campaign = make_campaign(test_set, "mixed", traps_per_annotator=2)
        rate(campaign)
        score(test_set, "chrf", "bleu")
        return campaign

    with shared_rows(make) as made:
        yield made.pk


@pytest.fixture
def mixed(mixed_rows: int, world: World) -> Campaign:
    return Campaign.objects.get(pk=mixed_rows)


OF_METRICS = (
    "correlations", "compare", "whatif", "samplesize", "significance", "scatter", "systems",
    "systems-pair", "metrics-pair", "shortness", "results", "trust", "layers",
)  # fmt: skip
# Fields on human translations themselves.
OF_HUMANS = (
    "human_systems",
    "warnings",
    "gaps",
    "excluded",
    "humans",
    "reasons",
    "offered",
    "outside",
)


def of_metrics(value: Any) -> Any:
    """Without rows on the quality of judgments, which are of all that annotators rated."""
    if not isinstance(value, list):
        return value
    return [x for x in value if not (isinstance(x, dict) and x.get("section") == "quality")]


@pytest.mark.parametrize("kind", [kind for kind in OF_METRICS if kind in kinds.KINDS])
def test_a_human_translation_changes_no_number_of_any_analysis(mixed: Campaign, kind: str) -> None:
    """Raw scores: z-scores rest on all that an annotator rated."""
    raw = Filters(scores="raw")

    def numbers(filters: Filters) -> dict[str, Any]:
        own = kinds.filters_of(kind)(**vars(filters))
        found = plain(asdict(kinds.compute(kind, mixed, own)))
        return {name: of_metrics(value) for name, value in found.items() if name not in OF_HUMANS}

    without = numbers(replace(raw, without_systems=("Human-B",)))
    both = numbers(raw)
    if kind in ("results", "trust"):
        # Annotators are looked at in all that they rated.
        for found in (without, both):
            for name in ("alpha", "alpha_ends", "n_tested", "n_passed"):
                found.pop(name, None)
    if kind == "whatif":
        without, both = ({"base": each["base"]} for each in (without, both))
    assert json.dumps(both, sort_keys=True) == json.dumps(without, sort_keys=True)
    if kind not in ("systems-pair", "layers", "shortness", "trust"):
        assert json.dumps(numbers(replace(raw, humans=IN))) != json.dumps(both)


def test_systems_are_known_by_name_and_by_name_with_length(mixed: Campaign) -> None:
    names = ["Human-B", "middling", "strong", "weak"]

    def chosen(**filters: Any) -> list[str]:
        return [each.name for each in compared_systems(mixed, Filters(**filters))]

    assert chosen() == names[1:]
    assert chosen(humans=IN) == names
    assert chosen(systems=("Human-B", "weak")) == ["Human-B", "weak"]
    assert chosen(without_systems=("weak@0.8",)) == ["middling", "strong"]
    longer = System.objects.create(test_set=mixed.test_set, name="weak", length_ratio="1")
    mixed.systems.add(longer)
    assert chosen(systems=("weak",)) == ["weak", "weak"]
    assert chosen(systems=("weak@0.80",)) == ["weak"]
    with pytest.raises(FilterError) as unknown:
        chosen(systems=("strog",))
    assert unknown.value.message.parameters["names"] == ["strog"]
    assert unknown.value.message.parameters["known"][0].startswith("Human-B@")
    with pytest.raises(FilterError) as none_left:
        chosen(systems=("weak",), without_systems=("weak",))
    assert none_left.value.message.code == "filter.no-system-left"


def test_without_any_mt_system_all_are_compared(mixed: Campaign) -> None:
    mixed.systems.update(is_human=True)
    assert len(compared_systems(mixed, Filters())) == 4


def test_the_mark_makes_documents_anew(mixed: Campaign) -> None:
    from dashboards.documents.computing import state_of

    before = state_of(mixed)
    System.objects.filter(name="Human-B").update(is_human=False)
    assert state_of(mixed) != before
    assert len(correlations.compute(mixed, Filters()).human_systems) == 0


def test_a_system_left_out_is_no_system_that_the_task_leaves_out(mixed: Campaign) -> None:
    document = systems.compute(mixed, Filters(without_systems=("weak",)))
    assert document.outside == []
    assert {row.system for row in document.rows} == {"strong", "middling"}
    assert {row.system for row in document.excluded} == {"Human-B"}


@pytest.mark.parametrize(
    "filters", [{"humans": IN}, {"without_systems": ("weak",)}, {"systems": ("Human-B", "strong")}]
)
def test_a_bundle_holds_the_systems_of_its_filters(
    mixed: Campaign, filters: dict[str, Any], tmp_path: Path
) -> None:
    """Another run of its commands, by hand and as `reproduce`, gives the same numbers."""
    with ZipFile(BytesIO(build(mixed, BundleChoice(**filters)).zip)) as archive:
        archive.extractall(tmp_path)
    (folder,) = [path.parent for path in tmp_path.rglob("manifest.json")]
    assert main(["reproduce", str(folder)]) == 0
    manifest = json.loads((folder / "manifest.json").read_text())
    header, *lines = [x.split("\t") for x in (folder / "scores.tsv").read_text().splitlines()]
    scores = {(x[0], x[1]): x[header.index("human")] for x in lines}
    has_human = "Human-B" in {system for system, _ in scores}
    assert has_human == ("without_systems" not in filters)
    assert manifest["human_systems"] == ([] if has_human else ["Human-B"])
    for table in manifest["tables"]:
        is_of_scores = "scores.tsv" in table["arguments"]
        assert ("--with-human" in table["arguments"]) == (has_human and is_of_scores)
    # The commands compute from all judgments what the page has.
    judged = (folder / "judgments.tsv").read_text()
    assert all(f"\t{name}\t" in judged for name in ("Human-B", "weak", "strong"))
    rows = json.loads((folder / "expected" / "human-scores.json").read_text())["rows"]
    ours = {(x["system"], x["segment"]): x["human"] for x in rows}
    assert {cell: ours[cell] for cell in scores} == {c: float(x) for c, x in scores.items()}
    assert {system for system, _ in ours} == {
        "humans": {"Human-B", "middling", "strong", "weak"},
        "without_systems": {"Human-B", "middling", "strong"},
        "systems": {"Human-B", "strong"},
    }[next(iter(filters))]
