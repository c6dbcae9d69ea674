"""Every filter acts on every output that takes it, and is refused by every other one."""

import csv
import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.exports import JUDGMENT_HEADER
from annotation.imports import tables
from annotation.models import Campaign, Judgment
from tests.dashboards import raw
from tests.dashboards.outputs import Address, addresses, wanted
from tests.house.templates.seen import seen
from tests.refusals import tells
from tests.world import World

NEEDS = {
    *("extensions.studies", "extensions.comparison", "extensions.layers", "extensions.decisions"),
    "extensions.formats",
}

# Nothing changes while a test asks.
pytestmark = pytest.mark.usefixtures("kept_state")
BAD = {
    "unit": "words",
    "scores": "median",
    "scale": "no-such",
    "without": "nobody",
    "traps": "maybe",
    "documents": "no-such",
    "since": "yesterday",
    "until": "2026-02-30",
    "min_seconds": "-1",
    "max_seconds": "soon",
    "systems": "no-such",
    "without_systems": "no-such",
    "humans": "perhaps",
    "outliers": "perhaps",
    "metric": "no-such",
    "row": "no-such",
    "statistic": "no-such",
    "of": "no-such",
    "grouping": "no-such",
    "test": "no-such",
    "correction": "no-such",
    "scope": "no-such",
    "bounds": "no-such",
    "against": "no-such",
    "level": "no-such",
    "order": "no-such",
    "system": "no-such",
    "document": "no-such",
    "versus": "no-such",
    "wanted": "no-such",
    "condition": "no-such",
    "output": "no-such",
    "published": "no-such",
    "status": "no-such",
    "testset": "no-such",
    "annotator": "nobody",
    "page": "last",
}
FILTERS = tuple(BAD)[:14]
# Fields of power have a form that says what is wrong (422), as they had before.
FOR_SITE = ("accounts", "changes")
FORMS = ("power", "power-data", "campaign-power", "campaign-power-data")


def test_every_output_takes_what_is_wanted() -> None:
    told = wanted()
    found = {each.name: each.takes for each in addresses()}
    assert {name: told.get(name) for name in found} == found
    assert len(found) > 50


def test_every_output_says_what_it_takes() -> None:
    """Files, images, and all pages of results: nobody adds one that ignores its address."""
    from tests.addresses import routes

    known = {each.name for each in addresses()}
    files = {name for name, route in routes() if "<fmt>" in route and "/api/" not in route}
    assert files - known == set()
    assert {"quality", "export", "judgments-data", "report", "bundle", "compare"} <= known


def every() -> list[Address]:
    """All that a researcher may ask for."""
    found = [each for each in addresses() if each.name not in FOR_SITE]
    assert len(found) > 50
    return found


def ask(client: Client, address: Address, campaign: Campaign, query: dict[str, Any]) -> Any:
    kinds = {
        "slug": {"studies/": "port", "testsets/": campaign.test_set.slug},
        "fmt": "csv",
        "figure": "points",
        "pk": 1,
    }
    path = address.route
    slug = next((to for at, to in kinds["slug"].items() if f"/{at}" in path), campaign.slug)  # type: ignore[attr-defined]
    path = path.replace("<slug:slug>", slug).replace("<slug:figure>", "points")
    path = path.replace("<slug:name>", "table-6")
    path = path.replace("<str:fmt>", str(query.pop("fmt", "csv"))).replace("<int:pk>", "1")
    return client.get(path, query)


def test_what_is_not_taken_is_refused_by_name(campaign: Campaign, as_researcher: Client) -> None:
    for place, address in enumerate(every()):
        foreign = {*FILTERS, "metric", "system", "annotator", "nonsense"} - address.takes
        for name in sorted(foreign)[place % 2 :: 2]:
            answer = ask(as_researcher, address, campaign, {name: BAD.get(name, "1")})
            assert answer.status_code == 400, (address, name)
            assert re.search(
                rf"not take the parameter {name}\b|no parameters, and {name} was", answer.text
            )


def test_values_that_do_not_fit_are_refused_by_name(
    campaign: Campaign, as_researcher: Client
) -> None:
    for place, address in enumerate(every()):
        if address.name in FORMS:
            continue
        for name in sorted(address.takes & BAD.keys())[place % 2 :: 2]:
            query = {name: BAD[name]}
            of_chosen = address.name.startswith("compare") and name in FILTERS
            if of_chosen or address.name.startswith("matrix"):
                query["campaign"] = campaign.slug
            answer = ask(as_researcher, address, campaign, query)
            assert answer.status_code == 400, (address, name, answer.status_code)
            assert name in answer.text, (address, name)


def test_a_refusal_is_of_the_kind_of_the_output(campaign: Campaign, as_researcher: Client) -> None:
    base = f"/campaigns/{campaign.slug}"
    for name, kind in {
        "quality/": "text/html",
        "quality.json": "application/json",
        "quality.csv": "text/plain",
        "correlations.tex": "text/plain",
        "scatter/figures/points.svg": "text/plain",
        "bundle.zip": "text/plain",
        "report.pdf": "text/plain",
        "report.html": "text/html",
        "export/parquet/": "text/plain",
    }.items():
        answer = as_researcher.get(f"{base}/{name}?colour=red")
        assert answer.status_code == 400, name
        assert answer.headers["Content-Type"].startswith(kind), name
        assert "the parameter colour" in answer.text, name


def test_one_value_too_many_is_refused(campaign: Campaign, as_researcher: Client) -> None:
    base = f"/campaigns/{campaign.slug}"
    twice = as_researcher.get(f"{base}/quality.json?traps=in&traps=out")
    assert (twice.status_code, twice.json()["message"]["code"]) == (400, "address.repeated")
    assert as_researcher.get(f"{base}/quality.json?without=S1&without=S2").status_code == 200


def test_strangers_are_not_told_what_is_taken(world: World, client: Client) -> None:
    client.force_login(world.annotators[0])
    answer = client.get(f"/campaigns/{world.campaign.slug}/judgments.csv?colour=red")
    assert answer.status_code == 403


Keep = Callable[[Judgment], bool]
JUDGMENT = JUDGMENT_HEADER.index("judgment")


def seconds(row: Judgment) -> float:
    return (row.submitted_at - row.started_at).total_seconds()  # type: ignore[operator]


def choices(campaign: Campaign) -> dict[str, tuple[str | list[str], Keep]]:
    """A value of every filter that leaves judgments out, and which it keeps, counted by hand."""
    times = sorted(seconds(row) for row in raw.judged(campaign))
    middle = times[len(times) // 2]
    days = sorted({row.submitted_at.date() for row in raw.judged(campaign)})  # type: ignore[union-attr]
    controls = ("trap", "bad_ref", "ref", "gold")
    return {
        "without": ("S2", lambda row: raw.label(row) != "S2"),
        "traps": ("out", lambda row: row.assignment.item.kind not in controls),
        "without_systems": ("weak", lambda row: raw.system(row) != "weak"),
        "systems": (["strong", "weak"], lambda row: raw.system(row) in ("strong", "weak", "")),
        "documents": ("clinic", lambda row: row.assignment.item.segment.document == "clinic"),
        "since": (days[-1].isoformat(), lambda row: row.submitted_at.date() >= days[-1]),  # type: ignore[union-attr]
        "until": (days[0].isoformat(), lambda row: row.submitted_at.date() <= days[0]),  # type: ignore[union-attr]
        "min_seconds": (f"{middle:.6f}", lambda row: seconds(row) >= round(middle, 6)),
        "max_seconds": (f"{middle:.6f}", lambda row: seconds(row) <= round(middle, 6)),
    }


LEAVING_OUT = (
    "without",
    "systems",
    "without_systems",
    "traps",
    "documents",
    "since",
    "until",
    "min_seconds",
    "max_seconds",
)


def body(answer: Any) -> bytes:
    assert answer.status_code == 200, answer
    return b"".join(answer.streaming_content) if answer.streaming else answer.content


def table(answer: Any, header: bool = True) -> list[list[str]]:
    rows = list(csv.reader(io.StringIO(body(answer).decode())))
    return rows[1:] if header else rows


@pytest.mark.parametrize("name", LEAVING_OUT)
def test_raw_judgments_are_those_of_the_rest(
    campaign: Campaign, as_researcher: Client, name: str
) -> None:
    value, keep = choices(campaign)[name]
    everything = raw.judged(campaign)
    kept = [row for row in everything if keep(row)]
    assert 0 < len(kept) < len(everything)
    targets = [row for row in kept if raw.outputs_only(row)]
    base, query = f"/campaigns/{campaign.slug}", {name: value}

    def get(path: str) -> Any:
        return as_researcher.get(f"{base}/{path}", query)

    own = {str(row.pk) for row in kept}
    for path in ("judgments.csv", "export/csv/"):
        assert {cells[JUDGMENT] for cells in table(get(path))} == own, path
    rows = json.loads(body(get("judgments.json")))
    assert {str(row["judgment"]) for row in rows} == own
    expected = z_of(campaign, kept)
    assert {row["judgment"]: row["z_all"] for row in rows} == pytest.approx(expected, abs=1e-9)
    lines = body(get("export/jsonl/")).decode().splitlines()
    assert {str(json.loads(line)["judgment"]) for line in lines} == own
    parquet = pyarrow.parquet.read_table(io.BytesIO(body(get("export/parquet/"))))
    assert {str(pk) for pk in parquet["judgment"].to_pylist()} == own
    assert parquet.schema.metadata[b"filters"].decode().startswith(f"?{name}=")
    for path in ("export/spans/", "export/spans-jsonl/"):
        assert len(body(get(path)).decode().splitlines()) - ("jsonl" not in path) == len(targets)
    assert len(table(get("export/appraise/"), header=False)) == len(kept)
    assert len(table(get("export/appraise-header/"))) == len(kept)
    archive = zipfile.ZipFile(io.BytesIO(body(get("export/appraise-zip/"))))
    assert len(archive.read("scores.csv").decode().splitlines()) == len(kept)
    assert "these filters" in archive.read("README.txt").decode()
    archive = zipfile.ZipFile(io.BytesIO(body(get("export/mtme/"))))
    (path,) = (each for each in archive.namelist() if each.endswith("segment-da.seg.score"))
    scores = [line.split("\t")[1] for line in archive.read(path).decode().splitlines()]
    assert sum(score != "None" for score in scores) == len(
        {row.assignment.item.output_id for row in targets}
    )
    for path in ("export/csv/", "export/jsonl/", "judgments.csv", "judgments.json"):
        assert "-filtered" in get(path).headers["Content-Disposition"], path
    assert f"{len(kept)} judgments" in get("export/").text


def z_of(campaign: Campaign, rows: list[Judgment]) -> dict[int, float]:
    """z of every judgment over all of its annotator's, n - 1."""
    found = {}
    for label in {raw.label(row) for row in rows}:
        own = {row.pk: float(row.score or 0) for row in rows if raw.label(row) == label}
        mean = sum(own.values()) / len(own)
        spread = (sum((x - mean) ** 2 for x in own.values()) / (len(own) - 1)) ** 0.5
        found |= {pk: (x - mean) / spread for pk, x in own.items()}
    return found


@pytest.mark.parametrize("name", LEAVING_OUT)
def test_quality_is_that_of_the_rest(campaign: Campaign, as_researcher: Client, name: str) -> None:
    value, keep = choices(campaign)[name]
    kept = [row for row in raw.judged(campaign) if keep(row)]
    per = Counter(raw.label(row) for row in kept)
    base, query = f"/campaigns/{campaign.slug}", {name: value}
    document = as_researcher.get(f"{base}/quality.json", query).json()
    assert document["n_judgments"] == len(kept)
    assert document["filters"][name] in (value, [value], pytest.approx(float_of(value)))
    assert {row["annotator"]: row["n"] for row in document["annotators"]} == per
    rows = table(as_researcher.get(f"{base}/quality.csv", query))
    assert {cells[1]: int(cells[3]) for cells in rows} == per
    page = seen(as_researcher.get(f"{base}/quality/", query).text)
    assert re.search(rf'<th scope="row">All</th><td[^>]*class="num">{len(kept)}</td>', page)
    study = as_researcher.get("/studies/port/quality.json", query).json()
    assert [each["n_judgments"] for each in study["campaigns"]] == [len(kept)]
    listed = as_researcher.get("/api/judgments/", query | {"campaign": campaign.slug}).json()
    assert listed["count"] == len(kept)


def float_of(value: str | list[str]) -> float:
    try:
        return float(str(value))
    except ValueError:
        return -1.0


PAGES = (
    "dashboard", "whatif", "samplesize", "correlations", "significance", "layers", "scatter",
    "systems", "report", "bundle",
)  # fmt: skip
STUDIES = ("correlations", "layers", "systems")
TOLD = ("as_of", "is_fresh", "filters", "filter_words")


ADDRESSES = {name: f"/campaigns/rated/{name}.json" for name in PAGES}
ADDRESSES |= {f"study {name}": f"/studies/port/{name}.json" for name in STUDIES}
ADDRESSES |= {"compare": "/compare.json", "results": "/api/results/rated/"}
# Those that count what is left are asked with every filter, the others with every third.
COUNTED = {"dashboard", "report", "layers", "whatif", "results"}


def documents(client: Client, query: dict[str, Any], turn: int | None = None) -> dict[str, Any]:
    """Everything that rests on metrics as well, as programs read it; in a turn some of it."""
    asked = {
        name: address
        for place, (name, address) in enumerate(ADDRESSES.items())
        if turn is None or name in COUNTED or (place + turn) % 3 == 0
    }
    found = {
        name: client.get(address, query | ({"campaign": "rated"} if name == "compare" else {}))
        for name, address in asked.items()
    }
    return {name: answer.json() for name, answer in found.items() if check(name, answer)}


def check(name: str, answer: Any) -> bool:
    assert answer.status_code == 200, (name, answer.text[:200])
    return True


def bare(document: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name not in TOLD}


def test_every_filter_moves_every_page(campaign: Campaign, as_researcher: Client) -> None:
    before = documents(as_researcher, {})
    filters = {**choices(campaign), "scores": ("raw", lambda row: True)}
    for turn, (name, (value, keep)) in enumerate(filters.items()):
        after = documents(as_researcher, {name: value}, turn)
        for page, document in after.items():
            assert bare(document) != bare(before[page]), (page, name)
            assert document["filters"][name] not in ("", [], None), (page, name)
        kept = [row for row in raw.judged(campaign) if keep(row)]
        outputs = {row.assignment.item.output_id for row in kept if raw.outputs_only(row)}
        assert after["dashboard"]["n_judgments"] == len(kept), name
        assert after["dashboard"]["progress"]["outputs_judged"] == len(outputs), name
        assert after["report"]["quality"]["judgments"] == len(kept), name
        assert after["report"]["facts"]["judgments"] == len(kept), name
        assert after["report"]["facts"]["judged_outputs"] == len(outputs), name
        assert after["layers"]["n_judged"] == len(outputs), name
        assert after["whatif"]["n_outputs"] == len(outputs), name
        assert after["results"]["quality"]["n_judgments"] == len(kept), name


def test_all_formats_of_an_output_say_the_same(campaign: Campaign, as_researcher: Client) -> None:
    base = f"/campaigns/{campaign.slug}"

    def both(path: str) -> tuple[bytes, bytes]:
        plain, chosen = (as_researcher.get(f"{base}/{path}{q}") for q in ("", "?without=S2"))
        return body(plain), body(chosen)

    for path in (
        "correlations.csv", "correlations.tex", "scatter/figures/points.svg", "scatter.csv",
        "systems.tex", "layers.tex", "report.html", "report.csv", "bundle.csv", "bundle.zip",
    ):  # fmt: skip
        plain, chosen = both(path)
        assert plain != chosen, path
    tex = as_researcher.get(f"{base}/correlations.tex?without=S2")
    assert tells(tex.text, "filter.without", names="S2")
    assert "rated-correlations-filtered" in tex.headers["Content-Disposition"]
    report = as_researcher.get(f"{base}/report.html?without=S2").text
    assert "without annotators: S2" in report
    study = as_researcher.get("/studies/port/report.html?without=S2").text
    assert "without annotators: S2" in study


def test_links_of_a_page_carry_its_filters(campaign: Campaign, as_researcher: Client) -> None:
    query = "?without=S2"
    pages = {
        "/campaigns/rated/quality/": ("quality.json", "quality.csv", "judgments.csv"),
        "/campaigns/rated/export/": ("export/csv/", "export/mtme/"),
        "/campaigns/rated/report/": ("report.pdf", "report.json"),
        "/studies/port/quality/": ("quality.json",),
        "/studies/port/systems/": ("systems.tex",),
    }
    for page, files in pages.items():
        text = as_researcher.get(page + query).text
        for name in files:
            if name == "report.pdf" and "report.pdf" not in text:
                continue
            assert f"{name}{query}" in text, (page, name)
    shown = as_researcher.get("/campaigns/rated/significance/?pairs=table&without=S2").text
    assert "significance.json?without=S2" in shown
    assert f"{reverse('bundle', args=['rated'])}?without=S2" in shown
    plot = as_researcher.get("/campaigns/rated/scatter/?without=S2").text
    assert '<input type="checkbox" name="without" value="S2" checked>' in plot


def test_the_largest_numbers_are_numbers(campaign: Campaign, as_researcher: Client) -> None:
    n = len(raw.judged(campaign))
    for query, kept in (
        ("max_seconds=1e300", n),
        ("min_seconds=1e300", 0),
        ("since=0001-01-01&until=9999-12-31", n),
        ("since=9999-12-31", 0),
    ):
        answer = as_researcher.get(f"/campaigns/rated/judgments.csv?{query}")
        assert len(table(answer)) == kept, query
        document = as_researcher.get(f"/campaigns/rated/quality.json?{query}").json()
        assert document["n_judgments"] == kept, query


def test_real_judgments(db: None, data_dir: Path, as_researcher: Client) -> None:
    """WMT21 ru-en, counted in its own file."""
    call_command("import_dataset", "wmt21-ru-en", data=data_dir)
    folder = data_dir / "raw-crowd-da/wmt21-ru-en"
    rows = list(tables.read_table(folder / "judgments.tsv"))
    texts = {row["sid"]: row["document"] for row in tables.read_table(folder / "segments.tsv")}
    worker, document = rows[0]["worker"], texts[rows[0]["sid"]]
    for query, keep in (
        ({"without": worker}, lambda row: row["worker"] != worker),
        ({"traps": "out"}, lambda row: row["type"] in ("SYSTEM", "REPEAT")),
        ({"documents": document}, lambda row: texts[row["sid"]] == document),
        ({"since": "2021-01-01"}, lambda row: False),
        ({"max_seconds": "60"}, lambda row: False),
    ):
        kept = [row for row in rows if keep(row)]
        base = "/campaigns/wmt21-ru-en"
        listed = table(as_researcher.get(f"{base}/judgments.csv", query))
        assert Counter(cells[1] for cells in listed) == Counter(row["worker"] for row in kept)
        quality = as_researcher.get(f"{base}/quality.json", query).json()
        assert quality["n_judgments"] == len(kept)
        assert "filter.selected" in [each["code"] for each in quality["warnings"]]
