"""One number has one interval: every page, its data and the bundle show the same digits."""

import json
import zipfile
from io import BytesIO
from typing import Any

from django.test import Client
from django.urls import reverse

from annotation.filters import Filters
from annotation.models import Campaign, Judgment
from core.numbers import decimals
from dashboards.bundle import build
from dashboards.overview import document as overview
from dashboards.report.parts import parts
from tests.refusals import tells

NAMES = ("one_vs_rest", "alpha_z", "alpha_raw")
Found = dict[str, tuple[float, float, float]]


def of_monitor(client: Client, slug: str) -> Found:
    found = client.get(reverse("monitor-data", args=[slug])).json()["agreement"]
    return {
        name: (found[name]["value"], *(found[name]["interval"][end] for end in ("low", "high")))
        for name in NAMES
    }


def of_quality(client: Client, slug: str) -> Found:
    found = client.get(reverse("quality-data", args=[slug, "json"])).json()["without_traps"]
    return {name: (found[name]["statistic"], *found[name]["interval"][:2]) for name in NAMES}


def of_document(found: dict[str, Any]) -> Found:
    return {name: (found[name][0], *found[name][1][:2]) for name in NAMES}


def of_bundle(campaign: Campaign) -> Found:
    archive = zipfile.ZipFile(BytesIO(build(campaign, Filters()).zip))
    path = next(name for name in archive.namelist() if name.endswith("expected/quality.json"))
    found = {row["statistic"]: row["value"] for row in json.loads(archive.read(path))["rows"]}
    return {
        name: tuple(found[f"{name}_without_traps{end}"] for end in ("", "_low", "_high"))
        for name in NAMES
    }


def test_the_same_judgments_have_the_same_digits_everywhere(
    rated: Campaign, as_researcher: Client
) -> None:
    shown = of_monitor(as_researcher, rated.slug)
    others = {
        "quality": of_quality(as_researcher, rated.slug),
        "dashboard": of_document(vars(overview.compute(rated, Filters()).agreement[0])),
        "report": of_document(vars(parts(rated, Filters())["quality"].agreement[-1])),
        "bundle": of_bundle(rated),
    }
    assert others == dict.fromkeys(others, shown)
    page = as_researcher.get(reverse("quality", args=[rated.slug])).text
    for value, low, high in shown.values():
        assert f"{decimals(value)} [{decimals(low)}, {decimals(high)}]" in page
    assert tells(page, "method.bootstrap-alpha-documents")
    assert tells(page, "method.jackknife-r-documents")


def test_too_few_items_are_said_instead_of_an_interval(
    rated: Campaign, as_researcher: Client
) -> None:
    outputs = rated.items.filter(kind="target").order_by("pk").values_list("pk", flat=True)[:4]
    unwanted = Judgment.objects.filter(assignment__item__campaign=rated)
    unwanted.exclude(assignment__item__in=list(outputs)).delete()
    page = as_researcher.get(reverse("quality", args=[rated.slug])).text
    assert "4 items" in page
    (part,) = overview.compute(rated, Filters()).agreement
    assert part.alpha_z[1] is None
    basis = part.basis["alpha_z"]
    assert (basis.code, basis.parameters["n"]) == ("agreement.few-items", 4)


def test_what_no_interval_has_is_said_once(rated: Campaign, as_researcher: Client) -> None:
    """One annotator: agreement is undefined, and no method of an interval is named."""
    others = list(rated.annotators.order_by("pk").values_list("label", flat=True)[1:])
    answer = as_researcher.get(reverse("quality", args=[rated.slug]), {"without": others})
    assert 'data-name="basis"' not in answer.text
    document = answer.context["document"]
    codes = [each.code for each in document.warnings]
    assert codes.count("agreement.no-pairs") == 1
    (alone,) = (each for each in document.warnings if each.code == "agreement.few-shared-items")
    assert "n" not in alone.parameters


def test_both_lines_with_one_method_name_it_once(rated: Campaign, as_researcher: Client) -> None:
    answer = as_researcher.get(reverse("quality", args=[rated.slug]))
    document = answer.context["document"]
    assert document.with_traps is not None
    assert document.with_traps.methods == document.without_traps.methods
    assert answer.text.count('data-name="basis"') == 1


def test_zero_inflated_scores_are_told_on_the_quality_page(
    rated: Campaign, as_researcher: Client
) -> None:
    rows = Judgment.objects.filter(assignment__item__campaign=rated).order_by("pk")
    for judgment in rows:
        if judgment.pk % 3:
            judgment.score = 0
            judgment.save(update_fields=["score"])
    page = as_researcher.get(reverse("quality", args=[rated.slug])).text
    assert tells(page, "agreement.at-the-end")
