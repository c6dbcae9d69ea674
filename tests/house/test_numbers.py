"""Pages, figures, tables and files write numbers in one way: `.61` in prose, `0.61` in tables."""

import csv
import io
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.test import Client

from annotation.models import Campaign
from metaeval.commands import main
from metrics.runs import scoring, starting
from tests.dashboards.conftest import make_rated
from tests.house.test_messages import calls
from tests.house.test_readers_language import FINISHED, make_both
from tests.shared import SharedRows
from tests.world import World

NEEDS = {"extensions.studies", "extensions.layers", "extensions.shortness", "extensions.trials"}

# Two campaigns: one with spans, layers and a study, and one with enough for intervals and tests.
SLUGS = ("rated", "long")
PAGES = (
    "/campaigns/", "/matrix/?campaign=rated&campaign=long",
    *(f"/studies/port/{page}" for page in ("", "quality/", "systems/", "printed/", "layers/",
                                           "significance/", "shortness/")),
    *(f"/campaigns/{slug}/{page}" for slug in SLUGS for page in FINISHED),
    *(f"/campaigns/{slug}/{page}?bounds=shown&metric=chrf&metric=ter"
      for slug in SLUGS for page in ("results/", "correlations/", "significance/")),
    "/campaigns/long/significance/?row=chrf", "/campaigns/long/metrics-pair/?first=chrf&second=ter",
)  # fmt: skip
FILE = re.compile(r'(?:href|src|data-image)="(/[^"]+\.(?:csv|tex|svg)[^"]*)"')
MINUS = r"(?<![\w.)\]–-])-(?=\.?\d)"
# What is refused everywhere; a space may be a line break or one that does not break.
EVERYWHERE = {
    "a minus sign that is a hyphen": MINUS,
    "p": r"\bp\s*(<=|>=|[<>=≤≥]\s*0\.|[<>=≤≥][\d.])",
    "a blank before the percent sign": r"\d\s%",
    "no number": r"\b(nan|inf)\b|^None$",
    "another name for the 95% interval": r"\b95% (limits|CI|confidence)|CI95|95 ?% ?KI",
}
# Lengths of time, points of a scale and ratios are no coefficients.
IN_PROSE = r"(?<![\w.,@])0\.\d+(?!\d|\s?(s|h|hours|points|GiB|edits)\b)"
IN_TABLES = r"(?<![\w.])\.\d"
VOID = frozenset({"br", "col", "hr", "img", "input", "link", "meta", "wbr"})
CODE = frozenset({"script", "style", "code", "pre", "textarea", "datalist", "option"})
ALOUD = ("alt", "title", "aria-label")


class Texts(HTMLParser):
    """The texts of a page as (text, is in a table).

    Drawings, and cells of heat maps with the colours of p, are figures. Cells may lack their end.
    """

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[tuple[str, str]] = []
        self.found: list[tuple[str, bool]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.found += [(text, False) for name in ALOUD if (text := known.get(name))]
        if tag not in VOID:
            is_figure = tag == "svg" or re.search(r"\bdots\b|^p\w$", known.get("class") or "")
            self.open.append((tag, "figure" if is_figure else tag))

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        kinds = [kind for _, kind in self.open]
        if data.strip() and not CODE & {*kinds}:
            cells = [at for at, (tag, _) in enumerate(self.open) if tag in ("td", "th")]
            in_table = bool(cells) and "figure" not in [*kinds[: cells[0]], *kinds[cells[-1] :]]
            self.found.append((" ".join(data.split()), in_table))


def faults(text: str, *, in_table: bool) -> Iterator[str]:
    rules = EVERYWHERE | ({"in a table": IN_TABLES} if in_table else {"in prose": IN_PROSE})
    yield from (f"{name}: {text!r}" for name, rule in rules.items() if re.search(rule, text))


def of_page(page: str) -> Iterator[str]:
    # Labels of people and places may hold anything; those of these campaigns hold no numbers.
    body = page[page.index("<body") :]
    for text, in_table in Texts(body).found:
        yield from faults(text, in_table=in_table)


def of_tex(text: str) -> Iterator[str]:
    for line in text.splitlines():
        plain = line.replace("$-$", "−").replace(r"\textless{}", "<").replace(r"\%", "%")
        if plain.startswith((r"\caption", "%")):
            yield from faults(plain, in_table=False)
        elif plain.endswith(r" \\"):
            for cell in re.sub(r"\\\w+", " ", plain).split("&"):
                yield from faults(cell, in_table=True)


def of_svg(text: str) -> Iterator[str]:
    for each in re.findall(r"<text[^>]*>([^<]+)</text>", text):
        yield from faults(each, in_table=False)


def of_csv(text: str) -> Iterator[str]:
    """Programs read these: a hyphen, and every digit."""
    for row in csv.reader(io.StringIO(text)):
        yield from (cell for cell in row if re.fullmatch(r"−[\d.]+|-?\.\d+|nan|inf", cell))


FILES = {"tex": of_tex, "svg": of_svg, "csv": of_csv}


def make_results() -> None:
    make_both()
    make_rated("long", segments=24)
    test_set = Campaign.objects.get(slug="long").test_set
    for run in starting.start(test_set=test_set, metrics=["chrf", "ter"], enqueue=False).runs:
        scoring.drain(run.pk, worker="test")


@pytest.fixture(scope="module")
def rows(shared_rows: SharedRows[None]) -> Iterator[None]:
    with shared_rows(make_results):
        yield


@pytest.mark.usefixtures("kept_state", "rows")
def test_pages_figures_tables_and_files_write_numbers_in_one_way(
    world: World, client: Client
) -> None:
    client.force_login(world.admin)
    found: list[str] = []
    files: dict[str, None] = {}
    n_texts = 0
    for address in PAGES:
        answer = client.get(address, follow=True)
        assert answer.status_code == 200, address
        page = answer.text
        n_texts += len(re.findall(r"[.−]\d", page))
        found += [f"{address}: {each}" for each in of_page(page)]
        files |= dict.fromkeys(each.replace("&amp;", "&") for each in FILE.findall(page))
    kinds = dict.fromkeys(FILES, 0)
    for address in files:
        kind = re.search(r"\.(csv|tex|svg)", address)
        answer = client.get(address)
        if kind is None or answer.status_code != 200:
            continue
        kinds[kind[1]] += 1
        found += [f"{address}: {each}" for each in FILES[kind[1]](answer.getvalue().decode())]
    assert n_texts > 1000
    assert min(kinds.values()) > 10, kinds
    assert found == [], "\n".join(found)


def test_messages_write_p_in_one_way() -> None:
    wrong = re.compile(r"\bp\s*([<>=≤≥]\s*(0\.|\{\w+(:\.\d\w|)\})|<=|>=)")
    found = [f"{call.place}: {text}" for call in calls() for text in call.patterns
             if wrong.search(text)]  # fmt: skip
    assert found == []


def test_commands_write_numbers_in_one_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tables of a command are files: programs read them. Notes are prose."""
    lines = ["system\tsegment\thuman\tgood\tpoor"]
    for place in range(40):
        human = (place * 7 % 10) / 10
        lines.append(f"s{place % 4}\t{place // 4}\t{human}\t{human + place % 3 / 9}\t{-human / 3}")
    path = tmp_path / "scores.tsv"
    path.write_text("\n".join(lines) + "\n")
    for command in (["correlate", "--resamples", "50"], ["compare", "--resamples", "20"]):
        assert main([command[0], str(path), "--human", "human", *command[1:]]) == 0
        table, notes = capsys.readouterr()
        cells = [cell for line in table.splitlines() for cell in line.split("\t")]
        assert any(re.fullmatch(r"-?0\.\d+", cell) for cell in cells)
        assert [cell for cell in cells if re.fullmatch(r"−[\d.]+|-?\.\d+|nan", cell)] == []
        assert [each for line in notes.splitlines() for each in faults(line, in_table=False)] == []


@pytest.mark.parametrize(
    ("text", "in_table"),
    [
        ("r is 0.61", False),
        ("τ .61", True),
        ("a difference of -0.2", True),
        ("p <= .05", False),
        ("p = 0.03", False),
        ("95 % of items", False),
        ("[0.41, nan]", True),
    ],
)
def test_the_check_would_notice(text: str, in_table: bool) -> None:
    assert list(faults(text, in_table=in_table))


def test_what_is_right_passes() -> None:
    prose = "τ .61 [−.05, 1.00], p < .001, p = .03, 95% interval, 0.5 s"
    assert list(faults(prose, in_table=False)) == []
    assert list(faults("0.610 [−0.05, 1.00] < 0.001 2026-11-28 en-de", in_table=True)) == []
