"""The pages of imported scores: from the test set to the confirmation, and back."""

import re
from html import unescape
from re import findall

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.forms.columns import CHANGED
from annotation.models import TestSet
from metrics.models import MetricImport
from tests.refusals import tells
from tests.world import World, make_user

ADDRESS = "/testsets/harbour/scores/"
WIDE = "seg\tMT\tCOMET\tTER\tmqm\n1\tstrong\t0.5\t30\t-1\n2\tstrong\t\t40\t0\n"


@pytest.fixture
def as_owner(world: World, client: Client) -> Client:
    """The campaign admin who owns the test set."""
    owner = make_user("owner", "campaign admin")
    TestSet.objects.filter(pk=world.test_set.pk).update(created_by=owner)
    client.force_login(owner)
    return client


def send(client: Client, text: str = WIDE, name: str = "scores.tsv") -> str:
    """Send a file and return the address of the preview."""
    response = client.post(ADDRESS, {"tables": SimpleUploadedFile(name, text.encode())})
    assert response.status_code == 302
    return response.headers["Location"]


def filled(page: str, **changed: object) -> dict[str, object]:
    """What the form of a preview sends if unchanged, with some changes (None: not sent)."""
    found: dict[str, object] = dict(findall(r'type="hidden" name="(seen)" value="([^"]*)"', page))
    found |= dict(findall(r'name="(name-\d+)" value="([^"]*)"', page))
    found |= dict.fromkeys(findall(r'name="(take-\d+)"[^>]* checked', page), "on")
    for name, options in findall(r'(?s)<select name="((?:column|better)-\d+)"(.*?)</select>', page):
        found[name] = (findall(r'<option value="([^"]*)" selected', options) or [""])[0]
    found |= changed
    # As browsers do, which send the ends of lines as CRLF.
    return {
        name: value.replace("\n", "\r\n") if isinstance(value, str) else value
        for name, value in found.items()
        if value is not None
    }


def read_again(client: Client, address: str, data: dict[str, object]) -> tuple[str, str]:
    """Send other choices; return the address of the new preview, and the preview."""
    response = client.post(address, data, follow=True)
    return response.redirect_chain[-1][0], unescape(response.content.decode())


def test_from_the_files_to_the_scores(world: World, as_owner: Client) -> None:
    assert ADDRESS in as_owner.get("/testsets/harbour/").text
    address = send(as_owner)
    page = unescape(as_owner.get(address).text)
    assert "Import 2 metrics" in page
    assert filled(page)["better-1"] == "lower"
    assert not MetricImport.objects.exists()
    # What changed since it was shown has to be looked at first.
    sent = filled(page, **{"better-1": "higher", "import": "1"})
    address, page = read_again(as_owner, address, sent)
    assert str(CHANGED) in page
    assert not MetricImport.objects.exists()
    address, page = read_again(as_owner, address, filled(page, **{"better-1": "lower"}))
    response = as_owner.post(address, filled(page, **{"import": "1"}), follow=True)
    assert "Imported 2 metrics: 3 scores" in response.text
    rows = {row.metric: row for row in MetricImport.objects.all()}
    assert set(rows) == {"imported-comet", "imported-ter-lower"}
    assert rows["imported-comet"].created_by.username == "owner"  # type: ignore[union-attr]
    assert rows["imported-comet"].files[0]["name"] == "scores.tsv"
    assert "TER (imported)" in response.text
    assert as_owner.get(address).status_code == 302


def test_metrics_can_be_skipped_and_named(world: World, as_owner: Client) -> None:
    address = send(as_owner)
    page = as_owner.get(address).text
    chosen = {"take-0": None, "take-2": "on", "name-2": "Human MQM"}
    address, page = read_again(as_owner, address, filled(page, **chosen))
    assert "Import 2 metrics" in page
    as_owner.post(address, filled(page, **{"import": "1"}))
    assert set(MetricImport.objects.values_list("metric", flat=True)) == {
        "imported-ter-lower",
        "imported-human-mqm",
    }
    nothing = filled(page, **{"take-1": None, "take-2": None})
    assert as_owner.post(send(as_owner), nothing, follow=True).status_code == 422


def test_columns_can_be_stated_on_the_page(world: World, as_owner: Client) -> None:
    address = send(as_owner, "Zeile\tMaschine\tCOMET\n1\tstrong\t0.5\n")
    response = as_owner.get(address)
    assert response.status_code == 422
    assert "Zeile, Maschine and COMET" in response.text
    chosen = {"column-0": "segment", "column-1": "system"}
    address, page = read_again(as_owner, address, filled(response.text, **chosen))
    assert "Import 1 metric<" in page
    as_owner.post(address, filled(page, **{"import": "1"}))
    assert MetricImport.objects.get().n_outputs == 1


def test_errors_can_be_taken_along(world: World, as_owner: Client) -> None:
    address = send(as_owner, "segment\tsystem\tCOMET\n1\tstrange\t0.5\n")
    page = as_owner.get(address)
    assert page.status_code == 422
    assert "scores.tsv, row 2, system" in page.text
    assert tells(page.text, "system.unknown", system="strange")
    assert as_owner.get(f"{address}&problems").text.startswith("error\tscores.tsv, row 2, system")


def test_a_metric_is_withdrawn(world: World, as_owner: Client) -> None:
    address = send(as_owner)
    as_owner.post(address, filled(as_owner.get(address).text, **{"import": "1"}))
    withdraw = f"{ADDRESS}withdraw/"
    response = as_owner.post(withdraw, {"metric": "imported-comet"}, follow=True)
    assert "COMET (imported)" in response.text
    assert 'data-former="1"' in response.text
    again = as_owner.post(withdraw, {"metric": "imported-comet"}, follow=True)
    assert tells(again.text, "scores.none-to-withdraw")
    page = as_owner.get("/metrics/imported-comet/").text
    assert "Withdrawn" in page
    assert "Retire" not in page


def test_others_read_and_change_nothing(world: World, as_owner: Client, client: Client) -> None:
    address = send(as_owner)
    client.force_login(world.researcher)
    assert 'name="files"' not in client.get(ADDRESS).text
    assert client.post(ADDRESS, {}).status_code == 403
    assert client.get(address).status_code == 403
    assert client.post(f"{ADDRESS}withdraw/", {"metric": "x"}).status_code == 403
    client.force_login(make_user("colleague", "campaign admin"))
    assert client.post(ADDRESS, {}).status_code == 403
    assert "Harbour" not in client.get("/imports/metric-scores/").text


def test_doors(world: World, as_owner: Client) -> None:
    assert "/imports/metric-scores/" in as_owner.get("/metrics/").text
    assert ADDRESS in as_owner.get("/imports/metric-scores/").text
    assert as_owner.post(ADDRESS, {}).status_code == 422


def test_the_list_of_metrics_has_no_run_of_them(world: World, as_owner: Client) -> None:
    address = send(as_owner)
    as_owner.post(address, filled(as_owner.get(address).text, **{"import": "1"}))
    page = as_owner.get("/testsets/harbour/score/").text
    assert page.count(">imported<") == page.count(f'{ADDRESS}">imported<')
    page = as_owner.get("/metrics/").text
    assert "Imported scores" in page
    assert "COMET (imported)" in page


def test_the_next_import_keeps_a_stated_direction(world: World, as_owner: Client) -> None:
    """What is shown as better when higher is proposed as such, and nothing changes."""
    address = send(as_owner)
    page = as_owner.get(address).text
    sent = filled(page, **{"better-1": "higher"})
    address, page = read_again(as_owner, address, {**sent, "change": "1"})
    as_owner.post(address, filled(page, **{"import": "1"}))
    address = send(as_owner)
    page = unescape(as_owner.get(address).text)
    assert filled(page)["better-1"] == "higher"
    done = as_owner.post(address, filled(page, **{"import": "1"}), follow=True)
    assert "Nothing changed" in done.text


def test_an_unknown_name_is_reported_once_with_the_known_ones(
    world: World, as_owner: Client
) -> None:
    table = "segment\tsystem\tm\n" + "".join(f"{n}\tnobody\t0.5\n" for n in (1, 2))
    page = unescape(as_owner.get(send(as_owner, table)).text)
    assert page.count("“nobody”. Its 2 systems: strong and weak.") == 1
    page = unescape(as_owner.get(send(as_owner, "segment\tm\n1\t0.5\n")).text)
    assert "m and segment." in page


@pytest.mark.parametrize(
    ("role", "sentence"),
    [
        ("campaign admin", "owner"),
        ("researcher", "campaign admins"),
    ],
)
def test_who_may_not_add_reads_why(
    world: World, as_owner: Client, role: str, sentence: str
) -> None:
    as_owner.force_login(make_user("guest", role))
    page = as_owner.get(ADDRESS)
    assert page.status_code == 200
    assert sentence in page.text
    assert 'type="file"' not in page.text


def test_a_system_can_be_stated_on_the_page(world: World, as_owner: Client) -> None:
    n = world.test_set.segments.count()
    address = send(as_owner, "\n".join(f"0.{place + 1}" for place in range(n)), name="bleurt.txt")
    response = as_owner.get(address)
    assert response.status_code == 422
    (name,) = re.findall(r'name="(column-system[^"]+)"', response.text)
    address, page = read_again(as_owner, address, filled(response.text, **{name: "strong"}))
    assert "Import 1 metric<" in page
    as_owner.post(address, filled(page, **{name: "strong", "import": "1"}))
    assert MetricImport.objects.get().n_outputs == n


@pytest.mark.parametrize(("of", "fields"), [
    ("segments", ["system", "segment", "score"]), ("systems", ["segment", "system", "score"]),
])  # fmt: skip
def test_every_column_of_a_transposed_table_has_its_meaning(
    world: World, as_owner: Client, of: str, fields: list[str]
) -> None:
    """The columns are those of one row per score; sent again unchanged, they are read alike."""
    keys = list(world.test_set.segments.order_by("position").values_list("key", flat=True))
    system = world.test_set.systems.first()
    assert system is not None
    scores = [f"0.{n}" for n in range(1, len(keys) + 1)]
    rows = [["system", *keys], [system.name, *scores]]
    if of == "systems":
        rows = [
            ["segment", system.name],
            *([key, score] for key, score in zip(keys, scores, strict=False)),
        ]
    address = send(as_owner, "".join("\t".join(row) + "\n" for row in rows))
    page = unescape(as_owner.get(address).text)
    meanings = [value for name, value in filled(page).items() if name.startswith("column-")]
    assert meanings == fields
    _, again = read_again(as_owner, address, {**filled(page), "change": "1"})
    assert findall(r"(?s)data-first-rows.*?</table>", again) == findall(
        r"(?s)data-first-rows.*?</table>", page
    )
