"""Suggested errors in a campaign file: suggestions, adjudicated errors, the trial's shares."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError

from annotation.models import Campaign, Output, Prefill
from annotation.prefill.suggestions import Condition, keep_gold, keep_suggestions
from annotation.prefill.trial import set_shares, shares_of
from annotation.protocols import Span
from annotation.protocols.base import TARGET
from annotation.uploads import Report
from annotation.uploads.problems import Place
from core.messages import messages_of
from metaeval.messages import message

Found = dict[int, list[Span]]


def written(campaign: Campaign) -> dict[str, Any] | None:
    """Return the suggestions as in a file; None for a campaign without suggestions by output."""
    prefill = Prefill.objects.filter(campaign=campaign).first()
    rows = prefill.outputs.select_related("output__system", "output__segment") if prefill else ()
    outputs = [
        {
            "system": row.output.system.name,
            "segment": row.output.segment.key,
            **({"spans": row.spans} if row.spans is not None else {}),
            **({"gold": row.gold} if row.gold is not None else {}),
        }
        for row in rows
    ]
    if prefill is None or not outputs:
        return None
    return {
        "source": prefill.source,
        "label": prefill.label,
        "gold_label": prefill.gold_label,
        "seed": prefill.seed,
        "shares": {str(name): share for name, share in shares_of(prefill).items()},
        "outputs": outputs,
    }


def suggest(
    campaign: Campaign, values: Mapping[str, Any] | None, file: str, report: Report, user: Any
) -> None:
    """Store the suggestions of a file; errors go to the report with their paths."""
    if values is None:
        return
    spans, gold = _read(campaign, values, file, report)
    if report.errors:
        return
    label = values.get("label") or file
    try:
        keep_suggestions(
            campaign, spans, source=values.get("source", Prefill.Source.FILE), label=label,
            details={}, user=user if user is not None and user.is_authenticated else None,
        )  # fmt: skip
        if gold:
            keep_gold(campaign, gold, label=values.get("gold_label") or label)
        shares = values.get("shares", {})
        if shares:
            wanted = {each: shares.get(each, 0) for each in Condition if each}
            set_shares(campaign, wanted, seed=values.get("seed", campaign.seed))
    except ValidationError as error:
        for text in messages_of(error):
            report.error(text, Place(file, None, "suggestions"))


def _read(
    campaign: Campaign, values: Mapping[str, Any], file: str, report: Report
) -> tuple[Found, Found]:
    rows = Output.objects.filter(system__in=campaign.systems.all())
    columns = ("system__name", "segment__key", "pk", "text", "segment__source")
    outputs = {tuple(row[:2]): row[2:] for row in rows.values_list(*columns)}
    found: dict[str, Found] = {"spans": {}, "gold": {}}
    for number, each in enumerate(values["outputs"]):
        path = f"suggestions.outputs[{number}]"
        output = outputs.get((each["system"], each["segment"]))
        if output is None:
            refusal = message(
                "campaign-file.no-output", "The campaign has no output of this system and segment."
            )
            report.error(refusal, Place(file, None, path))
            continue
        pk, text, source = output
        for name in found:
            spans = [Span(*span) for span in each.get(name, ())]
            for i, span in enumerate(spans):
                if not _is_inside(span, campaign, text, source):
                    refusal = message(
                        "campaign-file.span",
                        "The span [{start}, {end}) is outside the text.",
                        start=span.start,
                        end=span.end,
                    )
                    report.error(refusal, Place(file, None, f"{path}.{name}[{i}]"))
            if name in each:
                found[name][pk] = spans
    return found["spans"], found["gold"]


def _is_inside(span: Span, campaign: Campaign, text: str, source: str) -> bool:
    scheme = campaign.judging.spans
    tokens = len(scheme.tokens) if scheme else 0
    length = len(text) + tokens if span.side == TARGET else len(source)
    return 0 <= span.start < span.end <= length
