"""Check files with several language pairs: one test set or campaign per pair, in every door."""

from pathlib import Path

import pytest
from django.test import Client

from annotation.models import Campaign, TestSet
from annotation.uploads import InputFile, Submission, check_pairs
from metrics.models import MetricImport, SegmentSpans
from tests.files import doors
from tests.files.test_rules import ROWS, lines
from tests.refusals import tells
from tests.world import World

pytestmark = pytest.mark.django_db
SET = (
    "lp,segment,source,reference,system,output\n"
    "en-de,1,One.,Eins.,A,Ein.\nen-cs,1,One.,Jeden.,A,Jedna.\nen-de,2,Two.,Zwei.,A,Zwo.\n"
)
WORDS = {"name": "News 2025", "source_language": "en", "target_language": "de"}


def test_one_test_set_for_each_pair(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(SET)
    doors.run("import_testset", "news", "--pair", "all", "--table", path)
    assert doors.texts("news-en-de") == [
        ("1", "One.", {"A": "Eins."}, {"A": "Ein."}), ("2", "Two.", {"A": "Zwei."}, {"A": "Zwo."}),
    ]  # fmt: skip
    assert doors.texts("news-en-cs") == [("1", "One.", {"A": "Jeden."}, {"A": "Jedna."})]
    assert TestSet.objects.get(slug="news-en-cs").direction == "en-cs"
    again = doors.run("import_testset", "news", "--pair", "all", "--table", path)
    assert again.count("nothing changed") == 2
    assert TestSet.objects.count() == 2


def test_one_pair_can_be_chosen(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(SET)
    doors.run("import_testset", "news", "--pair", "en-cs", "--table", path)
    assert doors.texts("news") == [("1", "One.", {"A": "Jeden."}, {"A": "Jedna."})]


def test_an_error_in_one_pair_refuses_all_of_them() -> None:
    file = InputFile.holding("t.csv", SET.replace("Jeden.,A", "Jeden.,A\x00").encode())
    submission = Submission("n", "N", "en", "de", tables=[file], pair="all")
    found = check_pairs(submission)
    assert len(found) == 2
    (error,) = found[0].report.errors
    assert error is found[1].report.errors[0]
    assert error.place.row == 3


@pytest.mark.parametrize(("chosen", "slugs"), [
    ("all", ["news-2025-en-cs", "news-2025-en-de"]), ("en-cs", ["news-2025"]), ("", ["news-2025"]),
])  # fmt: skip
def test_the_page_offers_every_pair_and_all(
    world: World, as_admin: Client, chosen: str, slugs: list[str]
) -> None:
    file = InputFile.holding("t.csv", SET.encode()).open()
    file.name = "t.csv"
    page = as_admin.post("/testsets/upload/", WORDS | {"tables": file}, follow=True)
    assert [value for value, _ in page.context["understanding"].pair.fields["pair"].choices] == [
        "", "en-cs", "all"
    ]  # fmt: skip
    address = page.redirect_chain[-1][0]
    (table,) = page.context["understanding"].tables
    columns = {table.add_prefix(name): each.initial for name, each in table.fields.items()}
    if chosen:
        page = as_admin.post(address, columns | {"pair": chosen, "change": "1"}, follow=True)
        address = page.redirect_chain[-1][0]
    assert len(page.context["parts"]) == len(slugs)
    as_admin.post(address, columns | {"pair": "all" if chosen == "all" else ""}, follow=True)
    made = TestSet.objects.filter(slug__startswith="news")
    assert sorted(made.values_list("slug", flat=True)) == slugs
    if chosen == "en-cs":
        assert made.get().direction == "en-cs"


@pytest.mark.parametrize("door", ["judgments", "human scores"])
def test_one_campaign_for_each_pair(tmp_path: Path, door: str) -> None:
    codes = ("de-en", "cs-en")
    rows = [row | {"lp": code} for row, code in zip(ROWS[door], codes, strict=True)]
    path = tmp_path / "pilot.jsonl"
    path.write_text(lines(rows))
    command = {"judgments": "import_judgments", "human scores": "import_human_scores"}[door]
    doors.run(command, path)
    found = {each.test_set.direction for each in Campaign.objects.select_related("test_set")}
    assert found == set(codes)


def two_sets() -> None:
    doors.of_talks(2)
    other = TestSet.objects.create(slug="cs", name="cs", source_language="zh", target_language="cs")
    for segment in TestSet.objects.get(slug="talks").segments.all():
        copied = other.segments.create(key=segment.key, position=segment.position, source="S")
        system, _ = other.systems.get_or_create(name="Nemo")
        system.outputs.create(segment=copied, text="Něco málo.")


@pytest.mark.parametrize("door", ["metric scores", "spans"])
def test_every_test_set_takes_the_rows_of_its_pair(tmp_path: Path, door: str) -> None:
    two_sets()
    rows = [row | {"lp": code} for row, code in zip(ROWS[door], ("zh-en", "zh-cs"), strict=True)]
    path = tmp_path / "t.jsonl"
    path.write_text(lines(rows))
    command, options = {
        "spans": ("import_spans", {"name": "m", "ends": "excluded"}),
        "metric scores": ("import_scores", {}),
    }[door]
    alone = doors.run(command, "talks", path, "--dry-run", **options)
    assert tells(alone, "pair.of-other-test-sets")
    # Each row has its test set.
    both = doors.run(command, "talks", path, "--also", "cs", **options)
    assert not tells(both, "pair.of-other-test-sets")
    if door == "spans":
        found = SegmentSpans.objects.values_list("output__system__test_set__slug", "spans")
        assert {slug: spans[0][1:3] for slug, spans in found} == {"talks": [0, 4], "cs": [0, 4]}
    else:
        assert {each.test_set.slug: each.n_outputs for each in MetricImport.objects.all()} == {
            "talks": 1, "cs": 1
        }  # fmt: skip


def test_the_page_passes_files_on_to_the_test_set_of_another_pair(
    world: World, as_admin: Client
) -> None:
    two_sets()
    TestSet.objects.update(created_by=world.admin)
    codes = ("zh-en", "zh-cs")
    rows = [row | {"lp": lp} for row, lp in zip(ROWS["metric scores"], codes, strict=True)]
    file = InputFile.holding("t.jsonl", lines(rows).encode()).open()
    file.name = "t.jsonl"
    page = as_admin.post("/testsets/talks/scores/", {"tables": file}, follow=True)
    assert [each.slug for each in page.context["other_sets"]] == ["cs"]
    seen = {"seen": page.context["checked"].fingerprint}
    own = {"take-0": "on", "name-0": "COMET", "better-0": "higher"}
    address = page.redirect_chain[-1][0]
    sent = {**seen, **own, "import": "1"}
    for bound in page.context["columns"]:
        sent[bound.html_name] = bound.initial or ""
    page = as_admin.post(address, sent, follow=True)
    assert MetricImport.objects.get().test_set.slug == "talks"
    assert [each.slug for each in page.context["other_sets"]] == ["cs"]
    kept = page.context["kept"]
    page = as_admin.get(f"/testsets/cs/scores/?check={kept}")
    assert page.context["checked"].metrics[0].n_outputs == 1
