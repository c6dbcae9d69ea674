"""Files without keys and the order of a test set, through every door."""

import json
from collections.abc import Callable
from html import unescape
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.exports import mtme
from annotation.models import Campaign, Output, TestSet
from annotation.uploads import InputFile, Submission, SystemFile, check_submission, store
from annotation.uploads.tables.lines import EXPORTED, KEY, LINES, LISTED, Listing, UnknownOrderError
from dashboards.panel.human import human_scores
from metrics.imported.held import read
from metrics.imported.storing import shown_imports
from tests.metaeval.published import CASES
from tests.metrics.imported.test_views import filled, read_again
from tests.refusals import tells
from tests.world import World

SCORES = CASES / "scores"
SET = "own"
Door = Callable[..., str]


def judged(folder: Path, rows: str = (SCORES / "shuffled_judgments.tsv").read_text()) -> Campaign:
    """Import a table of judgments without texts; its segments come in the order 3, 1, 2."""
    path = folder / "judgments.tsv"
    path.write_text(rows)
    languages = ("--source-language", "en", "--target-language", "de", "--name", SET)
    call_command("import_judgments", path, *languages, stdout=StringIO(), stderr=StringIO())
    return Campaign.objects.get(slug=SET)


def by_page(client: Client, name: str, content: str, lines: str) -> str:
    """Import on the page; return the preview."""
    address = f"/testsets/{SET}/scores/"
    sent = client.post(address, {"tables": SimpleUploadedFile(name, content.encode())})
    address = sent.headers["Location"]
    page = client.get(address).text
    if lines:
        address, page = read_again(client, address, filled(page, lines=lines))
    client.post(address, filled(page, lines=lines, **{"import": "1"}))
    return unescape(page)


def by_command(client: Client, name: str, content: str, lines: str) -> str:
    """Import by command; return its output."""
    path, out = Path(name), StringIO()
    path.write_text(content)
    options = ["--lines", lines] if lines else []
    try:
        call_command("import_scores", SET, path, *options, stdout=out, stderr=out)
    except CommandError as error:
        return f"{out.getvalue()}{error}"
    return out.getvalue()


def by_api(client: Client, name: str, content: str, lines: str) -> str:
    """Import over the API; return its answer as text."""
    files = [SimpleUploadedFile(name, content.encode())]
    data: dict[str, Any] = {"test_set": SET, "files": files, "lines": lines}
    answer = client.post("/api/imports/metric-scores/", data)
    return json.dumps(answer.json(), ensure_ascii=False)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, where commands read files."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def correlation(campaign: Campaign) -> float:
    """Pearson's r of the imported metric with the mean judgments, over outputs."""
    [shown] = shown_imports(campaign.test_set).values()
    cells = dict(read(shown.signature).cells())
    human = human_scores(campaign, "raw")
    pairs = [
        (human.values[i, j], cells[system.pk, segment])
        for i, system in enumerate(human.systems)
        for j, segment in enumerate(human.segments)
    ]
    return float(np.corrcoef(np.array(pairs).T)[0, 1])


SEG = (SCORES / "Perfect.seg.score").read_text()
ARRAYS = json.dumps({"X": [0.9, 0.6, 0.3], "Y": [0.95, 0.65, 0.35]})
FILES = pytest.mark.parametrize(
    ("name", "content"), [("Perfect.seg.score", SEG), ("Perfect.json", ARRAYS)]
)
DOORS = pytest.mark.parametrize("door", [by_page, by_command, by_api])


@DOORS
@FILES
def test_lines_are_not_matched_by_the_order_in_which_judgments_came(
    world: World, as_admin: Client, folder: Path, door: Door, name: str, content: str
) -> None:
    """The cases' README: r = .9993 by key and -.484 by the order of first appearance."""
    campaign = judged(folder)
    assert list(campaign.test_set.segments.values_list("key", flat=True)) == ["3", "1", "2"]
    TestSet.objects.filter(slug=SET).update(created_by=world.admin)
    shown = door(as_admin, name, content, "")
    assert "--lines" in shown
    assert not shown_imports(campaign.test_set)
    if door is by_page:
        assert 'name="lines"' in shown
    door(as_admin, name, content, KEY)
    assert correlation(campaign) == pytest.approx(0.9993, abs=5e-5)


@DOORS
@FILES
def test_lines_in_the_order_of_the_list_can_be_stated(
    world: World, as_admin: Client, folder: Path, door: Door, name: str, content: str
) -> None:
    campaign = judged(folder)
    TestSet.objects.filter(slug=SET).update(created_by=world.admin)
    door(as_admin, name, content, LISTED)
    assert correlation(campaign) == pytest.approx(-0.484, abs=5e-4)


@DOORS
def test_keys_match_without_a_question(
    world: World, as_admin: Client, folder: Path, door: Door
) -> None:
    campaign = judged(folder)
    TestSet.objects.filter(slug=SET).update(created_by=world.admin)
    keyed = "PerfectKeys.tsv", (SCORES / "perfect_keys.tsv").read_text()
    assert "--lines" not in door(as_admin, *keyed, "")
    assert correlation(campaign) == pytest.approx(0.9993, abs=5e-5)


def files_of(folder: Path, kind: str) -> Submission:
    """A new system without keys: a line an output, or a row an output."""
    texts = ["one", "two", "three"]
    submission = Submission(SET, SET, "en", "de")
    if kind == "lines":
        file = InputFile.holding("Z.txt", "".join(f"{text}\n" for text in texts).encode())
        submission.systems = [SystemFile(file, "Z")]
    else:
        rows = "system:Z\n" + "".join(f"{text}\n" for text in texts)
        submission.tables = [InputFile.holding("z.tsv", rows.encode())]
    return submission


def outputs_of(system: str) -> dict[str, str]:
    """The outputs of a system by the key of their segment."""
    return dict(Output.objects.filter(system__name=system).values_list("segment__key", "text"))


@pytest.mark.parametrize("kind", ["lines", "rows"])
@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (KEY, {"1": "one", "2": "two", "3": "three"}),
        (LISTED, {"3": "one", "1": "two", "2": "three"}),
    ],
)
def test_outputs_without_keys_are_added_as_stated(
    world: World, folder: Path, kind: str, lines: str, expected: dict[str, str]
) -> None:
    judged(folder)
    submission = files_of(folder, kind)
    [error] = check_submission(submission).report.errors
    assert error.code == "lines.unknown-order"
    submission.lines = lines
    checked = check_submission(submission)
    assert not checked.report.errors
    store(checked.draft)
    assert outputs_of("Z") == expected


def test_the_command_and_the_page_of_test_sets_ask_too(
    world: World, as_admin: Client, folder: Path
) -> None:
    judged(folder)
    TestSet.objects.filter(slug=SET).update(created_by=world.admin)
    (folder / "Z.txt").write_text("one\ntwo\nthree\n")
    out = StringIO()
    with pytest.raises(CommandError):
        call_command("import_testset", SET, "--system", "Z.txt", stdout=out, stderr=out)
    assert "--lines" in out.getvalue()
    assert not outputs_of("Z")
    call_command("import_testset", SET, "--system", "Z.txt", "--lines", "key", stdout=out)
    assert outputs_of("Z")["1"] == "one"
    words = {"name": SET, "source_language": "en", "target_language": "de"}
    for lines, status in (("", 422), ("key", 200)):
        files = {"systems": SimpleUploadedFile("Y2.txt", b"one\ntwo\nthree\n")}
        sent = as_admin.post("/testsets/upload/", {**words, "lines": lines, **files})
        assert as_admin.get(sent.headers["Location"]).status_code == status
    as_admin.post(sent.headers["Location"])
    assert outputs_of("Y2") == {"1": "one", "2": "two", "3": "three"}


def test_a_subset_takes_the_lines_of_its_keys(world: World, folder: Path) -> None:
    """Segments 3 and 2 of a file of four lines were judged."""
    campaign = judged(folder, "annotator\tsystem\tsegment\tscore\np\tX\t3\t30\np\tX\t2\t60\n")
    output = by_command(Client(), "m.seg.score", "X\t0.1\nX\t0.2\nX\t0.3\nX\t0.4\n", KEY)
    assert "Skipped 2 scores" in output
    [shown] = shown_imports(campaign.test_set).values()
    keys = dict(campaign.test_set.segments.values_list("pk", "key"))
    cells = {keys[segment or 0]: score for (_, segment), score in read(shown.signature).cells()}
    assert cells == {"2": 0.2, "3": 0.3}


def test_files_in_the_layout_of_wmt_without_texts_are_not_guessed(
    world: World, folder: Path
) -> None:
    """Exported segments come as they are listed, and lose their keys."""
    campaign = judged(folder)
    for path, lines in mtme.bundle(campaign):
        (folder / "out" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "out" / path).write_text("".join(lines))
    (folder / f"out/{SET}/metric-scores/en-de").mkdir(parents=True)
    (folder / f"out/{SET}/metric-scores/en-de/m.seg.score").write_text(SEG)
    # The address of the test set is made of its name and the pair.
    TestSet.objects.filter(slug=SET).update(slug="own-en-de")
    error, command = StringIO(), ("import_mtme", str(folder / "out" / SET), "--name")
    with pytest.raises(CommandError):
        call_command(*command, SET, stdout=StringIO(), stderr=error)
    assert tells(error.getvalue(), "stored.unknown-order")
    call_command(*command, "another", stdout=StringIO(), stderr=error)
    assert TestSet.objects.get(slug="another-en-de").is_in_file_order


@pytest.mark.parametrize(
    ("keys", "is_in_file_order", "is_unclear"),
    [
        (["1", "2", "3"], False, False),
        (["2", "5", "9"], False, False),
        (["3", "1", "2"], False, True),
        (["3", "1", "2"], True, True),
        (["a", "b"], True, False),
        (["a", "b"], False, True),
        (["a:1", "a:2"], False, True),
        (["only"], False, False),
        ([], False, False),
    ],
)
def test_an_order_is_clear_where_a_file_gave_it_or_numbers_ascend(
    keys: list[str], is_in_file_order: bool, is_unclear: bool
) -> None:
    listing = Listing(keys, [""] * len(keys), is_in_file_order)
    assert listing.is_unclear is is_unclear
    if is_unclear:
        with pytest.raises(UnknownOrderError):
            listing.key_of_lines()
    else:
        assert listing.key_of_lines() == keys
    assert listing.key_of_lines(LISTED) == keys


def test_what_lines_may_be_stated_to_be() -> None:
    listing = Listing(["3", "1", "2"], ["a", "b", "a"], is_in_file_order=False)
    assert listing.choices == LINES
    assert listing.key_of_lines(KEY) == ["1", "2", "3"]
    assert listing.key_of_lines(EXPORTED) == ["3", "2", "1"]
    assert Listing(["2", "0"], ["", ""], is_in_file_order=False).key_of_lines(KEY) == [
        "0", None, "2",
    ]  # fmt: skip
    names = Listing(["x", "1"], ["", ""], is_in_file_order=False)
    assert names.choices == (LISTED,)
    with pytest.raises(UnknownOrderError) as refused:
        names.key_of_lines(KEY)
    assert refused.value.message.code == "lines.no-numbers"


LONG = "segment\tsource\tsystem\toutput\n"


@pytest.mark.parametrize(
    ("table", "is_in_file_order"),
    [
        ("segment\tsource\ns2\tb\ns1\ta\n", True),
        (LONG + "s2\tb\tA\tx\ns1\ta\tA\ty\ns2\tb\tB\tx\ns1\ta\tB\ty\n", True),
        (LONG + "s2\tb\tA\tx\ns1\ta\tA\ty\ns1\ta\tB\tx\ns2\tb\tB\ty\n", False),
    ],
)  # fmt: skip
def test_a_table_gives_its_order_where_its_systems_agree(
    db: None, table: str, is_in_file_order: bool
) -> None:
    submission = Submission("new", "new", "en", "de")
    submission.tables = [InputFile.holding("t.tsv", table.encode())]
    checked = check_submission(submission)
    assert not checked.report.errors
    assert store(checked.draft).test_set.is_in_file_order is is_in_file_order


def test_line_aligned_files_of_a_source_file_work_as_before(world: World) -> None:
    submission = Submission("new", "new", "en", "de")
    submission.source = InputFile.holding("s.txt", b"a\nb\n")
    submission.systems = [SystemFile(InputFile.holding("Z.txt", b"x\ny\n"), "Z")]
    made = store(check_submission(submission).draft).test_set
    assert made.is_in_file_order
    again = Submission("new", "new", "en", "de")
    again.systems = [SystemFile(InputFile.holding("Z.txt", b"x\ny\n"), "Z")]
    assert not check_submission(again).report.errors
    assert outputs_of("Z") == {"1": "x", "2": "y"}
