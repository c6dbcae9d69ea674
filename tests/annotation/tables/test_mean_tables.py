"""What spreadsheets and programs do to tables: totals, dates, empty columns, names of their own."""

import json
from typing import Any

import pytest

from annotation.uploads import InputFile, Submission, check_submission
from tests.annotation.uploads.test_workbooks import book, codes
from tests.files.doors import of_talks
from tests.files.test_rules import DOORS, ROWS, separated

pytestmark = pytest.mark.django_db


def as_csv(rows: list[dict[str, Any]], name: str = "t.csv") -> InputFile:
    return InputFile.holding(name, separated(rows).encode())


@pytest.mark.parametrize("word", ["Total", "Average:", "Mittelwert", "moyenne", "průměr", "平均"])
@pytest.mark.parametrize("door", ["judgments", "human scores"])
def test_a_last_row_that_sums_up_the_others_is_refused_or_skipped(door: str, word: str) -> None:
    score = "score" if door == "judgments" else "human"
    rows = [{"annotator": "R", "system": "A", "segment": n, score: 60 + n} for n in (1, 2, 3)]
    for row in rows if door == "human scores" else ():
        del row["annotator"]
    first = next(iter(rows[0]))
    for column in {first, "segment", "system"}:
        last = dict.fromkeys(rows[0], "") | {column: word, score: 62}
        _, report = DOORS[door](as_csv([*rows, last]), frozenset(), {})
        assert ("table.totals", 5) in [(e.code, e.place.row) for e in report.errors]
        wanted, _ = DOORS[door](as_csv(rows), frozenset(), {})
        found, report = DOORS[door](as_csv([*rows, last]), frozenset({"unusable"}), {})
        assert (found, report.errors) == (wanted, [])
    # A segment of this name among others is one.
    _, report = DOORS[door](
        as_csv([rows[0] | {"segment": word.strip(":")}, *rows]), frozenset(), {}
    )
    assert report.errors == []


@pytest.mark.parametrize("names", ["Column{}", "Spalte{}", "Colonne{}", "列{}"])
@pytest.mark.parametrize("door", DOORS)
def test_names_that_excel_gives_are_no_header(door: str, names: str) -> None:
    of_talks(3)
    wanted, _ = DOORS[door](as_csv(ROWS[door]), frozenset(), {})
    text = separated(ROWS[door])
    above = ",".join(names.format(n + 1) for n in range(len(ROWS[door][0])))
    file = InputFile.holding("t.csv", f"{above}\n{text}".encode())
    found, report = DOORS[door](file, frozenset(), {})
    assert (found, report.errors) == (wanted, [])
    assert "table.titles" in codes(report.warnings)


@pytest.mark.parametrize("cell", ["01. Apr", "4. Mai", "2-Jan", "5. led", "1/Mar/2025"])
def test_numbers_that_a_spreadsheet_took_for_dates_are_an_error(cell: str) -> None:
    rows = [{"annotator": "R", "system": "A", "segment": 1, "score": cell},
            {"annotator": "R", "system": "A", "segment": 2, "score": 4}]  # fmt: skip
    _, report = DOORS["judgments"](as_csv(rows), frozenset(), {})
    assert "scores.dates" in codes(report.errors)


@pytest.mark.parametrize("empty", ["", None])
@pytest.mark.parametrize("door", DOORS)
def test_an_empty_column_leaves_its_field_to_another(door: str, empty: str | None) -> None:
    of_talks(3)
    wanted, _ = DOORS[door](as_csv(ROWS[door]), frozenset(), {})
    rows = [
        {"segment": empty, **{"sid" if c == "segment" else c: v for c, v in row.items()}}
        for row in ROWS[door]
    ]
    lines = "\n".join(map(json.dumps, rows))
    name, text = ("t.csv", separated(rows)) if empty == "" else ("t.jsonl", lines)
    found, report = DOORS[door](InputFile.holding(name, text.encode()), frozenset(), {})
    assert (found, report.errors) == (wanted, [])


def test_a_title_in_merged_cells_is_above_the_header_of_a_workbook() -> None:
    """Rows of a workbook end at their last cell with content."""
    of_talks(3)
    rows = [[*ROWS["judgments"][0], "comment"], *([*row.values()] for row in ROWS["judgments"])]
    wanted, _ = DOORS["judgments"](InputFile.holding("t.xlsx", book(Sheet=rows)), frozenset(), {})
    titled = book(Sheet=[["Evaluation 2025"], [], *rows])
    found, report = DOORS["judgments"](InputFile.holding("t.xlsx", titled), frozenset(), {})
    assert (found, report.errors) == (wanted, [])
    assert "table.titles" in codes(report.warnings)


@pytest.mark.parametrize("cells", [("4", "5"), ("=", "<"), ("", "1")])
def test_ratings_of_translations_are_no_outputs(cells: tuple[str, str]) -> None:
    rows = [
        {"segment": str(n), "source": f"Satz {n}", "translation.A": f"Sentence {n}",
         "translation.rating": cell}
        for n, cell in enumerate(cells, 1)
    ]  # fmt: skip
    (systems, *_), report = DOORS["test set"](as_csv(rows), frozenset(), {})
    assert "rating" not in str(systems)
    assert "columns.unused" in codes(report.warnings)


def test_columns_called_as_scores_are_no_systems() -> None:
    rows = [{"segment": str(n), "grammar_score": n, "style_score": n + 1} for n in (1, 2)]
    _, report = DOORS["human scores"](as_csv(rows), frozenset(), {})
    assert "judgments.column-per-system" not in codes(report.notes)
    assert "human-scores.no-system-column" in codes(report.errors)


@pytest.mark.parametrize("where", ["rows", "file"])
def test_languages_and_keys_beside_and_in_objects(where: str) -> None:
    """What is beside a list is no key of its rows, and the own key of a row goes first."""
    pair = {"language_pair": {"source": "de", "target": "en"}}
    rows = [{"id": n, "source": f"Satz {n}", "meta": {"source_id": "x"}} for n in (1, 2)]
    whole: Any = {"segment": "development", **pair, "entries": rows}
    text = (
        json.dumps(whole) if where == "file" else "\n".join(json.dumps(row | pair) for row in rows)
    )
    submission = Submission("s", "S", "", "", tables=[InputFile.holding("t.json", text.encode())])
    checked = check_submission(submission)
    assert checked.report.errors == []
    assert [each.key for each in checked.draft.segments] == ["1", "2"]
    assert (checked.draft.source_language, checked.draft.target_language) == ("de", "en")


@pytest.mark.parametrize("order", [[1, 2, 3], [3, 1, 2], [2, 3]])
@pytest.mark.parametrize("names", [True, False])
def test_scores_beside_sources_are_those_of_their_segments(order: list[int], names: bool) -> None:
    """COMET writes `src` and no keys; rows in another order than the test set have other scores."""
    of_talks(3)
    system = {"system": "Nemo"} if names else {}
    rows = [system | {"segment": str(n), "src": f"S {n}", "COMET": n / 10} for n in order]
    name = "COMET-Nemo.csv"
    wanted, _ = DOORS["metric scores"](as_csv(rows, name), frozenset(), {})
    for row in rows:
        del row["segment"]
    found, report = DOORS["metric scores"](as_csv(rows, name), frozenset(), {})
    assert (found, report.errors) == (wanted, [])
    assert "spans.by-source" in codes(report.notes)
    # Other sources cannot say whose the scores are.
    _, report = DOORS["metric scores"](
        as_csv([row | {"src": "Unknown"} for row in rows], name), frozenset(), {}
    )
    assert "scores.sources-unclear" in codes(report.warnings)


@pytest.mark.parametrize("titles", [
    ("system_{}", "score_{}"), ("System {}", "Rating {}"), ("model{}", "score{}"),
])  # fmt: skip
@pytest.mark.parametrize("numbers", ["AB", "12"])
def test_rows_that_name_their_systems_have_the_scores_of_these(
    titles: tuple[str, str], numbers: str
) -> None:
    """The side on which a system was shown differs by row; no system is called A."""
    shown = ((("Nemo", 80), ("Dory", 70)), (("Dory", 90), ("Nemo", 60)))
    long = [
        {"annotator": "R", "segment": n, "system": name, "score": value}
        for n, sides in enumerate(shown, 1)
        for name, value in sides
    ]
    system, score = titles
    wide = [
        {"annotator": "R", "segment": n}
        | {system.format(side): name for side, (name, _) in zip(numbers, sides, strict=True)}
        | {score.format(side): value for side, (_, value) in zip(numbers, sides, strict=True)}
        for n, sides in enumerate(shown, 1)
    ]
    wanted, _ = DOORS["judgments"](as_csv(long), frozenset(), {})
    found, report = DOORS["judgments"](as_csv(wide), frozenset(), {})
    assert report.errors == []
    assert found == wanted
    assert "table.systems-by-row" in codes(report.notes)


def test_wmts_rankings_are_refused_as_ranks_and_read_as_scores_if_that_is_chosen() -> None:
    row = {"judgeID": "R", "segmentId": 1, "system1Number": 1, "system1Id": "A",
           "system2Number": 2, "system2Id": "B", "system1rank": 2, "system2rank": 1}  # fmt: skip
    _, report = DOORS["judgments"](as_csv([row]), frozenset(), {})
    assert [error.code for error in report.errors] == ["scores.ranks"]
    chosen = {"rank": "score", "judgeID": "annotator", "(words)": "2 < 1"}
    _, report = DOORS["judgments"](as_csv([row]), frozenset(), chosen)
    assert "scores.ranks" not in codes(report.errors)
