"""Published human scores from any table: of outputs, of systems, and of systems alone."""

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.imports import human_scores, store_campaign, tables
from annotation.imports.drafts import CampaignDraft
from annotation.imports.judgments import Options
from annotation.models import Campaign, PublishedPart, PublishedScore, System, TestSet
from annotation.uploads import InputFile, Report
from core.extensions import address
from tests.annotation.tables.reading import DE_EN, as_files, at, counts, found, stored_scores
from tests.refusals import refused
from tests.world import World, make_user


def scores(slug: str) -> dict[tuple[str | None, str | None], float]:
    """The scores of a campaign by system and segment."""
    rows = PublishedScore.objects.filter(campaign__slug=slug).values_list(
        "output__system__name", "output__segment__key", "system__name", "value"
    )
    return {(of_output or name, segment): value for of_output, segment, name, value in rows}


def errors_of(files: list[InputFile], **options: object) -> list[tuple[str, str]]:
    report = Report()
    human_scores.read(files, Options(**options), report)  # type: ignore[arg-type]
    return found(report.errors)


@pytest.mark.parametrize("direction", ["zh-en", "de-en"])
def test_wmt17_as_from_its_own_importer(db: None, data_dir: Path, direction: str) -> None:
    names = ("seg-human.tsv", "sys-human.tsv", "segments.tsv", "outputs.tsv")
    source, target = direction.split("-")
    stored_scores(
        at(data_dir / "wmt17" / direction, *names),
        name="Own", source_language=source, target_language=target,
    )  # fmt: skip
    call_command("import_dataset", f"wmt17-{direction}", data=data_dir)
    assert scores("own") == scores(f"wmt17-{direction}")
    own, theirs = (TestSet.objects.get(slug=slug) for slug in ("own", f"wmt17-{direction}"))
    assert set(own.segments.values_list("key", "source")) == set(
        theirs.segments.values_list("key", "source")
    )
    assert set(own.systems.values_list("name", "outputs__content_key")) == set(
        theirs.systems.values_list("name", "outputs__content_key")
    )


def test_published_correlations_of_wmt15(db: None, data_dir: Path) -> None:
    """The table of metrics, as it is: its human column, six language pairs, systems alone."""
    folder = data_dir / "wmt15"
    launched = stored_scores(at(folder, "scores.tsv"), name="WMT15")
    assert len(launched) == 6
    metric: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for row in tables.read_table(folder / "scores.tsv"):
        metric[row["lp"], row["metric"]][row["system"]] = row.real("score")
    for row in tables.read_table(folder / "metric-correlations.tsv"):
        human = {name: value for (name, _), value in scores(f"wmt15-{row['lp']}").items()}
        own = metric[row["lp"], row["metric"]]
        assert len(human) == row.whole("n_systems")
        r = np.corrcoef([own[name] for name in human], list(human.values()))[0, 1]
        assert abs(r) == pytest.approx(row.real("published_r"), abs=1e-12)


def test_a_campaign_for_each_human_score(db: None, data_dir: Path) -> None:
    """The README: the mqm of a system is the mean of its 460 scored segments."""
    folder = data_dir / "wmt23-meta/en-de"
    launched = stored_scores(
        at(folder, "segment-scores.tsv", "system-scores.tsv"),
        name="WMT23", source_language="en", target_language="de",
    )  # fmt: skip
    assert [each.result.campaign.slug for each in launched] == [
        "wmt23-mqm", "wmt23-da_sqm", "wmt23-esa_1", "wmt23-esa_2",
    ]  # fmt: skip
    assert TestSet.objects.count() == 1
    mqm = scores("wmt23-mqm")
    for name in {system for system, _ in mqm}:
        own = [v for (system, segment), v in mqm.items() if system == name and segment]
        assert len(own) == 460
        assert np.mean(own) == pytest.approx(mqm[name, None], abs=1e-5)


def test_systems_alone_have_pages(db: None, data_dir: Path, client: Client) -> None:
    (launched,) = stored_scores(
        at(data_dir / "wmt17/zh-en", "sys-human.tsv"),
        name="Alone", source_language="zh", target_language="en",
    )  # fmt: skip
    campaign = launched.result.campaign
    assert (campaign.test_set.segments.count(), campaign.systems.count()) == (0, 16)
    client.force_login(make_user("reader", "admin"))
    pages = ("campaign-setup", "results", "monitor", "quality", "export", "correlations", "systems",
             "scatter", "whatif", "samplesize", "significance", "bundle",
             "report")  # fmt: skip
    for name in pages:
        page = client.get(reverse(name, args=[campaign.slug]))
        assert page.status_code == 200, name
    if layers := address("layers", campaign.slug):
        assert client.get(layers).status_code == 200
    assert client.get(reverse("run-start", args=["alone"])).status_code == 200
    for name in ("preferences", "preferences-start"):
        if found := address(name, "alone"):
            assert client.get(found).status_code == 200, name
    page = client.get(reverse("testset", args=["alone"]))
    assert page.status_code == 200
    again = stored_scores(
        at(data_dir / "wmt17/zh-en", "sys-human.tsv"),
        name="Alone", source_language="zh", target_language="en",
    )  # fmt: skip
    assert not again[0].result.is_new


def test_scores_of_a_stored_test_set(world: World) -> None:
    table = "segment\tsystem\tda\tMQM\n1\tstrong\t0.5\t-1\n1\tweak\t-0.25\t\n"
    launched = stored_scores(as_files(own_tsv=table), name="Later", test_set="harbour")
    assert [each.result.campaign.slug for each in launched] == ["later-da", "later-mqm"]
    assert scores("later-da") == {("strong", "1"): 0.5, ("weak", "1"): -0.25}
    assert scores("later-mqm") == {("strong", "1"): -1}
    assert TestSet.objects.count() == 1
    systems = "system,human\nstrong,0.4\nweak,0.1\n"
    stored_scores(as_files(systems_csv=systems), name="Whole", test_set="harbour")
    assert scores("whole") == {("strong", None): 0.4, ("weak", None): 0.1}


@pytest.mark.parametrize(
    ("table", "place", "code"),
    [
        ("segment\tsystem\tda\n9\tstrong\t1\n", "row 2, segment", "segment.unknown"),
        ("segment\tsystem\tda\n1\tnone\t1\n", "row 2, system", "system.unknown"),
        ("system\tda\nnone\t1\n", "row 2, system", "system.unknown"),
        ("segment\tsystem\tda\n1\tweak\tx\n", "row 2, da", "cell.not-a-number"),
        (
            "segment\tsystem\tda\n1\tweak\t1\n1\tweak\t2\n",
            "row 3, da",
            "human-scores.other-output-score",
        ),
        ("segment\tsystem\tda\n1\t\t1\n", "row 2, system", "system.missing"),
        ("segment\tsystem\tda\n\tweak\t1\n", "row 2, segment", "segment.missing"),
        ("segment\tsystem\tbleu\n1\tweak\t1\n", "row 1", "human-scores.no-score-column"),
        ("segment\tmt\tda\n1\tweak\t1\n", "row 1", "human-scores.no-system-column"),
    ],
)
def test_wrong_scores_are_named(world: World, table: str, place: str, code: str) -> None:
    errors = errors_of(as_files(own_tsv=table), test_set="harbour")
    assert (f"own.tsv, {place}", code) in errors


def test_a_score_needs_an_output(db: None) -> None:
    table = "segment\tsystem\tda\tsource\tmt\n1\talpha\t1\tEins\tOne\n"
    files = as_files(own_tsv=table, systems_tsv="system\tda\nbeta\t1\n")
    assert errors_of(files, **DE_EN) == [
        ("systems.tsv, row 2, system", "human-scores.system-without-outputs")
    ]


def test_other_scores_under_the_same_name_are_refused(world: World) -> None:
    draft = CampaignDraft("whole", "Whole", "?", system_scores={"strong": 0.4})
    campaign = CampaignDraft(
        **{**vars(draft), "length_ratio": System.objects.all()[0].length_ratio}
    )
    assert store_campaign(campaign, world.test_set).is_new
    assert not store_campaign(campaign, world.test_set).is_new
    other = CampaignDraft(**{**vars(campaign), "system_scores": {"strong": 0.5}})
    with refused("import.other-scores"):
        store_campaign(other, world.test_set)
    assert Campaign.objects.filter(slug="whole").count() == 1


def test_the_example_for_download_is_imported(db: None) -> None:
    path = Path(settings.BASE_DIR) / "static/examples/human-scores.tsv"
    launched = stored_scores([InputFile.at(path)])
    assert [each.result.n_published for each in launched] == [4, 3]


def test_notes_count_only_missing_and_repeated_cells(db: None) -> None:
    rows = ("1\ta\tx", "2\ta\t", "3\ta\tNA", "4\ta\t1", "4\ta\t1", "5\ta\t1", "5\ta\t2")
    good = [row for row in rows if row[-1] != "x"]
    reports = []
    for lines in (rows, good):
        report = Report()
        text = "\n".join(("segment\tsystem\tda", *lines, ""))
        human_scores.read(as_files(own_tsv=text), Options(**DE_EN), report)
        reports.append(counts([each for each in report.problems if each.severity != "error"]))
    assert reports[0] == {"human-scores.missing": 2}
    assert reports[1]["human-scores.missing"] == 2
    assert reports[1]["human-scores.copies"] == 1


SEGMENTS = """segment\tdocument\tdomain\tsource
1\talpha\tnews\tEins
2\talpha\tnews\tZwei
3\tbeta\tspeech\tDrei
"""
OUTPUTS = "segment\tsystem\toutput\n" + "".join(
    f"{key}\t{system}\t{system}{key}\n" for system in "ab" for key in (1, 2, 3)
)


def parts(slug: str) -> dict[tuple[str, str, str], float]:
    """The scores of documents and domains of a campaign."""
    rows = PublishedPart.objects.filter(campaign__slug=slug)
    return {
        (s, level, name): v
        for s, level, name, v in rows.values_list("system__name", "level", "name", "value")
    }


BY_COLUMN = {
    ("a", "document", "alpha"): 70.0, ("b", "document", "alpha"): 60.5,
    ("a", "document", "beta"): 41.0,
}  # fmt: skip
OF_DOCUMENTS = "document\tsystem\tscore\nalpha\ta\t70\nalpha\tb\t60.5\nbeta\ta\t41\n"
MIXED = """level\tsegment\tdocument\tdomain\tsystem\tscore
segment\t1\talpha\tnews\ta\t71
document\t2\talpha\tnews\ta\t70
document\t\talpha\t\tb\t60.5
doc\t\tbeta\t\ta\t41
domain\t\t\tspeech\ta\t39
system\t\t\t\ta\t55
"""


def test_scores_of_documents_with_their_texts(db: None) -> None:
    files = as_files(scores_tsv=OF_DOCUMENTS, segments_tsv=SEGMENTS, outputs_tsv=OUTPUTS)
    stored_scores(files, name="Own", **DE_EN)
    assert parts("own") == BY_COLUMN
    assert scores("own") == {}
    assert set(Campaign.objects.get().systems.values_list("name", flat=True)) == {"a", "b"}
    # They are scores of a stored test set, too, and the same import changes nothing.
    slug = TestSet.objects.get().slug
    for _ in range(2):
        again = stored_scores(as_files(scores_tsv=OF_DOCUMENTS), name="Again", test_set=slug)
    assert not again[0].result.is_new
    assert parts("again") == BY_COLUMN


def test_levels_in_a_column(db: None) -> None:
    files = as_files(scores_tsv=MIXED, segments_tsv=SEGMENTS, outputs_tsv=OUTPUTS)
    stored_scores(files, name="Own", **DE_EN)
    assert parts("own") == BY_COLUMN | {("a", "domain", "speech"): 39.0}
    assert scores("own") == {("a", "1"): 71.0, ("a", None): 55.0}


@pytest.mark.parametrize(
    ("table", "place", "code"),
    [
        ("document system score|gamma a 1", "row 2, document", "unknown-part"),
        ("domain system score|alpha a 1", "row 2, domain", "unknown-part"),
        ("document system score|alpha a 1|alpha a 2", "row 3, score", "other-part-score"),
        ("document system score|alpha c 1", "row 2, system", "system-without-outputs"),
        ("level document system score|page alpha a 1", "row 2, level", "level"),
        ("level document system score|yes  a 1", "row 2, document", "part-missing"),
    ],
)
def test_what_is_wrong_with_scores_of_documents(
    db: None, table: str, place: str, code: str
) -> None:
    lines = table.replace(" ", "\t").replace("|", "\n")
    files = as_files(scores_tsv=lines, segments_tsv=SEGMENTS, outputs_tsv=OUTPUTS)
    expected = [(f"scores.tsv, {place}", f"human-scores.{code}")]
    assert errors_of(files, name="Own", **DE_EN) == expected


def test_documents_without_a_test_set_are_refused(db: None) -> None:
    found = errors_of(as_files(scores_tsv=OF_DOCUMENTS), name="Own", **DE_EN)
    assert found == [("scores.tsv, row 2, document", "human-scores.parts-alone")]
