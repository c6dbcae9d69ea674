"""Store a draft completely or not at all; storing it again changes nothing."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation import uploads
from annotation.access import project_of_new
from annotation.campaigns import Invitation, add_annotators
from annotation.campaigns.sampling import keep_sample
from annotation.imports.drafts import CampaignDraft
from annotation.imports.sameness import find_same
from annotation.imports.stated_facts import store_judgments
from annotation.models import (
    Campaign,
    Item,
    OriginalFile,
    Output,
    Prefill,
    Project,
    PublishedPart,
    PublishedScore,
    System,
    TestSet,
)
from annotation.prefill.suggestions import as_stored
from annotation.projects import hidden_slug
from annotation.uploads import TestSetDraft
from annotation.uploads.problems import Report
from annotation.uploads.spellings import fold
from annotation.uploads.warnings import warn_of_entities
from core.database.inserting import insert, reserve
from core.messages import invalid, messages_of
from core.work.kinds import STORING, counted
from metaeval.messages import Message, message, plural, truncated

# Fields that an item and its draft share.
AS_DRAFTED = (
    *("text", "batch", "screen", "place", "column", "n_columns", "note", "low", "high"),
    "feedback",
)


@dataclass(frozen=True)
class CampaignImport:
    """The result of an import: `is_new` is False if everything was already stored."""

    campaign: Campaign
    is_new: bool
    n_items: int
    n_judgments: int
    n_published: int

    @property
    def contents(self) -> list[Message]:
        """The numbers of annotators, systems and so on in the campaign, without zeros."""
        items = self.campaign.items.values("segment")
        scored = self.campaign.published_scores.exclude(output=None).values("output__segment")
        n_segments = (items if self.n_items else scored).distinct().count()
        counts = [
            plural(
                "count.annotators",
                "{n} annotator",
                "{n} annotators",
                n=self.campaign.annotators.count(),
            ),
            plural("count.systems", "{n} system", "{n} systems", n=self.campaign.systems.count()),
            plural("count.segments", "{n} segment", "{n} segments", n=n_segments),
            plural("count.items", "{n} item", "{n} items", n=self.n_items),
            plural("count.judgments", "{n} judgment", "{n} judgments", n=self.n_judgments),
            plural(
                "import.published-scores",
                "{n} published score",
                "{n} published scores",
                n=self.n_published,
            ),
        ]
        return [each for each in counts if each.count]


@transaction.atomic
def store_campaign(draft: CampaignDraft, test_set: TestSet, *, user: Any = None) -> CampaignImport:
    """Store an imported campaign for a stored test set.

    Importing it again changes nothing. Raises ValidationError if the campaign is stored with other
    judgments, or if the draft names an output that does not exist.
    """
    if (before := stored_before(draft)) is not None:
        return before
    campaign = _create(draft, test_set, user)
    outputs = outputs_of(campaign)
    items = store_items(campaign, draft, dict(test_set.segments.values_list("key", "pk")), outputs)
    note_suggestions(campaign, draft)
    if draft.original:
        OriginalFile.objects.create(campaign=campaign, content=draft.original)
    store_judgments(campaign, draft, items, user)
    _store_published(campaign, draft, outputs)
    return _result(campaign, draft, is_new=True)


def stored_before(draft: CampaignDraft) -> CampaignImport | None:
    """Return the result of an import that changes nothing, or None. Raises ValidationError."""
    campaign = find_same(draft)
    return None if campaign is None else _result(campaign, draft, is_new=False)


def _result(campaign: Campaign, draft: CampaignDraft, *, is_new: bool) -> CampaignImport:
    counts = len(draft.items), len(draft.judgments), draft.n_published
    return CampaignImport(campaign, is_new, *counts)


def _create(draft: CampaignDraft, test_set: TestSet, user: Any) -> Campaign:
    finished = draft.is_finished
    # Without probabilities nothing says which segments were drawn.
    is_sampled = any(item.inclusion is not None for item in draft.items)
    campaign = Campaign.objects.create(
        slug=draft.slug,
        name=draft.name,
        public_title=draft.public_title,
        study=draft.study,
        test_set=test_set,
        project=project_of_new(test_set, user),
        is_private=test_set.project_id is not None,
        length_ratio=draft.length_ratio,
        shown_text=draft.shown_text,
        question=draft.question,
        instructions=draft.instructions,
        goodbye=draft.goodbye,
        z_pool=draft.z_pool,
        protocol=draft.protocol,
        annotators_per_item=draft.annotators_per_item,
        systems_per_screen=draft.systems_per_screen,
        assignment_mode=draft.assignment_mode,
        # Pearmut draws systems without exploration.
        exploration_percent=0 if draft.original else 20,
        cold_start=draft.cold_start,
        check_percent=draft.check_percent,
        lower_is_better=draft.lower_is_better,
        direction=draft.direction or "",  # type: ignore[misc]  # MessageField
        seed=draft.seed,
        sample=dict(draft.sample) if draft.sample and is_sampled else None,
        is_prefilled=draft.is_prefilled,
        special_tokens=None if draft.special_tokens is None else list(draft.special_tokens),
        answers=None if draft.answers is None else dict(draft.answers),
        traps_per_annotator=0,
        status=Campaign.Status.CLOSED if finished else Campaign.Status.DRAFT,
        origin=Campaign.Origin.IMPORTED if finished else Campaign.Origin.COLLECTED,
        closed_at=timezone.now() if finished else None,
        created_by=user if user is not None and user.is_authenticated else None,
    )
    campaign.systems.set(_systems_of(draft, test_set))
    return campaign


def _systems_of(draft: CampaignDraft, test_set: TestSet) -> QuerySet[System]:
    """Return the judged systems, or for a draft all systems with its length ratio."""
    rows = test_set.systems.filter(length_ratio=draft.length_ratio)
    judged = {item.system for item in draft.items if item.system}
    judged |= draft.scored
    return rows.filter(name__in=judged) if draft.is_finished and judged else rows


def note_suggestions(campaign: Campaign, draft: CampaignDraft) -> None:
    """Record the origin of errors that were marked beforehand in the items."""
    if not any(item.suggestions or item.stored_suggestions for item in draft.items):
        return
    Prefill.objects.create(
        campaign=campaign,
        source=Prefill.Source.PEARMUT if draft.original else Prefill.Source.FILE,
        label=draft.name,
        seed=campaign.seed,
        created_by=campaign.created_by,
    )
    campaign.is_prefilled = True
    campaign.save(update_fields=["is_prefilled"])


def outputs_of(campaign: Campaign) -> dict[tuple[str, str], int]:
    """Return the outputs of a campaign's systems by system and segment."""
    systems = dict(campaign.systems.values_list("pk", "name"))
    keys = dict(campaign.test_set.segments.values_list("pk", "key"))
    rows = Output.objects.filter(system__in=systems).order_by()
    columns = rows.values_list("system", "segment", "pk").iterator()
    return {(systems[system], keys[segment]): pk for system, segment, pk in columns}


def store_items(
    campaign: Campaign,
    draft: CampaignDraft,
    segments: Mapping[str, int],
    outputs: Mapping[tuple[str, str], int],
) -> Sequence[int]:
    """Store the items of a draft, and return their primary keys.

    Raises ValidationError for an item whose segment or output is not stored.
    """
    systems = dict(campaign.systems.values_list("name", "pk"))
    pks = reserve(Item, len(draft.items))
    rows = (
        (
            pk,
            campaign.pk,
            item.kind,
            *_shown(draft, number, segments, outputs),
            systems[item.system] if item.kind == Item.Kind.DOCUMENT and item.system else None,
            None if item.partner is None else pks[item.partner],
            item.stored_suggestions or as_stored(item.suggestions),
            None if item.rules is None else dict(item.rules),
            *(getattr(item, name) for name in AS_DRAFTED),
        )
        for number, (pk, item) in enumerate(zip(pks, counted(STORING, draft.items), strict=True))
    )
    columns = ("id", "campaign_id", "kind", "segment_id", "output_id", "system_id", "partner_id")
    insert(Item, (*columns, "suggestions", "rules", *AS_DRAFTED), rows)
    drawn = {segments[i.segment]: i.inclusion for i in draft.items if i.inclusion is not None}
    keep_sample(campaign, drawn)
    return pks


def _shown(
    draft: CampaignDraft,
    number: int,
    segments: Mapping[str, int],
    outputs: Mapping[tuple[str, str], int],
) -> tuple[int, int | None]:
    """Return the segment and the output of an item. Raises ValidationError."""
    item = draft.items[number]
    named = item.system if item.kind != Item.Kind.DOCUMENT else None
    output = outputs.get((named, item.segment)) if named else None
    if item.segment not in segments:
        raise invalid(
            "import.item-without-segment",
            "Item {number} of {campaign}: there is no stored segment “{segment}”.",
            number=number + 1,
            campaign=draft.slug,
            segment=item.segment,
        )
    if named and output is None:
        raise invalid(
            "import.item-without-output",
            "Item {number} of {campaign}: “{system}” has no stored output for segment “{segment}”.",
            number=number + 1,
            campaign=draft.slug,
            system=named,
            segment=item.segment,
        )
    return segments[item.segment], output


def _store_published(
    campaign: Campaign, draft: CampaignDraft, outputs: dict[tuple[str, str], int]
) -> None:
    systems = dict(campaign.systems.values_list("name", "pk"))
    rows = chain(
        ((campaign.pk, outputs[key], None, value) for key, value in draft.output_scores.items()),
        ((campaign.pk, None, systems[key], value) for key, value in draft.system_scores.items()),
    )
    insert(PublishedScore, ("campaign_id", "output_id", "system_id", "value"), rows)
    parts = (
        (campaign.pk, systems[system], level, name, value)
        for (system, level, name), value in draft.part_scores.items()
    )
    insert(PublishedPart, ("campaign_id", "system_id", "level", "name", "value"), parts)


# Store test sets, campaigns and their annotators of an import, completely or not at all.


@dataclass(frozen=True)
class Launched:
    """A stored campaign, with the personal links of its new annotators."""

    result: CampaignImport
    invitations: Sequence[Invitation]


def _with_short_names(
    drafts: Sequence[tuple[TestSetDraft, CampaignDraft]],
) -> Iterator[tuple[TestSetDraft, CampaignDraft]]:
    """Yield drafts; campaigns over the test set of a project have its hidden short names."""
    for test_set, campaign in drafts:
        project = Project.objects.filter(test_sets__slug=test_set.slug).first()
        slug = hidden_slug(campaign.slug, project) if project else campaign.slug
        yield test_set, replace(campaign, slug=slug)


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
    for test_set_draft, campaign_draft in _with_short_names(drafts):
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
    for test_set, campaign in _with_short_names(drafts):
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
        warn_of_entities(test_set, report, can_decode=False)


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
