"""The verdict where numbers are read: pages, studies, LaTeX, README."""

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
    said_of,
)
from dashboards.panel.choice import general
from dashboards.trust.marks import VERDICT

OF_STUDIES = (
    "The judgments of {n} of {all} campaigns do not bear their numbers out: nothing of theirs is "
    "ranked, marked or bold."
)

OLDER = (
    "This verdict is as of {when} UTC. The data have changed since; a newer one is being computed."
)
OLDER_FAILED = (
    "This verdict is as of {when} UTC. The data have changed since; a newer one could not be "
    "computed."
)


def with_trust(
    found: results.Result[Any], campaign: Campaign, filters: Filters
) -> results.Result[Any]:
    """Add the verdict to a document that has none as `trust`, None while it is not known.

    It is asked for also where there are no numbers yet: it goes first (`Documents.choose`), so that
    it is there when the numbers come.
    """
    if found.document is not None and found.document.trust is not None:
        return found
    verdict = results.latest("trust", campaign, general(filters))
    return found if found.document is None else results.completed(found, verdict, _attach, VERDICT)


def _attach(document: Any, found: results.Completion[CampaignTrust]) -> Any:
    trust = found.document
    if trust is not None and found.as_of is not None and not found.is_same:
        older = OLDER_FAILED if found.message else OLDER
        trust = replace(trust, older=older.format(when=found.as_of.strftime("%Y-%m-%d %H:%M:%S")))
    failed = document.failed
    if trust is None and found.message:
        failed = {**failed, VERDICT: found.message}
    return replace(document, trust=trust, failed=failed)


def judged(document: Any, trust: Trust | None) -> Any:
    """Return a document with the verdict on its numbers."""
    return replace(document, trust=trust)


def worst_of(found: Sequence[CampaignTrust | None]) -> StudyTrust | None:
    """Return one verdict for several campaigns: the worst, its reasons with their campaigns.

    What limits several campaigns alike stands once, with their names. None while one of them is
    not known, or where there is none.
    """
    known = [each for each in found if each is not None]
    if not known or len(known) < len(found):
        return None
    worst = min((each.verdict for each in known), key=list(Verdict).index)
    summary, n = SUMMARIES[worst], sum(each.verdict == worst for each in known)
    if worst == Verdict.DO_NOT_USE and len(known) > 1:
        summary = OF_STUDIES.format(n=n, all=len(known))
    campaigns = [Judged(each.campaign, each.name, each.verdict, each.label) for each in known]
    older = [f"{each.name}: {each.older}" for each in known if each.older]
    about = said_of(worst, _grouped(known)) | {"summary": summary, "older": " ".join(older)}
    return StudyTrust(**about, campaigns=campaigns)


def _grouped(known: Sequence[CampaignTrust]) -> list[Reason]:
    """The reasons of all campaigns; one that is the same in several stands once."""
    found: dict[Reason, list[CampaignTrust]] = {}
    for each in known:
        for reason in each.reasons:
            found.setdefault(reason, []).append(each)
    return [
        replace(reason, scope=", ".join(one.name for one in those), campaign=those[0].campaign)
        for reason, those in found.items()
    ]


def lines(trust: Trust | None) -> list[str]:
    """Return the verdict and its reasons as plain lines; none where there is no campaign."""
    if trust is None:
        return []
    head = f"Trust: {trust.label}. {trust.summary}"
    heads = [head, trust.older] if trust.older else [head]
    return [*heads, *(f"{_heading(reason)}{reason.text}" for reason in trust.reasons)]


def _heading(reason: Reason) -> str:
    scope = f"{reason.scope}: " if reason.scope else ""
    return f"- {reason.topic} ({reason.severity}): {scope}"


def comments(trust: Trust | None) -> str:
    """Return the verdict as comments of a LaTeX file."""
    return "".join(f"% {' '.join(line.split())}\n" for line in lines(trust))
