"""Add the verdict to pages, studies, LaTeX files and READMEs."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.documents import results
from dashboards.documents.reasons import (
    SUMMARIES,
    CampaignTrust,
    Judged,
    Reason,
    StudyTrust,
    Trust,
    Verdict,
    fields_of,
)
from dashboards.panel.choice import PooledChoice, general
from dashboards.trust.marks import PARTS, VERDICT
from metaeval.messages import Message, message


def with_trust(
    found: results.Result[Any], campaign: Campaign, filters: Filters
) -> results.Result[Any]:
    """Add the verdict to a document as `trust`, None while it is not known.

    The verdict is requested also where there are no numbers yet: it is computed first
    (`Documents.choose`), so that it is ready when the numbers are.
    """
    if found.document is not None and found.document.trust is not None:
        return found
    verdict = results.latest("trust", campaign, general(filters))
    if found.document is None:
        return found
    return results.completed(found, verdict, _attach, PARTS[VERDICT])


def pooled(kind: str, campaigns: Sequence[Campaign], question: PooledChoice) -> results.Result[Any]:
    """Return the newest document of several campaigns, with the worst of their verdicts."""
    if not campaigns:
        return results.Result(None, None, is_fresh=True)
    found = [results.latest(kind, campaigns[0], question.over(campaigns))]
    found += [results.latest("trust", each, question.shared()) for each in campaigns]
    return results.together(found, lambda known: judged(known[0], worst_of(known[1:])))


def _attach(document: Any, found: results.Completion[CampaignTrust]) -> Any:
    trust = found.document
    if trust is not None and found.as_of is not None and not found.is_same:
        trust = replace(trust, older=[_older(found)])
    failed = document.failed
    if trust is None and found.message:
        failed = {**failed, VERDICT: found.message}
    return replace(document, trust=trust, failed=failed)


def _older(found: results.Completion[CampaignTrust]) -> Message:
    if found.message:
        return message(
            "trust.older-failed",
            "This verdict is as of {at:moment} UTC. The data have changed since, and a newer "
            "verdict could not be computed.",
            at=found.as_of,
        )
    return message(
        "trust.older",
        "This verdict is as of {at:moment} UTC. The data have changed since, and a newer verdict "
        "is being computed.",
        at=found.as_of,
    )


def judged(document: Any, trust: Trust | None) -> Any:
    """Return a document with the verdict on its numbers."""
    return replace(document, trust=trust)


def worst_of(found: Sequence[CampaignTrust | None]) -> StudyTrust | None:
    """Return one verdict for several campaigns: the worst, its reasons with their campaigns.

    A reason that several campaigns share appears once, with their names. None while one of the
    verdicts is not known, or where there is none.
    """
    known = [each for each in found if each is not None]
    if not known or len(known) < len(found):
        return None
    worst = min((each.verdict for each in known), key=list(Verdict).index)
    summary, n = SUMMARIES[worst], sum(each.verdict == worst for each in known)
    if worst == Verdict.DO_NOT_USE and len(known) > 1:
        summary = message(
            "verdict.do-not-use-several",
            "The judgments of {n} of {total} campaigns do not support their numbers, so nothing of "
            "these campaigns is ranked, marked or bold.",
            n=n,
            total=len(known),
        )
    campaigns = [Judged(each.campaign, each.name, each.verdict, each.label) for each in known]
    older = [
        message("warning.of-campaign", "{campaign}: {warning}", campaign=each.name, warning=warning)
        for each in known
        for warning in each.older
    ]
    about = fields_of(worst, _grouped(known)) | {"summary": summary, "older": older}
    return StudyTrust(**about, campaigns=campaigns)


def _grouped(known: Sequence[CampaignTrust]) -> list[Reason]:
    """The reasons of all campaigns; one that several share appears once."""
    found: dict[Reason, list[CampaignTrust]] = {}
    for each in known:
        for reason in each.reasons:
            found.setdefault(reason, []).append(each)
    return [
        replace(reason, scope=_names(those), campaign=those[0].campaign)
        for reason, those in found.items()
    ]


def _names(campaigns: Sequence[CampaignTrust]) -> Message:
    names = [each.name for each in campaigns]
    return message("trust.campaigns", "{campaigns}", campaigns=names)


def lines(trust: Trust | None) -> list[str]:
    """Return the verdict and its reasons as lines in English; none without a campaign."""
    if trust is None:
        return []
    heads = [f"Trust: {trust.label}. {trust.summary}", *map(str, trust.older)]
    return [*heads, *(f"{_heading(reason)}{reason.text}" for reason in trust.reasons)]


def _heading(reason: Reason) -> str:
    scope = f"{reason.scope}: " if reason.scope else ""
    return f"- {reason.topic} ({reason.severity}): {scope}"


def comments(trust: Trust | None) -> str:
    """Return the verdict as comments of a LaTeX file."""
    return "".join(f"% {' '.join(line.split())}\n" for line in lines(trust))
