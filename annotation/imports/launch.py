"""Store test sets, campaigns and their annotators of an import, completely or not at all."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from annotation import uploads
from annotation.campaigns import Invitation, add_annotators
from annotation.imports.drafts import CampaignDraft
from annotation.imports.sameness import find_same
from annotation.imports.store import CampaignImport, store_campaign, stored_before
from annotation.uploads import TestSetDraft
from annotation.uploads.problems import Report
from annotation.uploads.spellings import fold
from core.messages import messages_of
from metaeval.messages import Message, message, truncated


@dataclass(frozen=True)
class Launched:
    """A stored campaign, with the personal links of its new annotators."""

    result: CampaignImport
    invitations: Sequence[Invitation]


@transaction.atomic
def launch(
    drafts: Sequence[tuple[TestSetDraft, CampaignDraft]],
    *,
    user: Any = None,
    skipped: Sequence[Message] = (),
) -> list[Launched]:
    """Store test sets and campaigns, all or nothing, with what was `skipped` of their files.

    A draft gets as many annotators with personal links as it has places. Repeating an import
    changes nothing. Raises ValidationError with all errors.
    """
    launched = []
    for test_set_draft, campaign_draft in drafts:
        result = stored_before(campaign_draft)
        if result is None:
            test_set = uploads.store(test_set_draft, user=user).test_set
            result = store_campaign(campaign_draft, test_set, user=user)
            uploads.note_skipped(skipped, test_set, campaign=result.campaign, user=user)
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
    """Check test sets and campaigns, also against stored ones, without storing anything."""
    _warn_of_similar_annotators([campaign for _, campaign in drafts], report)
    new: dict[int, TestSetDraft] = {}
    for test_set, campaign in drafts:
        try:
            stored = find_same(campaign)
        except ValidationError as error:
            stored = None
            for refusal in messages_of(error):
                report.error(refusal)
        if stored is None:
            new[id(test_set)] = test_set
            continue
        text = message(
            "import.stored-before",
            "Everything is already stored, in the campaign “{campaign}”. Nothing will change.",
            campaign=stored.slug,
        )
        report.note(text)
    for test_set in new.values():
        uploads.examine(test_set, report, user=user)


def _warn_of_similar_annotators(campaigns: Iterable[CampaignDraft], report: Report) -> None:
    """Warn of names that differ only in case or blanks, because they may be one person."""
    names = {judgment.annotator for campaign in campaigns for judgment in campaign.judgments}
    spellings: dict[str, list[str]] = {}
    for name in sorted(names):
        spellings.setdefault(fold(name), []).append(name)
    if found := [", ".join(f"“{n}”" for n in each) for each in spellings.values() if each[1:]]:
        report.warn(
            message(
                "import.annotators-alike",
                "Some names of annotators differ only in case or blanks: {names}. Each counts as a "
                "separate annotator. If they are one person, write them the same.",
                names=truncated(found),
            )
        )
