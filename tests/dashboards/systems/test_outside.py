"""Systems that a campaign excludes, on the page of MT systems: where metrics place weak outputs."""

import csv

import pytest
import sacrebleu
from django.test import Client
from django.urls import reverse

from annotation.models import Campaign, Output, System
from annotation.models.corpus import content_key
from dashboards.systems import figures
from dashboards.systems.document import SystemsChoice, compute
from dashboards.systems.tables import tables
from tests.dashboards.documents.working import compute_waiting
from tests.world import score


def add(campaign: Campaign, name: str, ratio: str = "0.80", *, every: int = 1) -> System:
    """A system that nobody judges: the first word of every reference, or the reference itself."""
    system = System.objects.create(test_set=campaign.test_set, name=name, length_ratio=ratio)
    for segment in campaign.test_set.segments.order_by("position")[::every]:
        reference = segment.references.get().text
        text = reference if name == "copied" else reference.split()[0]
        key = content_key(segment.source, [reference], text)
        Output.objects.create(system=system, segment=segment, text=text, content_key=key)
    return system


def texts(campaign: Campaign, name: str) -> dict[int, tuple[str, str]]:
    """Output and reference of each segment."""
    rows = Output.objects.filter(system__test_set=campaign.test_set, system__name=name)
    return {
        row.segment_id: (row.text, row.segment.references.get().text)
        for row in rows.select_related("segment").order_by("segment__position")
    }


def bleu(found: dict[int, tuple[str, str]], segments: set[int]) -> float:
    chosen = [found[segment] for segment in found if segment in segments]
    outputs, references = zip(*chosen, strict=True)
    return sacrebleu.corpus_bleu(list(outputs), [list(references)]).score


def test_weak_systems_beside_those_of_the_task(rated: Campaign, as_researcher: Client) -> None:
    empty = compute(rated, SystemsChoice())
    assert (empty.outside, figures.strips(empty)) == ([], None)
    add(rated, "one-word")
    add(rated, "copied", every=2)
    add(rated, "other-length", "0.50")
    score(rated.test_set, "bleu", "ter")
    document = compute(rated, SystemsChoice())
    found = {(row.measure, row.system): row for row in document.outside}
    assert {system for _, system in found} == {"one-word", "copied"}
    # Of bleu the task's own systems are compared over the segments that both have, by sacrebleu.
    own = {name: texts(rated, name) for name in document.systems}
    for name in ("one-word", "copied"):
        mine = texts(rated, name)
        row = found["bleu", name]
        assert row.score == pytest.approx(bleu(mine, set(mine)), abs=1e-9)
        assert row.n == len(mine)
        higher = sum(bleu(mine, set(mine)) > bleu(each, set(mine)) for each in own.values())
        assert (row.above, row.against) == (higher, len(own))
    assert (found["bleu", "one-word"].above, found["bleu", "copied"].above) == (0, 3)
    # TER is lower for better outputs: its order is turned.
    assert (found["ter", "one-word"].above, found["ter", "copied"].above) == (0, 3)

    drawn = figures.strips(document)
    assert drawn is not None
    points = drawn["hconcat"][0]["data"]["values"]
    for key, sign in (("BLEU", 1), ("TER", -1)):
        mine = {p["system"]: p for p in points if p["label"] == key}
        order = sorted(mine, key=lambda name: sign * mine[name]["score"])
        assert sorted(mine, key=lambda name: mine[name]["share"]) == order
        assert (mine["one-word"]["share"], mine[order[-1]]["share"]) == (0, 1)
        assert {name for name in mine if mine[name]["out"]} == {"copied", "one-word"}
    assert drawn["description"][1].code == "systems.above-judged"
    assert len(drawn["hconcat"][1]["data"]["values"]) == len(document.human)

    page = reverse("systems", args=[rated.slug])
    as_researcher.get(page)
    compute_waiting()
    shown = as_researcher.get(page).text
    assert 'id="figure-strips"' in shown
    # Texts that another system has too are scored by chrF without a run: a part of “copied”.
    assert 0 < found["chrf", "copied"].n < found["bleu", "copied"].n
    assert shown.count("above 3 of 3") == sum(row.above == 3 for row in document.outside)
    data = reverse("systems-data", args=[rated.slug, "csv"])
    lines = csv.DictReader(as_researcher.get(data).getvalue().decode().splitlines())
    written = {(row["measure"], row["system"]): row for row in lines if row["above"]}
    assert {key: int(row["above"]) for key, row in written.items()} == {
        key: row.above for key, row in found.items()
    }
    assert any("copied" in cell.text for table in tables(document) for cell in table.body[0])
