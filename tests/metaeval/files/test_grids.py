"""Tables as pandas and R write them, with their index."""

import io

import pandas as pd
import pytest

from metaeval.files.grids import read_separated
from metaeval.files.workbooks import read_workbook

SCORES = pd.DataFrame({"score": [0.5, 0.25]}, index=["Online-A", "Online-B"])


@pytest.mark.parametrize("kind", ["csv", "tsv", "xlsx"])
def test_an_index_of_names_is_a_column(kind):
    data = io.BytesIO()
    if kind == "xlsx":
        SCORES.to_excel(data)
        (grid,) = read_workbook(data.getvalue()).tables
    else:
        SCORES.to_csv(data, sep="\t" if kind == "tsv" else ",")
        grid = read_separated(data.getvalue().decode(), kind)
    assert grid.header == ["unnamed 1", "score"]
    assert [cells for _, cells in grid.rows] == [["Online-A", "0.5"], ["Online-B", "0.25"]]
    assert [note.message.code for note in grid.notes if note.severity == "warning"] == [
        "table.column-named"
    ]


@pytest.mark.parametrize("index", [[0, 1], [7, 3]])
def test_an_index_of_numbers_is_skipped(index):
    grid = read_separated(SCORES.set_axis(index).to_csv(), "csv")
    assert (grid.header, [cells for _, cells in grid.rows]) == (["score"], [["0.5"], ["0.25"]])
    assert [note.message.code for note in grid.notes] == ["table.column-unnamed"]
