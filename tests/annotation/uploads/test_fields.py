"""Every name of a field is understood by every import that reads the field."""

import pytest

from annotation.imports.judgments.fields import OF_SPANS, sheets_of
from annotation.uploads.tables.columns import propose
from annotation.uploads.tables.rows import Table
from metaeval.files.names import FIELDS, IMPORTS, JUDGMENTS, NAMES, fields_of, plain
from tests.files.test_rules import DOORS, ROWS, read, separated

# Start and end of an error are those of the rating where no column has severities.
RATINGS_FIRST = {"start", "begin", "end"}
# The name of a penalty says that lower is better, and the signs of these scores do not.
UNCLEAR = {"direction.column-unclear"}
PLACES = [(field.name, door) for field in FIELDS for door in IMPORTS if door in field.imports]


@pytest.mark.parametrize(("name", "door"), PLACES)
def test_every_name_is_the_field_that_the_registry_says(name: str, door: str) -> None:
    field = next(each for each in FIELDS if each.name == name)
    wanted = field.imports[door]
    for each in field.names:
        if door == JUDGMENTS and wanted in OF_SPANS and wanted != "severity":
            # An error without a place is the words that it marks.
            place = ["start"] if wanted == "category" else []
            (sheet,) = sheets_of([Table("t.csv", ["severity", *place, each])], [{}])
            assert sheet.fields[each] == wanted
        else:
            columns = [each] if wanted != "category" else ["severity", each]
            assert propose(columns, fields_of(door))[each] == wanted, each


@pytest.mark.parametrize(
    "header",
    [
        "Satz-ID, Quelltext, Übersetzung, System, Bewerterin, Punktzahl, Zeitstempel, Bemerkung",
        "id segment, phrase source, traduction, système, annotatrice, évaluation, horodateur, "
        "commentaires",
        "ID_segmento, texto origen, traduccion, sistema, evaluadora, puntuacion, marca temporal, "
        "comentarios",
        "id da frase, texto fonte, tradução, sistema, avaliador, pontuação, carimbo de data/hora, "
        "observações",
        "číslo věty, zdrojový text, překlad, systém, anotátorka, hodnocení, časové razítko, "
        "poznámka",
        "номер предложения, исходный текст, перевод, система, асессор, оценка, время, комментарий",
        "句子编号, 原文, 译文, 系统, 评分人, 得分, 时间戳, 备注",
        "文番号, 原文, 訳文, システム, 評価者, 評点, タイムスタンプ, コメント",
    ],
)
def test_headers_in_the_language_of_whoever_made_the_table(header: str) -> None:
    columns = header.split(", ")
    found = propose(columns, fields_of(JUDGMENTS))
    wanted = ["segment", "source", "output", "system", "annotator", "score", "submitted_at",
              "comment"]  # fmt: skip
    assert [found.get(column) for column in columns] == wanted


def test_no_name_means_two_things_in_every_table() -> None:
    owners: dict[str, set[str]] = {}
    for field, names in NAMES.items():
        for each in (field, *names):
            owners.setdefault(plain(each), set()).add(field)
    assert {name for name, fields in owners.items() if len(fields) > 1} == RATINGS_FIRST


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("door", "column"), [(door, column) for door in DOORS for column in ROWS[door][0]]
)
def test_a_table_says_the_same_whatever_its_columns_are_called(door: str, column: str) -> None:
    imported = dict(zip(DOORS, IMPORTS, strict=True))[door]
    field = next((f for f in FIELDS if column in f.names and imported in f.imports), None)
    if field is None:
        pytest.skip("a metric has any name")
    wanted, _ = read(door, "t.csv", separated(ROWS[door]))
    names = {
        n for f in FIELDS if f.imports.get(imported) == field.imports[imported] for n in f.names
    }
    for name in sorted(names):
        rows = [{name if c == column else c: cell for c, cell in row.items()} for row in ROWS[door]]
        found, report = read(door, "t.csv", separated(rows))
        codes = {error.code for error in report.errors}
        assert codes <= UNCLEAR, name
        assert codes or found == wanted, name
