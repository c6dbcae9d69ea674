"""A campaign as WMT 2026 had them: in through the page, rated by three people, out, equal."""

import json
import re
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.imports.store import launch
from annotation.models import Assignment, Campaign, Judgment
from annotation.uploads import InputFile, Report
from extensions.formats import pearmut
from tests.annotation.tables.reading import as_file
from tests.world import World

FOLDER = settings.DATA_DIR / "protocols"
PICTURE = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
PEOPLE = ("A1", "A2", "A3")
MARKED = "Die Brücke ist seit Montag gesperrt.\nDer Bus 😀 fährt nicht."


def cases() -> list[tuple[list[int], list[int]]]:
    """Places in MARKED, in code points and as Pearmut has them; the two tokens behind it last."""
    found = [
        (each["code_points"], each["pearmut_1_1_5"])
        for each in json.loads((FOLDER / "offsets.json").read_text(encoding="utf-8"))
        if each["text"] == MARKED and each["marked"]
    ]
    behind = len(MARKED)
    return [*found, ([behind, behind + 1], [60, 60]), ([behind + 1, behind + 2], [61, 61])]


def severity(number: int) -> str:
    return "major" if number % 2 else "minor"


def score(text: str, person: str) -> int:
    return len(text) % 90 + PEOPLE.index(person)


def sent_in(admin: Client, values: Any) -> str:
    """Send the file, look, confirm, open; return the page with the personal links."""
    data = {
        "tool": "pearmut", "pearmut-source_language": "en", "pearmut-target_language": "de",
        "pearmut-campaign": SimpleUploadedFile("c.json", json.dumps(values).encode()),
        "pearmut-recordings": SimpleUploadedFile("assets/post1.png", PICTURE),
    }  # fmt: skip
    checked = admin.post(reverse("campaign-import"), data)
    assert admin.post(checked.url).status_code == 200
    campaign = Campaign.objects.get(name=values["campaign_id"])
    Campaign.objects.filter(pk=campaign.pk).update(annotators_per_item=len(PEOPLE))
    people = admin.get(reverse("access", args=[campaign.slug])).text
    admin.post(reverse("campaign-open", args=[campaign.slug]))
    return people


def rate(link: str, person: str) -> int:
    """Answer every screen as the pages ask for it; return how many there were."""
    client, n = Client(), 0
    page = client.get(link, follow=True)
    while "/item/" in page.request["PATH_INFO"]:
        address = page.request["PATH_INFO"]
        body = re.search(rf'action="{address}".*?</form>', page.text, re.S).group(0)
        names = r'name="([\d-]*(?:submit_key|revision|started))" value="([^"]*)"'
        fields = dict(re.findall(names, body))
        here = Assignment.objects.get(public_id=address.split("/")[2])
        rows = here.annotator.assignments.filter(item__screen=here.item.screen)
        for number, row in enumerate(rows.order_by("position").select_related("item__output")):
            text = row.item.text or row.item.output.text
            fields[f"{number}-score"] = str(score(text, person))
            fields[f"{number}-spans"] = json.dumps([
                {"side": "target", "start": start, "end": end, "severity": severity(n)}
                for n, ((start, end), _) in enumerate(cases()) if text == MARKED
            ])  # fmt: skip
        reply = client.post(address, fields, headers={"accept": "application/json"})
        assert reply.status_code == 200, reply.text
        n += 1
        page = client.get(reply.json()["next"], follow=True)
    return n


def exported(admin: Client, campaign: Campaign, fmt: str) -> str:
    reply = admin.get(reverse("export-file", args=[campaign.slug, fmt]))
    return b"".join(reply).decode()


def facts(campaign: Campaign) -> list[Any]:
    """Who gave what to which text, and marked what."""
    rows = Judgment.objects.filter(assignment__annotator__campaign=campaign, is_current=True)
    rows = rows.select_related("assignment__annotator", "assignment__item__output__system")
    return sorted(
        (
            row.assignment.annotator.label,
            row.assignment.item.kind,
            row.assignment.item.text or row.assignment.item.output.text,
            row.score,
            sorted(row.spans.values_list("side", "start", "end", "severity")),
        )
        for row in rows
    )


def test_a_file_of_wmt26_is_rated_through_the_pages_and_goes_out_equal(
    world: World, as_admin: Client
) -> None:
    values = json.loads((FOLDER / "cesa-dynamic.json").read_text(encoding="utf-8"))
    values["info"]["users"] = list(PEOPLE)
    links = re.findall(r"<code>http://testserver(/a/[^<]+)</code>", sent_in(as_admin, values))
    assert len(links) == len(PEOPLE)
    # Two documents, two screens of practice and the check.
    assert [rate(link, person) for link, person in zip(links, PEOPLE, strict=True)] == [5, 5, 5]
    campaign = Campaign.objects.get(name=values["campaign_id"])
    assert json.loads(exported(as_admin, campaign, "pearmut")) == values
    log = exported(as_admin, campaign, "pearmut-log")
    entries = [json.loads(line) for line in log.splitlines()]
    answers = [
        (entry["user_id"], segment["tgt"][model], answer)
        for entry in entries
        for segment, given in zip(entry["item"], entry["annotation"], strict=True)
        for model, answer in given.items()
    ]
    # Two documents of two and one segment, each with three outputs; two practice texts; three.
    assert len(answers) == 3 * (9 + 2 + 3)
    for person, text, answer in answers:
        assert answer["score"] == score(text, person)
        marked = [(s["start_i"], s["end_i"], s["severity"]) for s in answer["error_spans"]]
        wanted = [(*there, severity(n)) for n, (_, there) in enumerate(cases())]
        assert marked == (wanted if text == MARKED else [])
    report = Report()
    drafts = pearmut.read(
        as_file("c.json", values), report, source_language="en", target_language="de",
        logs=[as_file("log.jsonl", log)], name="again",
        media=[InputFile.sent(SimpleUploadedFile("post1.png", PICTURE))],
    )  # fmt: skip
    assert not report.errors, report.errors
    assert facts(launch(drafts)[0].result.campaign) == facts(campaign)
