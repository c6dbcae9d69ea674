"""LaTeX: everything escaped, booktabs, and the shape of the study's tables."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from django.conf import settings

from dashboards.papers import latex
from dashboards.papers.averages import Column, Line, latex_table, line

SPECIAL = re.compile(r"(?<!\\)[&%$#_{}~^]")


@pytest.mark.parametrize("text", ["50% & more", "a_b{c}", r"C:\x", "~^", "#1 $"])
def test_special_characters_are_escaped(text: str) -> None:
    escaped = latex.escape(text)
    for command in (r"\textbackslash{}", r"\textasciitilde{}", r"\textasciicircum{}"):
        escaped = escaped.replace(command, "")
    assert not SPECIAL.search(escaped)


def test_no_text_ends_a_comment_or_starts_a_command() -> None:
    table = latex.Table(
        "x\n\\input{/etc/passwd}", "a b\\c", "l", [latex.texts("h")], [], ["one\ntwo \\input{x}"]
    )
    source = latex.write(table)
    assert "% one two \\input{x}\n" in source
    assert "\\input{/etc" not in source
    assert r"\label{tab:a-b-c}" in source


def test_numbers() -> None:
    assert latex.write(
        latex.Table("c", "l", "rr", [], [[latex.number(-0.12345), latex.number(None)]])
    ).count(r"$-$0.123 & -- \\")
    assert latex.number(float("nan")).text == "–"


def published() -> dict[str, list[list[str]]]:
    specs = Path(__file__).parents[3] / "../shared/specs/study-tables.json"
    if not specs.exists():
        specs = Path(settings.DATA_DIR).parent / "specs/study-tables.json"
    tables: dict[str, list[list[str]]] = json.loads(specs.read_text())
    return tables


def plain(cell: str) -> float:
    return float(re.sub(r"<[^>]+>", "", cell))


def with_bold(row: Line, highest: list[float | None]) -> Line:
    cells = zip(row.cells, highest, strict=True)
    return replace(row, best=[value == most for (value, _), most in cells])


def test_table_6_of_the_study_in_its_own_shape() -> None:
    table = published()["table6_system_pearson"]
    groups: list[tuple[str, list[Line]]] = []
    for name, *cells in table[2:]:
        if not any(cells):
            groups.append((re.sub(r"<[^>]+>", "", name), []))
            continue
        values = [plain(cell) for cell in cells[:4]]
        if name == "BLEU*":
            groups.append(("", []))
        groups[-1][1].append(line(name, name, values))
        assert groups[-1][1][-1].average == pytest.approx(plain(cells[4]), abs=1.01e-4) or name in (
            # Printed averages that their own cells do not give.
            "ROUGE1-P",
            "ROUGE1-F1",
        )
    printed = [[value for value, _ in row.cells] for _, rows in groups for row in rows]
    highest = [max(column) for column in zip(*printed, strict=True)]
    marked = [(name, [with_bold(row, highest) for row in rows]) for name, rows in groups]
    columns = [
        Column("c", direction, percent)
        for direction in ("en-zh", "zh-en")
        for percent in ("80%", "50%")
    ]
    source = latex.write(latex_table("System level.", "six", columns, marked))
    assert r" & \multicolumn{2}{c}{En-Zh} & \multicolumn{2}{c}{Zh-En} & Ave. \\" in source
    assert r" & 80\% & 50\% & 80\% & 50\% &  \\" in source
    assert r"\multicolumn{6}{l}{\textbf{COMET}} \\" in source
    bold = {
        cell
        for row in table[2:]
        for cell in (re.sub(r"</?b>", "", c) for c in row[1:] if "<b>" in c)
    }
    # What the paper prints bold is what is best of its column here.
    assert {f"{float(b):.4f}" for b in re.findall(r"\\textbf\{([\d.]+)\}", source)} == bold
