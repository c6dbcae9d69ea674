"""Draw the marks of the first page's figures."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django import template
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from core import numbers
from core.messages import translated
from core.numbers import NOTHING, decimals
from dashboards.charts.dots import Axis, Dot
from dashboards.comparisons.selection import folded
from dashboards.documents.reasons import Reason
from dashboards.panel.panel import baseline_label
from dashboards.report.parts import Range
from dashboards.results.answer import Answer
from metaeval.messages import Message, message, plural

register = template.Library()
# Characters for private use, around the number of a name in a sentence.
MARKERS = "\ue000\ue001"
MARKED = re.compile("\ue000[0-9]+\ue001")


@register.filter
def named(row: object, name: str) -> object:
    """Return an attribute of a row, for columns that differ between pages."""
    return getattr(row, name)


@register.filter
def label_of(row: Any) -> str:
    """Return the label of a metric or baseline in the language of the page."""
    found = baseline_label(row.key, row.label)
    return translated(found) if isinstance(found, Message) else found


@register.filter
def brief_name(label: str) -> str:
    """Shorten a metric's label for figures."""
    return label.replace("(characters)", "(chars)")


@register.simple_tag
def dot(mark: Dot, axis: Axis | None) -> SafeString:
    """Draw one mark with its interval on its axis; a page has a hundred of them."""
    grid = [
        f'<line class="grid" x1="{t.x}%" x2="{t.x}%" y2="100%"/>'
        for t in (axis.ticks if axis else ())
    ]
    line, circle, value = "", "", _text(mark, "val", mark.text or NOTHING)
    if mark.low is not None:
        line = f'<line class="ci" x1="{mark.low}%" x2="{mark.high}%" y1="50%" y2="50%"/>'
    if mark.x is not None:
        circle = f'<circle cx="{mark.x}%" cy="50%" r="4"/>'
    ends = _text(mark, "ends", mark.ends) if mark.ends else ""
    spoken = ", ".join(filter(None, (mark.text or gettext("undefined"), mark.ends)))
    # Numbers alone, from `dashboards.charts.dots`.
    return mark_safe(  # noqa: S308
        f'<svg class="dot" aria-hidden="true">{"".join(grid)}{line}{circle}{value}{ends}</svg>'
        f'<span class="visually-hidden">{spoken}</span>'
    )


@register.simple_tag(takes_context=True)
def linked(context: dict[str, Any], answer: Answer, address: str = "") -> SafeString:
    """Return the sentence of an answer with names of metrics emphasised, or linked to `address`."""
    markers = {label: f"{MARKERS[0]}{n}{MARKERS[1]}" for n, label in enumerate(answer.keys)}
    known = {name: _marked(each, markers) for name, each in answer.sentence.parameters.items()}
    text = str(escape(translated(replace(answer.sentence, parameters=known, text=""))))
    links = {
        marker: _link(context, label, answer.keys[label], address)
        for label, marker in markers.items()
    }
    # Escaped above; links are made of escaped names, which may look like markers themselves.
    return mark_safe(MARKED.sub(lambda found: links.get(found[0], found[0]), text))  # noqa: S308


def _marked(value: Any, markers: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_marked(each, markers) for each in value]
    return markers.get(value, value) if isinstance(value, str) else value


def _link(context: dict[str, Any], label: str, key: str, address: str) -> str:
    if not address:
        return format_html("<em>{}</em>", label)
    query = context["request"].GET.copy()
    query.pop("metric", None)
    query["row"] = key
    return format_html('<a href="{}?{}">{}</a>', address, query.urlencode(), label)


def _text(mark: Dot, name: str, text: str) -> str:
    return f'<text class="{name}" x="{mark.after}%" dx="7" y="50%" dy="4">{text}</text>'


@register.inclusion_tag("dashboards/_variants.html", takes_context=True)
def variants(context: dict[str, Any], row: Any) -> dict[str, Any]:
    """Return the metrics that are folded into a row, and the address that compares them too."""
    document, request = context["document"], context["request"]
    found: list[Any] = []
    if len(document.metrics) < len(document.all_metrics):
        shown = {metric.key for metric in document.metrics}
        metrics = [metric for metric in document.all_metrics if metric.key in shown]
        found = folded(document.all_metrics, metrics).get(row.key, [])
    query = request.GET.copy()
    if found:
        query.setlist("metric", [*(each.key for each in metrics), *(each.key for each in found)])
    return {"variants": found, "label": row.label, "address": f"?{query.urlencode()}"}


@register.simple_tag(takes_context=True)
def n_folded(context: dict[str, Any]) -> int:
    """Return the number of metrics that the page could show besides those that it compares."""
    document = context["document"]
    return len(document.all_metrics) - len(document.metrics)


@register.simple_tag(takes_context=True)
def floors_differ(context: dict[str, Any]) -> bool:
    """Return whether marks against the baselines distinguish metrics; a sentence has them all."""
    rows = context["document"].rows
    return len({row.floor for row in rows if row.kind == "metric"}) > 1


@register.inclusion_tag("dashboards/_ticks.html")
def ticks(axis: Axis) -> dict[str, Any]:
    """Return the numbers under a panel."""
    return {"axis": axis}


MARKS = {
    "no_times": message("mark.no-times", "no times known"),
    "few_times": message("mark.few-times", "few times known"),
    "controls_failed": message("mark.controls-failed", "control items failed"),
    "controls_none": message("mark.controls-none", "no control items"),
    "controls_few": message("mark.controls-few", "few control items"),
    "agreement_none": message("mark.agreement-none", "no agreement"),
    "agreement_unknown": message("mark.agreement-unknown", "agreement unknown"),
    "simulated": message("mark.simulated", "simulated annotators"),
    "one_annotator": message("mark.one-annotator", "one annotator"),
    "judgments_missing": message("mark.judgments-missing", "judgments not published"),
    "intervals_hold_chance": message("mark.intervals", "intervals include chance"),
}


@register.filter
def brief(reason: Reason) -> Message:
    """Return a reason as its mark."""
    n, total = reason.text.count, reason.text.parameters.get("total", 0)
    match reason.code:
        case "impossible_speed":
            return message(
                "mark.impossible-speed",
                "{n} of {total} annotators too fast to have read",
                n=n,
                total=total,
            )
        case "excluded":
            return message("mark.excluded", "{n} of {total} annotators excluded", n=n, total=total)
        case "sparse":
            return message(
                "mark.sparse", "{n} of {total} segments compare systems", n=n, total=total
            )
        case "few_systems":
            return plural("mark.few-systems", "{n} system", "{n} systems", n=n)
        case "few_segments":
            return plural("mark.few-segments", "{n} segment", "{n} segments", n=n)
        case "few_documents":
            return plural("mark.few-documents", "{n} document", "{n} documents", n=n)
    return MARKS[reason.code]


@register.filter
def bare(value: float | None) -> str:
    """Format as `.62`; a dash for None."""
    return numbers.bare(value)


@register.filter
def bare3(value: float | None) -> str:
    """Format with three decimals: `.493`."""
    return numbers.bare(value, 3)


@register.filter
def ranged(value: Range, places: int = 1) -> str:
    """Format as `52.3 [41.0, 60.5]`; a dash if nobody has a number."""
    if value.mean is None:
        return NOTHING
    return f"{decimals(value.mean, places)} {numbers.interval((value.low, value.high), places)}"
