"""Storing what an import read: test sets, campaigns and their annotators, or nothing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from annotation import uploads
from annotation.campaigns import Invitation, add_annotators
from annotation.imports.drafts import CampaignDraft
from annotation.imports.store import CampaignImport, require_same, store_campaign
from annotation.uploads import TestSetDraft
from annotation.uploads.problems import Report
from annotation.uploads.spellings import fold
from core.text import join_truncated


@dataclass(frozen=True)
class Launched:
    """A stored campaign, with the personal links of its new annotators."""

    result: CampaignImport
    invitations: Sequence[Invitation]


@transaction.atomic
def launch(
    drafts: Sequence[tuple[TestSetDraft, CampaignDraft]], *, user: Any = None
) -> list[Launched]:
    """Store test sets and campaigns, all or nothing.

    A draft gets as many annotators with personal links as it has places. The same import again
    changes nothing. Raises ValidationError with everything that stands against it.
    """
    launched = []
    for test_set_draft, campaign_draft in drafts:
        test_set = uploads.store(test_set_draft, user=user).test_set
        result = store_campaign(campaign_draft, test_set, user=user)
        invitations: Sequence[Invitation] = ()
        if result.is_new and not campaign_draft.is_finished and campaign_draft.places:
            invitations = add_annotators(campaign=result.campaign, links=campaign_draft.places)
            for invitation, own in zip(invitations, campaign_draft.codes, strict=False):
                invitation.annotator.codes = own and dict(own)
                invitation.annotator.save(update_fields=["codes"])
        launched.append(Launched(result, invitations))
    return launched


def examine(
    drafts: Sequence[tuple[TestSetDraft, CampaignDraft]], report: Report, *, user: Any = None
) -> None:
    """Check test sets and campaigns against what is stored, and by themselves; store nothing."""
    test_sets = {id(test_set): test_set for test_set, _ in drafts}
    for test_set in test_sets.values():
        uploads.examine(test_set, report, user=user)
    _doubt_annotators([campaign for _, campaign in drafts], report)
    for _, campaign in drafts:
        try:
            require_same(campaign)
        except ValidationError as error:
            report.error(" ".join(error.messages).rstrip("."))


def _doubt_annotators(campaigns: Iterable[CampaignDraft], report: Report) -> None:
    """Warn of names that a person would take for one: they may be of several people."""
    names = {judgment.annotator for campaign in campaigns for judgment in campaign.judgments}
    spellings: dict[str, list[str]] = {}
    for name in sorted(names):
        spellings.setdefault(fold(name), []).append(name)
    if found := [", ".join(f"“{n}”" for n in each) for each in spellings.values() if each[1:]]:
        report.warn(
            f"names of annotators differ only in case or blanks ({join_truncated(found)}): each "
            "counts as "
            "another person. Write them alike where one is meant"
        )
