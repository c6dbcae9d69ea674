"""The verdict where numbers are read: pages, studies, LaTeX, README."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.documents import results
from dashboards.pages.choice import general
from dashboards.trust.reasons import LABELS, SUMMARIES, Reason, Severity, Verdict, document_of

Document = dict[str, Any]
# The fields of the verdict that stand in documents.
FIELDS = (
    *("campaign", "name", "verdict", "label", "summary", "reasons"),
    *("n_systems", "n_segments", "n_informative"),
)

OF_STUDIES = (
    "The judgments of {n} of {all} campaigns do not bear their numbers out: nothing of theirs is "
    "ranked, marked or bold."
)


def with_trust(
    found: results.Result[Any], campaign: Campaign, filters: Filters
) -> results.Result[Any]:
    """Add the verdict to a document as `trust`, None while it is not known.

    It is asked for also where there are no numbers yet: it goes first (`Documents.choose`), so that
    it is there when the numbers come.
    """
    if isinstance(found.document, dict) and "trust" in found.document:
        return found
    verdict = results.latest("trust", campaign, general(filters))
    return found if found.document is None else results.completed(found, verdict, _attach)


def latest(campaign: Campaign, filters: Filters) -> Document | None:
    """Return the newest verdict on a campaign under filters; None while there is none."""
    return fields_of(results.latest("trust", campaign, general(filters)).document)


def _attach(document: Any, found: results.Completion[Document]) -> Any:
    return judged(document, fields_of(found.document))


def judged(document: Any, trust: Document | None) -> Any:
    """Return a document with the verdict on its numbers."""
    is_plain = isinstance(document, dict)
    return document | {"trust": trust} if is_plain else replace(document, trust=trust)


def trust_in(document: Any) -> Document | None:
    """The inverse of `judged`."""
    found: Document | None = document["trust"] if isinstance(document, dict) else document.trust
    return found


def fields_of(document: Mapping[str, Any] | None) -> Document | None:
    """Return what of an analysis `trust` stands in other documents."""
    return None if document is None else {name: document[name] for name in FIELDS}


def worst_of(found: Sequence[Document | None]) -> Document | None:
    """Return one verdict for several campaigns: the worst, its reasons with their campaigns.

    What limits several campaigns alike stands once, with their names. None while one of them is
    not known, or where there is none.
    """
    known = [each for each in found if each is not None]
    if not known or len(known) < len(found):
        return None
    order = list(Verdict)
    worst = min((Verdict(each["verdict"]) for each in known), key=order.index)
    reasons = _grouped(known)
    summary = SUMMARIES[worst]
    if worst == Verdict.DO_NOT_USE:
        n = sum(each["verdict"] == worst for each in known)
        summary = OF_STUDIES.format(n=n, all=len(known)) if len(known) > 1 else summary
    about = {"verdict": worst.value, "label": LABELS[worst], "summary": summary}
    numbers = ("campaign", "name", "verdict", "label")
    campaigns = [{name: each[name] for name in numbers} for each in known]
    return document_of(reasons) | about | {"campaigns": campaigns}


def _grouped(known: Sequence[Document]) -> list[Reason]:
    """The reasons of all campaigns; one that is the same in several stands once."""
    found: dict[tuple[str, ...], list[Document]] = {}
    for each in known:
        for reason in each["reasons"]:
            same = tuple(reason[name] for name in ("code", "severity", "text", "advice", "page"))
            found.setdefault(same, []).append(each)
    return [
        Reason(
            code, Severity(severity), text, advice, page,
            scope=", ".join(each["name"] for each in those),
            campaign=those[0]["campaign"],
        )
        for (code, severity, text, advice, page), those in found.items()
    ]  # fmt: skip


def lines(trust: Mapping[str, Any] | None) -> list[str]:
    """Return the verdict and its reasons as plain lines."""
    if trust is None:
        return ["Trust: not known yet."]
    head = f"Trust: {trust['label']}. {trust['summary']}"
    return [head, *(f"{_heading(reason)}{reason['text']}" for reason in trust["reasons"])]


def _heading(reason: Mapping[str, Any]) -> str:
    scope = f"{reason['scope']}: " if reason["scope"] else ""
    return f"- {reason['topic']} ({reason['severity']}): {scope}"


def comments(trust: Mapping[str, Any] | None) -> str:
    """Return the verdict as comments of a LaTeX file."""
    return "".join(f"% {' '.join(line.split())}\n" for line in lines(trust))
