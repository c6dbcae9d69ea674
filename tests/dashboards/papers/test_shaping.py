"""A table for a paper shows what its reader chose, and nothing else changes."""

import csv
import io
import re

import pytest
from django.test import Client

from annotation.models import Campaign
from dashboards.pages import papertable
from dashboards.papers import latex
from dashboards.papers.fitting import Cell, Table
from dashboards.papers.shaping import CAPTION_WORDS, Shape, column_names, joined, shaped
from metaeval.replication.questions import STATISTICS

LONG = (
    "Agreement of metrics with humans. The human scores are means of z-scores over all annotators "
    "who were not excluded, and a metric that did not score all outputs has its number."
)


def table(rows: int = 3) -> Table:
    body: list[list[Cell]] = [[Cell("Overlap", is_bold=True)]]
    for n in range(rows):
        value = -0.05 - n / 3
        cells = [latex.number(value, is_bold=not n, mark="†"), latex.interval(value - 1, value)]
        body.append([Cell(f"m_{n}"), *cells, Cell(str(n + 1))])
    head = [
        [Cell(""), Cell("En-Zh", span=2), Cell("")],
        latex.texts("Metric", "τ-b", "95% interval", "Rank"),
    ]
    return Table(LONG, "t", "lrrr", head, body)


def grid(found: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in found.body]


def test_columns_are_named_by_their_heads() -> None:
    assert column_names(table()) == ["Metric", "En-Zh: τ-b", "En-Zh: 95% interval", "Rank"]


def test_rows_and_columns() -> None:
    found = shaped(table(), Shape(rows=["m_1"], columns=["En-Zh: 95% interval"]))
    assert [[c.span for c in row] for row in found.head] == [[1, 1], [1, 1]]
    assert grid(found) == [["Overlap"], ["m_1", "[−1.383, −0.383]"]]
    assert grid(shaped(table(), Shape(rows=["nothing"]))) == []


def test_numbers_are_written_again_from_their_values() -> None:
    found = shaped(table(1), Shape(places=2, has_zero=False, has_bold=False, has_marks=False))
    assert grid(found)[1] == ["m_0", "−.05", "[−1.05, −.05]", "1"]
    assert not any(cell.is_bold for row in found.body[1:] for cell in row)
    assert grid(shaped(table(1), Shape()))[1][1] == "−0.050†"


def test_rows_become_columns() -> None:
    found = shaped(table(2), Shape(is_transposed=True, columns=["Rank"]))
    assert [cell.text for cell in found.head[0]] == ["Metric", "m_0", "m_1"]
    assert grid(found) == [["Rank", "1", "2"]]


@pytest.mark.parametrize("caption", [LONG, "one, two and three " * 40, "x" * 300, ""])
def test_a_caption_is_short_and_nothing_of_the_longer_one_is_lost(caption: str) -> None:
    own = Table(caption, "t", "l", [latex.texts("h")], [latex.texts("a")], below=["see there"])
    found = shaped(own, Shape(are_notes_below=True))
    assert len(found.heading.split()) <= CAPTION_WORDS
    everything = " ".join([found.heading, *map(str, found.below)])
    assert set(caption.split()) <= set(everything.split())
    assert "see there" in everything
    assert [str(note) for note in shaped(own, Shape()).notes] == list(map(str, found.below))


def test_several_statistics_in_one_table() -> None:
    heads = latex.texts("Metric", "Rank", "τ-b", "95% interval", "r")
    rows = [latex.texts("a", 1, 0.5, "[0, 1]", 9), latex.texts("b", 2, 0.4, "[0, 1]", 8)]
    first = Table("c", "t", "lrrrr", [heads], rows)
    heads = latex.texts("Metric", "Rank", "SPA")
    other = Table("c", "t", "lrr", [heads], [latex.texts("b", 1, 0.9)])
    found = joined([("τ-b", first), ("SPA", other)])
    names = [
        "Metric",
        "τ-b: Value",
        "τ-b: 95% interval",
        "τ-b: Rank",
        "SPA: Value",
        "SPA: Rank",
        "r",
    ]
    assert column_names(found) == names
    assert grid(found) == [
        ["a", "0.5", "[0, 1]", "1", "–", "–", "9"],
        ["b", "0.4", "[0, 1]", "2", "0.9", "1", "8"],
    ]


def test_one_table_in_the_size_of_the_text() -> None:
    wide = Table("c", "t", "l" + "r" * 30, [latex.texts(*range(31))], [latex.texts(*"x" * 31)] * 90)
    source = latex.write(wide, is_whole=True)
    assert source.count(r"\begin{tabular}") == 1
    assert not re.search(r"\\(scriptsize|footnotesize|small)\b", source)


@pytest.mark.parametrize("name", ["a|b", "*x*", "<b>", "_y_", "`z`", "a\\b", "=1+1"])
def test_names_are_text_in_every_format(name: str) -> None:
    own = Table("c", "t", "lr", [latex.texts("Metric", name)], [[Cell(name), Cell("1")]])
    lines = papertable.markdown(own).splitlines()
    cells = re.split(r"(?<!\\)\|", lines[4])[1:-1]
    assert [re.sub(r"\\(.)", r"\1", cell.strip()) for cell in cells] == [name, "1"]
    assert name in papertable.cells(own)[1]
    assert "<b>" not in papertable.html(own)


def test_every_table_of_a_page_comes_as_a_file(rated: Campaign, as_researcher: Client) -> None:
    for page in ("results", "correlations", "systems", "dashboard", "significance", "systems-pair"):
        address = f"/campaigns/{rated.slug}/{page}/table"
        shown = as_researcher.get(f"{address}/")
        assert shown.status_code == 200, page
        place = "quality" if page == "dashboard" else page  # a part of that page
        html = as_researcher.get(f"/campaigns/{rated.slug}/{place}/").text
        assert f'href="{address}/' in html, page
        (tex, md, text) = (as_researcher.get(f"{address}.{fmt}") for fmt in ("tex", "md", "csv"))
        assert shown.context["sources"][0][2] == tex.text, page
        rows = list(csv.reader(io.StringIO(text.text)))
        assert len(rows) > 2, page
        assert len({len(row) for row in rows}) == 1, page
        assert sum(line.startswith("|") for line in md.text.splitlines()) == len(rows) + 1, page
        assert as_researcher.get(f"{address}.exe").status_code == 404
        assert as_researcher.get(f"{address}.tex?places=9").status_code == 400


def test_statistics_join_the_table_of_metrics(rated: Campaign, as_researcher: Client) -> None:
    others = [key for key in STATISTICS if key != "tau-b"][:3]
    query = "&".join(f"also={key}" for key in others)
    address = f"/campaigns/{rated.slug}/correlations"
    rows = list(csv.reader(io.StringIO(as_researcher.get(f"{address}/table.csv?{query}").text)))
    for key in others:
        document = as_researcher.get(f"{address}.json?statistic={key}").json()
        values = {row["label"]: row["value"] for row in document["rows"]}
        place = rows[0].index(f"{document['statistic_label']['text']}: Value")
        for row in rows[1:]:
            wanted = values[row[0]]
            found = row[place].replace("−", "-").lstrip("'")
            assert (
                found == "–" if wanted is None else float(found) == pytest.approx(wanted, abs=5e-4)
            )
    assert as_researcher.get(f"{address}/table/?also=nothing").status_code == 400


def test_metrics_are_chosen_by_ticking(rated: Campaign, as_researcher: Client) -> None:
    """All are ticked where the address names none."""
    page = as_researcher.get(f"/campaigns/{rated.slug}/correlations/").text
    ticks = re.findall(r'<input type="checkbox" name="metric"[^>]*>', page)
    assert len(ticks) > 1
    assert all("checked" in tick for tick in ticks)


def test_rows_below_a_name_go_with_it() -> None:
    """A table of blocks, such as sample sizes per metric, writes the name once."""
    rows = [latex.texts(*row) for row in (("A", "1"), ("", "2"), ("B", "3"), ("", "4"))]
    blocks = Table("Sizes.", "tab:s", "lr", [latex.texts("", "n")], rows)
    kept = shaped(blocks, Shape(rows=("B",)))
    assert [[cell.text for cell in row] for row in kept.body] == [["B", "3"], ["", "4"]]
    turned = shaped(blocks, Shape(is_transposed=True))
    assert [cell.text for cell in turned.head[0]] == ["", "A", "A", "B", "B"]
    page = papertable.html(blocks)
    assert "<th" in page
    assert not re.search(r"<th[^>]*></th>", page)
