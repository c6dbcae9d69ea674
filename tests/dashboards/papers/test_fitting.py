"""Tables no wider than a page: type, wrapped names, parts."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from dashboards.papers import latex
from dashboards.papers.fitting import (
    MOST_ROWS,
    NORMAL,
    TEXT_WIDTH,
    Cell,
    Table,
    fitted,
    text_width,
    width,
)
from tests.dashboards.tex import problems


def table(n_columns: int, n_rows: int = 3, name: str = "chrF") -> Table:
    head = [latex.texts("Metric", *(f"column {n}" for n in range(n_columns)))]
    body = [latex.texts(f"{name} {row}", *["0.123 [0.100, 0.150]"] * n_columns)
            for row in range(n_rows)]  # fmt: skip
    return Table("Caption.", "label", "l" + "r" * n_columns, head, body)


def spanned() -> Table:
    pairs = [Cell(f"Direction {n}", span=2) for n in range(6)]
    return Table(
        "Caption.", "label", "l" + "r" * 12,
        [[Cell(""), *pairs], latex.texts("", *["80%", "50%"] * 6)],
        [[Cell("ROUGE", is_bold=True)], latex.texts("ROUGEL-R", *["0.1234 [0.1, 0.2]"] * 12)],
    )  # fmt: skip


def test_a_narrow_table_is_written_as_it_is() -> None:
    (only,) = fitted(table(2))
    assert (only.size, only.columns, only.table) == (NORMAL, "lrr", table(2))
    assert "part" not in latex.write(table(2)).lower()


@pytest.mark.parametrize("wide", [table(3), table(5), table(9), table(40), spanned()])
def test_no_part_is_wider_than_the_text(wide: Table) -> None:
    parts = fitted(wide)
    assert all(width(part.table, part.size) <= TEXT_WIDTH for part in parts)
    assert problems(latex.write(wide)) == []


def test_parts_hold_every_column_once_beside_the_names() -> None:
    parts = fitted(table(40))
    assert len(parts) > 3
    heads = [[cell.text for cell in part.table.head[0]] for part in parts]
    assert {head[0] for head in heads} == {"Metric"}
    assert [text for head in heads for text in head[1:]] == [f"column {n}" for n in range(40)]
    labels = [part.table.label for part in parts]
    assert labels == [f"label-{place}" for place in range(1, len(parts) + 1)]
    assert parts[1].table.caption == f"Caption. Part 2 of {len(parts)}."


def test_a_spanning_head_is_not_cut() -> None:
    parts = fitted(spanned())
    assert len(parts) > 1
    assert {cell.span for part in parts for cell in part.table.head[0][1:]} == {2}
    assert all(part.table.body[0] == [Cell("ROUGE", is_bold=True)] for part in parts)


def test_long_names_are_wrapped() -> None:
    (only,) = fitted(table(2, name="bert-base-multilingual-cased of layer eight, recall"))
    assert only.columns == "p{130pt}rr"


def test_long_tables_are_cut_and_headings_stand_again() -> None:
    long = table(1, n_rows=2 * MOST_ROWS)
    body = [[Cell("Lexical", is_bold=True)], *long.body]
    parts = fitted(Table("c", "l", "lr", long.head, body))
    assert [len(part.table.body) for part in parts] == [MOST_ROWS, MOST_ROWS, 3]
    assert {part.table.body[0][0].text for part in parts} == {"Lexical"}


def test_widths_are_those_of_the_fonts() -> None:
    """cmr10: ten digits are 50 pt, and Chinese characters are squares of the size of the type."""
    assert text_width(Cell("0123456789")) == pytest.approx(50.0)
    assert text_width(Cell("系统")) == 20.0
    assert text_width(Cell("é")) == text_width(Cell("e"))
    assert text_width(Cell("0", is_bold=True)) == pytest.approx(5.75)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no TeX is installed")
@pytest.mark.parametrize("wide", [table(3), table(4), table(9, 60), spanned()])
def test_tex_finds_no_line_too_wide(wide: Table, tmp_path: Path) -> None:
    source = "\\documentclass{article}\\usepackage{booktabs}\\begin{document}%s\\end{document}"
    (tmp_path / "paper.tex").write_text(source % latex.write(wide))
    command = ["pdflatex", "-interaction=nonstopmode", "paper.tex"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=120)
    log = (tmp_path / "paper.log").read_text(errors="replace")
    assert re.findall(r"^Overfull.*|Float too large.*|^! .*", log, re.MULTILINE) == []
