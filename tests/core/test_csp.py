"""Nothing inline on any page: the content security policy would block it."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from annotation.campaigns import add_annotators, open_campaign
from annotation.models import Assignment
from tests.world import World

NEEDS = {"extensions.studies", "extensions.comparison", "extensions.layers"}

INLINE = {
    "a style attribute": re.compile(r"<[^>]+\sstyle\s*=", re.I),
    "an event handler": re.compile(r"<[^>]+\son[a-z]+\s*=\s*[\"']", re.I),
    "a script body": re.compile(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)[^>]*>", re.I),
    "a style element": re.compile(r"<style", re.I),
    "a javascript: link": re.compile(r"href\s*=\s*[\"']?\s*javascript:", re.I),
    "a foreign address": re.compile(r"(?:src|href)\s*=\s*[\"'](?:https?:)?//", re.I),
    "hx-on": re.compile(r"\shx-on", re.I),
}

NOT_THERE = {"/nowhere/", "/a/wrong/"}


def pages(world: World) -> dict[str, list[str]]:
    """Addresses by role; every named page of ours that answers to GET."""
    campaign, test_set = world.campaign.slug, world.test_set.slug
    item = Assignment.objects.filter(annotator__user=world.annotators[0]).first()
    return {
        "admin": [
            reverse("testsets"), reverse("testset-upload"), reverse("testset", args=[test_set]),
            reverse("campaigns"), reverse("campaign-new"),
            f"{reverse('campaign-new')}?testset={test_set}",
            reverse("campaign-preview", args=[campaign]),
            reverse("campaign-import"), reverse("campaign-items", args=[campaign]),
            reverse("export", args=[campaign]),
            reverse("campaign", args=[campaign]), reverse("quality", args=[campaign]),
            reverse("results", args=[campaign]), reverse("campaign-setup", args=[campaign]),
            reverse("correlations", args=[campaign]), reverse("runs"),
            reverse("metrics"), reverse("metric", args=["chrf"]), reverse("metric-add"),
            reverse("metric-scores", args=[test_set]), reverse("metric-scores-sets"),
            reverse("metric-configure", args=["bertscore"]), reverse("models"), reverse("workers"),
            reverse("judges"), reverse("judge-template", args=["error-spans"]),
            reverse("judge-template-add"), reverse("metric-configure", args=["judge"]),
            reverse("significance", args=[campaign]), reverse("layers", args=[campaign]),
            reverse("run-start", args=[test_set]), reverse("studies"), "/nowhere/",
            reverse("monitor", args=[campaign]), reverse("monitor-remarks", args=[campaign]),
            reverse("campaign-power", args=[campaign]), reverse("power"),
            reverse("dashboard", args=[campaign]), reverse("whatif", args=[campaign]),
            reverse("samplesize", args=[campaign]), f"{reverse('compare')}?campaign={campaign}",
            reverse("scatter", args=[campaign]), reverse("systems", args=[campaign]),
            reverse("report", args=[campaign]), reverse("report-file", args=[campaign, "html"]),
            reverse("bundle", args=[campaign]),
        ],
        "annotator": [
            "/", reverse("item", args=[item.public_id]),
            reverse("annotate-history", args=[campaign]),
            reverse("annotate-done", args=[campaign]),
        ],
        "nobody": [reverse("login"), "/a/wrong/"],
    }  # fmt: skip


@pytest.mark.parametrize("role", ["admin", "annotator", "nobody"])
def test_pages_hold_nothing_inline(world: World, client: Client, role: str) -> None:
    add_annotators(campaign=world.campaign, users=world.annotators)
    open_campaign(campaign=world.campaign)
    if role != "nobody":
        client.force_login(world.admin if role == "admin" else world.annotators[0])
    for address in pages(world)[role]:
        response = client.get(address, follow=True)
        assert (response.status_code == 200) != (address in NOT_THERE), address
        policy = response.headers["Content-Security-Policy"]
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy
        found = [what for what, pattern in INLINE.items() if pattern.search(response.text)]
        assert found == [], f"{address}: {found}"


def test_the_check_would_notice() -> None:
    bad = [
        '<p style="x">',
        '<a onclick="x">',
        "<script>x</script>",
        "<style>",
        '<a href="javascript:x">',
        '<img src="//cdn.example/x">',
        '<div hx-on:click="x">',
    ]
    for sample, pattern in zip(bad, INLINE.values(), strict=True):
        assert pattern.search(sample), sample
