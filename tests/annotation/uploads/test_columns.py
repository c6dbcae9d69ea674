"""Columns of tables that nobody made for us: what each is taken for, and what a person says."""

import re
from collections.abc import Callable

import pytest
from django.template.loader import render_to_string

from annotation.forms.columns import ColumnsForm
from annotation.uploads.tables.columns import propose, renamed
from annotation.uploads.tables.rows import Cells, Table
from annotation.uploads.warnings import length, sizes_of
from core.messages import messages_of
from metaeval.files.names import Field
from metaeval.messages import message

SEGMENT = Field(
    "segment", message("x.segment", "Segment"), other_names="segment_id, seg_id, sid, id"
)
OUTPUT = Field(
    "output", message("x.output", "Output"), other_names="translation, hypothesis, hyp, mt"
)


def test_exact_names_go_before_synonyms_and_those_by_their_order() -> None:
    assert propose(["id", "Seg-ID", "MT"], [SEGMENT, OUTPUT]) == {
        "Seg-ID": "segment", "MT": "output",
    }  # fmt: skip
    assert propose(["sid", "segment"], [SEGMENT]) == {"segment": "segment"}


def test_choices_of_the_person_do_not_change() -> None:
    chosen = {"id": "segment", "hyp": ""}
    assert propose(["id", "sid", "hyp", "mt"], [SEGMENT, OUTPUT], chosen) == {
        **chosen, "mt": "output",
    }  # fmt: skip


def test_renaming_drops_unused_columns() -> None:
    table = Table("t.tsv", ["sid", "segment", "note"], [(2, {"sid": "1", "segment": "x"})])
    found = renamed(table, {"sid": "segment", "segment": ""})
    assert found.columns == ["segment", "note"]
    assert found.rows == [(2, {"segment": "1"})]


def test_two_columns_for_one_field_are_refused_by_name() -> None:
    data = {"column-0": "segment", "column-1": "segment", "column-2": ""}
    form = ColumnsForm(["sid", "id", "note"], [SEGMENT], {}, data)
    ((number, (error,)),) = form.errors.as_data().items()
    (about,) = messages_of(error)
    assert (number, about.code) == ("1", "columns.meaning-taken")
    assert about.parameters == {"column": "sid"}
    form = ColumnsForm(["sid", "id"], [SEGMENT], {}, {"column-0": "segment", "column-1": ""})
    assert form.is_valid()
    assert form.chosen == {"sid": "segment", "id": ""}


def test_a_comment_in_brackets_is_not_part_of_a_name() -> None:
    score = Field("score", message("x.score", "Score"), other_names="rating, quality")
    assert propose(["quality(0-6)"], [score]) == {"quality(0-6)": "score"}
    assert propose(["Rating [0-100] "], [score]) == {"Rating [0-100] ": "score"}
    assert propose(["(score)"], [score]) == {"(score)": "score"}
    assert propose(["quality (0-6) of sources"], [score]) == {}


def test_a_column_without_a_value_has_an_empty_cell() -> None:
    """Styles hide cells without any content on phones."""
    form = ColumnsForm(["sid", "note"], [SEGMENT], {}, samples={"sid": "a1"})
    page = render_to_string("annotation/_columns.html", {"form": form})
    cells = re.findall(r'dir="auto">(.*?)</td>', page, re.DOTALL)
    assert cells == ["a1", ""]


CELLS = {"segment": ["1", "2", "3"], "source": ["a", "b", "c"], "note": ["x", "", "z"]}
LINES = [2, 4, 5]


def held() -> tuple[Table, Table]:
    """Return a table held by column, and the same one held by row."""
    rows = [
        (line, {name: cells[n] for name, cells in CELLS.items()}) for n, line in enumerate(LINES)
    ]
    return Table("t.tsv", list(CELLS), Cells(LINES, CELLS)), Table("t.tsv", list(CELLS), rows)


CHANGES: dict[str, Callable[[Table], Table]] = {
    "nothing": lambda table: table,
    "rows are chosen": lambda table: table.with_rows([True, False, True]),
    "columns are renamed": lambda table: table.with_columns({"note": "output", "segment": "key"}),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("is_read", [False, True], ids=["before a loop", "after a loop"])
def test_a_table_by_column_is_the_table_by_row(
    change: Callable[[Table], Table], is_read: bool
) -> None:
    ours, wanted = held()
    if is_read:
        list(ours.rows)
    ours, wanted = change(ours), change(wanted)
    assert (len(ours.rows), ours.lines, ours.columns) == (
        len(wanted.rows), wanted.lines, wanted.columns,
    )  # fmt: skip
    for column in (*wanted.columns, "absent"):
        assert list(ours.column(column)) == list(wanted.column(column))
    assert (ours.rows[-1], list(ours.rows[:1])) == (wanted.rows[-1], list(wanted.rows[:1]))
    assert list(ours.rows) == list(wanted.rows)


def test_what_a_loop_changes_stays_changed() -> None:
    table, _ = held()
    for _, row in table.rows:
        row["note"] = row["note"].upper()
    assert table.column("note") == ["X", "", "Z"]
    assert table.with_rows([True, False, False]).column("note") == ["X"]


@pytest.mark.parametrize("text", ["a b", " a", "a  b", "a\u00a0b", "a\u3000b\n", "", " ", "一 艘"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_many_texts_are_measured_as_one(text: str, language: str) -> None:
    texts = ["first one", text, "last"]
    assert sizes_of(texts, language) == [length(each, language) for each in texts]
