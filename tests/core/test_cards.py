"""Tables as cards: cells are named after their columns, whatever the head spans."""

import re

import pytest
from django.template import Context, Template

from core.templatetags.cards import columns, named

TWO_ROWS = (
    '<table data-sortable class="dense"><caption>c</caption><thead>'
    '<tr><th scope="col" rowspan="2">Who</th><th colspan="2" class="num">Raw <b>scores</b></th>'
    '<th rowspan="2">Signs &amp; "more"</th></tr><tr><th>mean</th><th>sd</th></tr></thead>'
    "<tbody><tr><th>A</th><td class=num>1</td><td>2</td><td></td></tr>"
    '<tr><th>B</th><td colspan="2">too few</td><td>x</td></tr></tbody></table>'
)


def test_names_of_two_rows_are_joined_and_spans_counted() -> None:
    shown = named(TWO_ROWS)
    assert re.findall(r'<td data-of="([^"]*)"', shown) == [
        "Raw scores, mean", "Raw scores, sd", "Signs &amp; &quot;more&quot;",
        "Raw scores, mean", "Signs &amp; &quot;more&quot;",
    ]  # fmt: skip
    assert '<table class="cards dense" data-sortable>' in shown
    # Nothing else has changed.
    bare = re.sub(r' data-of="[^"]*"', "", shown)
    assert bare == TWO_ROWS.replace(
        '<table data-sortable class="dense">', '<table class="cards dense" data-sortable>'
    )


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("<tr><th>A<th>B</tr>", ["A", "B"]),
        ('<tr><th>A</th><th colspan="2">B</th></tr>', ["A", "B", "B"]),
        ('<tr><td rowspan="2"></td><th colspan=2>B</th></tr><tr><th>1</th><th>2</th></tr>',
         ["", "B, 1", "B, 2"]),
    ],
)  # fmt: skip
def test_columns(head: str, expected: list[str]) -> None:
    assert columns(head) == expected


def test_in_a_template_texts_stay_escaped() -> None:
    page = Template(
        "{% load cards %}{% cards %}<table><thead><tr><th>{{ name }}</th><th>n</th></tr></thead>"
        "<tbody><tr><td>{{ name }}</td><td>1</td></tr></tbody></table>{% endcards %}"
    )
    shown = page.render(Context({"name": '<b onclick="x">'}))
    assert "<b " not in shown
    assert shown.count("data-of=") == 2
