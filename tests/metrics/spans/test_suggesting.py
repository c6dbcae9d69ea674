"""Suggestions from a file or a metric: on the page, fitted to the protocol, shown when opened."""

import json
from io import BytesIO
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.campaigns import add_annotators, open_campaign
from annotation.models import Campaign, Item, Output, Prefill
from annotation.prefill import suggestions
from annotation.prefill.suggestions import NOTHING_TO_CHECK
from annotation.protocols import Span
from annotation.uploads import InputFile
from metrics.error_spans import FoundSpan
from metrics.scores import latest_signatures
from metrics.spans import importing
from metrics.spans.suggesting import fit
from metrics.views.imports import EXPIRED
from metrics.views.suggesting import BUILT_IN, NO_TRIAL
from tests.refusals import refused, tells
from tests.world import World

HEAD = "system\tsegment\tstart\tend\tseverity\tside\n"


def drafted(world: World, protocol: str = "esa") -> Campaign:
    fields = {"protocol": protocol, "shown_text": "source", "traps_per_annotator": 0}
    Campaign.objects.filter(pk=world.campaign.pk).update(**fields)
    world.campaign.refresh_from_db()
    return world.campaign


def address(world: World) -> str:
    return reverse("campaign-suggestions", args=[world.campaign.slug])


def sent(text: str, **fields: str) -> dict[str, Any]:
    file = BytesIO((HEAD + text).encode())
    file.name = "found.tsv"
    return {"what": "suggested", "tables": file, "ends": "excluded"} | fields


def output(world: World, system: str = "strong", segment: str = "1") -> Output:
    return Output.objects.get(
        system__name=system, segment__key=segment, segment__test_set=world.campaign.test_set
    )


def shown(item: Item) -> list[list[Any]]:
    return [] if item.suggestions is None else item.suggestions["spans"]


@pytest.mark.django_db
def test_a_file_is_asked_what_its_ends_are_and_its_spans_are_shown(
    world: World, client: Client
) -> None:
    campaign = drafted(world)
    client.force_login(world.admin)
    rows = "strong\t1\t0\t7\tmajor\t\nstrong\t1\t9\t10\tcritical\t\nweak\t1\t\t\tno-error\t\n"
    reply = client.post(address(world), sent(rows, ends=""), follow=True)
    assert "last character" in reply.text
    chosen = {"what": "suggested", "ends": "included"}
    where = client.post(reply.redirect_chain[0][0], chosen)["Location"]
    stored = client.post(where, chosen | {"keep": "1"}, follow=True)
    assert tells(stored.text, "suggestions.stored", n=2, clean=1)
    prefill = Prefill.objects.get()
    assert prefill.label == "found.tsv"
    assert prefill.details["ends_included"] is True
    tried = client.get(reverse("campaign-preview", args=[campaign.slug])).text
    assert "data-offered" in tried
    add_annotators(campaign=campaign, users=world.annotators)
    open_campaign(campaign=campaign)
    own = Item.objects.get(output=output(world))
    assert shown(own) == [["target", 0, 8, "major", "", ""], ["target", 9, 11, "major", "", ""]]
    assert [shown(item) for item in Item.objects.exclude(pk=own.pk)] == [[]] * 7
    # From now on people have seen them.
    client.post(address(world), {"do": "drop"}, follow=True)
    assert Prefill.objects.exists()


@pytest.mark.django_db
def test_a_trial_is_built_in_on_the_page(world: World, client: Client) -> None:
    drafted(world)
    client.force_login(world.admin)

    def reply(**shares: object) -> str:
        wanted = {"blank": 0, "prefilled": 100, "planted": 0, "withheld": 0, "seed": 3} | shares
        return client.post(address(world), {"do": "shares", **wanted}, follow=True).text

    assert NOTHING_TO_CHECK.text in reply(blank=50, prefilled=50)
    rows = "strong\t1\t0\t7\tmajor\t\nweak\t1\t\t\tno-error\t\n"
    where = client.post(address(world), sent(rows))["Location"]
    client.post(where, {"what": "suggested", "ends": "excluded", "keep": "1"})
    assert BUILT_IN.text not in reply(blank=30, prefilled=30)
    assert BUILT_IN.text in reply(blank=50, prefilled=50)
    prefill = Prefill.objects.get()
    assert (prefill.is_trial, prefill.blank, prefill.seed) == (True, 50, 3)
    # A share above 100% changes nothing.
    assert BUILT_IN.text not in reply(blank=101)
    assert NO_TRIAL.text in reply()
    prefill.refresh_from_db()
    assert not prefill.is_trial
    late = client.get(address(world), {"check": "x" * 22, "ends": "excluded"}, follow=True)
    assert str(EXPIRED) in late.text


@pytest.mark.django_db
def test_wrong_rows_are_named_and_nothing_is_stored(world: World, client: Client) -> None:
    drafted(world)
    client.force_login(world.admin)
    rows = "strong\t1\t0\t7\tmajor\t\nnobody\t1\t0\t7\tmajor\t\nstrong\t2\tx\t7\tmajor\t\n"
    reply = client.post(address(world), sent(rows), follow=True)
    assert "nobody" in reply.text
    assert "found.tsv, row 4" in reply.text
    where = reply.redirect_chain[0][0]
    refused = client.post(where, {"what": "suggested", "ends": "excluded", "keep": "1"})
    assert refused.status_code == 422
    assert not Prefill.objects.exists()


@pytest.mark.django_db
def test_a_metric_that_has_spans_can_be_chosen(world: World, client: Client) -> None:
    drafted(world)
    client.force_login(world.admin)
    file = InputFile.holding("x.tsv", f"{HEAD}strong\t2\t0\t8\tminor\t\n".encode())
    importing.store(importing.check(world.campaign.test_set, [file], "finder", False))
    (name,) = latest_signatures(world.campaign.test_set)
    reply = client.post(address(world), {"what": "suggested", "metric": name}, follow=True)
    assert "Stored 1 error in 1 output" in reply.text
    client.post(address(world), {"do": "drop"}, follow=True)
    assert not Campaign.objects.get(pk=world.campaign.pk).is_prefilled


@pytest.mark.django_db
def test_what_a_protocol_cannot_show_is_counted(world: World) -> None:
    campaign = drafted(world)
    own = output(world)
    found = [
        FoundSpan("target", 0, 3, "critical", "style"),
        FoundSpan("target", 0, 3, "major"),
        FoundSpan("target", 0, 3, "undecided"),
        FoundSpan("target", 0, 999, "minor"),
        FoundSpan("source", 1, 2, "minor"),
        FoundSpan("missing", 0, 0, "minor"),
    ]
    fitted = fit(campaign, {own.pk: found})
    length = len(own.segment.source)
    assert fitted.spans == {
        own.pk: (
            Span("target", 0, 3, "major"),
            Span("source", 1, 2, "minor"),
            Span("source", 0, length, "minor"),
        )
    }
    assert [(each.code, each.parameters) for each in fitted.skipped] == [
        ("suggestions.skipped-severity", {"n": 1, "severity": "undecided"}),
        ("suggestions.skipped-place", {"n": 1}),
    ]
    # A token for missing text is marked; if the source is not shown, no place in it can be.
    campaign.protocol, campaign.shown_text = "contrastive-esa", "reference"
    (*_, token) = fit(campaign, {own.pk: found}).spans[own.pk]
    assert token == Span("target", len(own.text), len(own.text) + 1, "minor")
    campaign.protocol = "mqm"
    with_category = fit(campaign, {own.pk: [FoundSpan("target", 0, 3, "major", "style/awkward")]})
    assert with_category.spans[own.pk] == (Span("target", 0, 3, "major", "style/awkward"),)


@pytest.mark.django_db
def test_only_drafts_whose_protocol_marks_errors_have_suggestions(world: World) -> None:
    about = {"source": "file", "label": "x", "details": {}}
    spans = {output(world).pk: [Span("target", 0, 3, "major")]}
    with refused("prefill.no-spans"):
        suggestions.keep_suggestions(world.campaign, spans, **about)
    campaign = drafted(world)
    with refused("prefill.no-errors"):
        suggestions.keep_suggestions(campaign, {output(world).pk: []}, **about)
    with refused("prefill.nothing-suggested"):
        suggestions.keep_gold(campaign, spans, label="gold")
    suggestions.keep_suggestions(campaign, spans, **about)
    suggestions.keep_suggestions(campaign, spans, **about)
    assert json.loads(json.dumps(Prefill.objects.get().outputs.get().spans)) == [
        ["target", 0, 3, "major", ""]
    ]
