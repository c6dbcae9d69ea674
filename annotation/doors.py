"""What annotation imports by workers: campaigns and their gold items, and test sets."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.core.exceptions import ValidationError
from django.urls import reverse

from annotation import protocols
from annotation.access import runs_campaign
from annotation.campaign_files.storing import Wish, open_file
from annotation.forms.uploads import read_again
from annotation.imports import background, gold, sources
from annotation.imports.drafts import CampaignDraft, ItemDraft, JudgmentDraft
from annotation.imports.judgments import Understood
from annotation.imports.judgments.options import read_columns
from annotation.imports.sources import Reading
from annotation.imports.store import CampaignImport, Launched, launch
from annotation.models import Campaign, FileImport, Item
from annotation.uploads import (
    InputFile,
    OutdatedError,
    Report,
    TestSetDraft,
    check_pairs,
    previews,
    store_all,
    waiting,
)
from annotation.uploads.previews import FIRST
from annotation.uploads.tables.skipping import skipped
from annotation.uploads.waiting import Sent
from annotation.web import fresh_links
from core.messages import as_json
from metaeval.messages import Message, message

CAMPAIGN_GONE = message("gold.campaign-gone", "The campaign no longer exists, or it is not yours.")


@dataclass(frozen=True)
class CampaignLook:
    """The parts of a campaign to be imported."""

    name: str
    study: str
    direction: Message | None
    is_finished: bool
    annotators_per_item: int
    n_judgments: int
    n_items: int
    languages: str
    test_set: str
    n_segments: int
    has_systems: bool
    asked: str
    length_ratio: Decimal
    protocol_name: str
    shown_text: Campaign.ShownText
    kinds: list[tuple[Item.Kind, int]]
    batches: int
    annotators: int
    n_published: int
    systems: list[str]

    @property
    def protocol(self) -> protocols.Protocol:
        """The protocol."""
        return protocols.get(self.protocol_name)

    @property
    def question(self) -> str:
        """The question in the language of the page."""
        shown = Campaign(question=self.asked, shown_text=self.shown_text)
        shown.length_ratio = self.length_ratio
        return shown.question_text


@dataclass(frozen=True)
class Look:
    """What a page shows of files with campaigns, without their rows."""

    reading: Understood
    report: Report
    campaigns: list[CampaignLook]
    headings: list[Message]
    first: list[list[str]]


def look(reading: Reading, report: Report) -> Look:
    """Return what a page shows of a reading."""
    headings, rows = first_rows(*reading.drafts[0]) if reading.drafts else ((), [])
    is_fit = not report.errors
    return Look(
        background.look_of(reading, Understood),
        report,
        [_summary(*each) for each in reading.drafts] if is_fit else [],
        list(headings),
        rows if is_fit else [],
    )


def _summary(test_set: TestSetDraft, campaign: CampaignDraft) -> CampaignLook:
    """Return the parts of a campaign to be imported."""
    kinds = Counter(item.kind for item in campaign.items)
    annotators = {judgment.annotator for judgment in campaign.judgments}
    named = {item.system for item in campaign.items if item.system} | campaign.scored
    # A system at several lengths is named once.
    systems = list(dict.fromkeys(each.name for each in test_set.systems)) or sorted(named)
    return CampaignLook(
        name=campaign.name,
        study=campaign.study,
        direction=campaign.direction,
        is_finished=campaign.is_finished,
        annotators_per_item=campaign.annotators_per_item,
        n_judgments=len(campaign.judgments),
        n_items=len(campaign.items),
        languages=f"{test_set.source_language}–{test_set.target_language}",
        test_set=test_set.name,
        n_segments=len(test_set.segments),
        has_systems=bool(test_set.systems),
        asked=str(campaign.question),
        length_ratio=campaign.length_ratio,
        protocol_name=campaign.protocol,
        shown_text=campaign.shown_text,
        kinds=[(Item.Kind(kind), number) for kind, number in kinds.most_common()],
        batches=len({item.batch for item in campaign.items if item.batch}),
        annotators=len(annotators) if campaign.is_finished else campaign.places,
        n_published=campaign.n_published,
        systems=systems,
    )


def as_values(reading: Reading) -> dict[str, Any]:
    """Return columns and campaigns of a reading, as programs get them."""
    campaigns = [campaign_values(*each) for each in reading.drafts]
    return {"columns": dict(reading.fields), "campaigns": campaigns}


def campaign_values(test_set: TestSetDraft, campaign: CampaignDraft) -> dict[str, Any]:
    """Return the campaign of an import as programs get it."""
    return {
        "slug": campaign.slug,
        "name": campaign.name,
        "study": campaign.study,
        "question": campaign.question,
        "test_set": test_set.slug,
        "source_language": test_set.source_language,
        "target_language": test_set.target_language,
        "protocol": campaign.protocol,
        "n_segments": len(test_set.segments),
        "n_systems": len(test_set.systems),
        "n_annotators": len({judgment.annotator for judgment in campaign.judgments}),
        "n_items": len(campaign.items),
        "n_judgments": len(campaign.judgments),
        "n_published": campaign.n_published,
        "lower_is_better": campaign.lower_is_better,
        "direction": str(campaign.direction or ""),
        "kinds": dict(Counter(item.kind.value for item in campaign.items)),
    }


class Campaigns(background.Door):
    """Tables of judgments and of human scores, and campaigns of other tools."""

    look = Look

    def check(self, row: FileImport, sent: Sent) -> background.Found:
        """Read the tables as their page does."""
        reading, report = sources.check(sent, row.created_by)
        found = look(reading, report)
        return background.Found(report, found, reading.drafts, as_values(reading))

    def store(self, row: FileImport, found: background.Found) -> dict[str, Any]:
        """Store test sets and campaigns."""
        launched = launch(found.drafts, user=row.created_by, skipped=skipped(found.report))
        return stored_campaigns(launched)

    def page(self, row: FileImport) -> str:
        """Return the page of all imports of campaigns."""
        return reverse("campaign-import")


def stored_campaigns(launched: Sequence[Launched]) -> dict[str, Any]:
    """Return what an import stored of campaigns, as its row keeps it."""
    links = {
        each.result.campaign.slug: fresh_links.sealed_invitations(each.invitations)
        for each in launched
        if each.invitations
    }
    return {"results": [_result(each) for each in launched], **({"links": links} if links else {})}


def _result(launched: Launched) -> dict[str, Any]:
    result = launched.result
    return {
        "slug": result.campaign.slug,
        "is_new": result.is_new,
        "n_judgments": result.n_judgments,
        "contents": [as_json(each) for each in result.contents],
    }


campaigns = Campaigns()


class CampaignFiles(background.Door):
    """Files that hold a whole campaign, ours or another tool's; without a confirmation."""

    has_preview = False

    def check(self, row: FileImport, sent: Sent) -> background.Found:
        """Try a file that will not be stored; others are checked as they are stored."""
        report, answer = Report(), {}
        if not row.choices.get("store"):
            opened = open_file(*wish_of(sent, report, is_dry_run=True), user=row.created_by)
            if opened is not None:
                answer = {"slug": opened.campaign.slug, "n_annotators": len(opened.invitations)}
        return background.Found(report, drafts=sent, answer=answer)

    def store(self, row: FileImport, found: background.Found) -> dict[str, Any]:
        """Store the campaign, and open it if that was asked for."""
        opened = open_file(*wish_of(found.drafts, found.report), user=row.created_by)
        if opened is None:
            raise background.RefusedError(found.report)
        result = CampaignImport(opened.campaign, True, opened.campaign.items.count(), 0, 0)
        return stored_campaigns([Launched(result, opened.invitations)])

    def page(self, row: FileImport) -> str:
        """Return the page of all imports of campaigns."""
        return reverse("campaign-import")


CAMPAIGN_FILE, GOLD = "campaign-file", "gold"


def sent_file(file: InputFile, wish: Wish) -> Sent:
    """Return a campaign file as an import that can wait."""
    words = {"slug": wish.slug, "ends": wish.ends, "is_draft": "yes" if wish.is_draft else ""}
    words |= {n: getattr(wish, n) for n in ("source_language", "target_language")}
    return Sent.of(
        CAMPAIGN_FILE, [("file", file), *(("media", each) for each in wish.media)], words
    )


def wish_of(
    sent: Sent, report: Report, *, is_dry_run: bool = False
) -> tuple[InputFile, Report, Wish]:
    """Return what `open_file` takes of an import that waited."""
    words: dict[str, Any] = {**sent.words, "is_draft": bool(sent.words["is_draft"])}
    wish = Wish(**words, is_dry_run=is_dry_run, media=sent.several("media"))
    return sent.files["file"], report, wish


campaign_files = CampaignFiles()


class GoldItems(background.Door):
    """Tables of gold and practice items for a draft."""

    look = Look

    def check(self, row: FileImport, sent: Sent) -> background.Found:
        """Read the table for the campaign that was chosen. Raises ValidationError."""
        items, report = check_gold(_of_gold(row), sent)
        return background.Found(report, look_of_gold(items, report), items.items)

    def store(self, row: FileImport, found: background.Found) -> dict[str, Any]:
        """Add the items."""
        number = gold.add_gold(campaign=_of_gold(row), items=found.drafts)
        return {"sentences": [as_json(gold.added(number))]}

    def page(self, row: FileImport) -> str:
        """Return the page of the items of the campaign."""
        return reverse("campaign-items", args=[row.choices["campaign"]])


def check_gold(campaign: Campaign, sent: Sent) -> tuple[gold.GoldItems, Report]:
    """Read a table of gold items for a draft. Raises ValidationError."""
    gold.require_draft(campaign)
    report = Report()
    columns = read_columns(sent.words.get("columns", ""), report)
    return gold.read_gold(campaign, sent.files["table"], report, columns), report


def look_of_gold(checked: gold.GoldItems, report: Report) -> Look:
    """Return what a page shows of gold items: the first ones as they will be stored."""
    names = ("kind", "segment", "text", "low", "high", "feedback")
    headings = [field.label for name in names for field in gold.FIELDS if field.name == name]
    items = [] if report.errors else checked.items[:FIRST]
    first = [
        [
            str(Item.Kind(item.kind).label),
            item.segment.key,
            item.text,
            *("" if score is None else str(score) for score in (item.low, item.high)),
            item.feedback,
        ]
        for item in items
    ]
    return Look(background.look_of(checked, Understood), report, [], headings, first)


def _of_gold(row: FileImport) -> Campaign:
    campaign = Campaign.objects.filter(slug=row.choices["campaign"]).first()
    if campaign is None or not runs_campaign(row.created_by, campaign):
        raise ValidationError([CAMPAIGN_GONE])
    return campaign


gold_items = GoldItems()


class TestSets(background.Door):
    """Files with segments and outputs, which become test sets."""

    __test__ = False  # not a test class, whatever pytest thinks
    look = previews.Look

    def check(self, row: FileImport, sent: Sent) -> background.Found:
        """Check the files as their page does."""
        submission = read_again(sent, row.created_by)
        if submission is None:
            raise waiting.ExpiredError
        found = check_pairs(submission, user=row.created_by)
        return background.Found(found[0].report, previews.look_of(found), found)

    def store(self, row: FileImport, found: background.Found) -> dict[str, Any]:
        """Store the test sets, if that changes what the preview said."""
        if row.choices.get("seen", found.shown.seen) != found.shown.seen:
            raise ValidationError([background.OUTDATED])
        try:
            results = store_all(found.drafts, row.created_by)
        except OutdatedError as error:
            raise ValidationError([background.OUTDATED]) from error
        return {
            "sentences": [as_json(each.sentence) for each in results],
            "test_sets": [each.test_set.slug for each in results],
        }

    def page(self, row: FileImport) -> str:
        """Return the page of uploads."""
        return reverse("testset-upload")


test_sets = TestSets()


# The first rows of an import as they will be stored: judgments, scores, or items to rate.

ANNOTATOR = message("first.annotator", "Annotator")
SEGMENT = message("first.segment", "Segment")
PART = message("first.part", "Segment, document or domain")
SYSTEM = message("first.system", "System")
KIND = message("first.kind", "Kind")
SCORE = message("first.score", "Score")
ERRORS = message("first.errors", "Errors")
START = message("first.start", "Start")
END = message("first.end", "End")
COMMENT = message("first.comment", "Comment")
CAMPAIGN = message("first.campaign", "Campaign")
OUTPUT = message("first.output", "Output")
SOURCE = message("first.source", "Source")
Rows = tuple[Sequence[Message], list[list[str]]]


def first_rows(test_set: TestSetDraft, campaign: CampaignDraft) -> Rows:
    """Return headings and rows of a draft: what it has of judgments, else scores, else items."""
    if campaign.judgments:
        judgments = (ANNOTATOR, SEGMENT, SYSTEM, KIND, SCORE, ERRORS, START, END, COMMENT)
        rows = [_judgment(each, campaign.items) for each in campaign.judgments[:FIRST]]
        return judgments, rows
    if campaign.n_published:
        scores = [(segment, system, v) for (system, segment), v in campaign.output_scores.items()]
        scores += [(part, system, v) for (system, _, part), v in campaign.part_scores.items()]
        scores += [("", system, value) for system, value in campaign.system_scores.items()]
        rows = [[campaign.name, seg, system, f"{value:g}"] for seg, system, value in scores[:FIRST]]
        return (CAMPAIGN, PART if campaign.part_scores else SEGMENT, SYSTEM, SCORE), rows
    sources = {segment.key: segment.source for segment in test_set.segments}
    outputs = {system.name: system.outputs for system in test_set.systems}
    rows = [
        [
            each.segment,
            each.system or "",
            str(each.kind.label),
            sources.get(each.segment, ""),
            each.text or outputs.get(each.system or "", {}).get(each.segment, ""),
        ]
        for each in campaign.items[:FIRST]
    ]
    return (SEGMENT, SYSTEM, KIND, SOURCE, OUTPUT), rows


def _judgment(judgment: JudgmentDraft, items: Sequence[ItemDraft]) -> list[str]:
    item = items[judgment.item]
    scores = [] if judgment.score is None else [str(judgment.score)]
    if judgment.ratings:
        scores = [f"{name} {value}" for name, value in judgment.ratings.items()]
    times = [
        time.isoformat(" ", "seconds") if time else ""
        for time in (judgment.started_at, judgment.submitted_at)
    ]
    return [
        judgment.annotator,
        item.segment,
        item.system or "",
        str(item.kind.label),
        ", ".join(scores),
        str(len(judgment.spans) or ""),
        *times,
        judgment.comment,
    ]
