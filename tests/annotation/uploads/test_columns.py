"""Columns of tables that nobody made for us: what each is taken for, and what a person says."""

import re

from django.template.loader import render_to_string

from annotation.forms.columns import ColumnsForm
from annotation.uploads.tables.columns import propose, renamed
from annotation.uploads.tables.rows import Table
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
