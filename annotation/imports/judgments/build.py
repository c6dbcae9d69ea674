"""Build the draft of a campaign from its answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from annotation import protocols
from annotation.imports.drafts import CampaignDraft, ItemDraft
from annotation.imports.judgments.answers import Answer
from annotation.imports.judgments.drafting import Drafter
from annotation.imports.judgments.exported.annotators import annotators_of
from annotation.imports.judgments.exported.columns import is_answer
from annotation.imports.judgments.exported.settings import compose
from annotation.imports.judgments.items import Items, have_global_ids, on_screens
from annotation.imports.judgments.options import Options
from annotation.imports.judgments.texts import Texts
from annotation.models import Campaign, Item
from annotation.protocols import Layout
from annotation.uploads.problems import Report
from metaeval.messages import message, plural

QUESTION = "How good is the translation?"
# Settings that the import itself decides.
OF_FRAME = ("name", "answers", "special_tokens")
CONTROLS = {Item.Kind.BAD_REF, Item.Kind.REF, Item.Kind.REPEAT}


@dataclass(frozen=True)
class Frame:
    """The name of a campaign, and the texts that were judged."""

    slug: str
    name: str
    texts: Texts
    documents: Mapping[str, str]
    ratio: Decimal


def build(
    answers: Sequence[Answer], frame: Frame, options: Options, report: Report
) -> CampaignDraft:
    """Return the campaign of some answers; what is wrong goes to the report."""
    composed = compose(_protocol(answers, options, report), answers, options, report)
    protocol, settings = composed.protocol, composed.settings
    answers = _usable(answers, protocol, report)
    items = Items(frame.texts, have_global_ids(answers), report)
    judgments = Drafter(protocol, frame.texts, options, report).draft(answers, items)
    items.pair()
    shown: Sequence[ItemDraft] = items.drafts
    if protocol.layout == Layout.DOCUMENT and not any(a.row.sheet.is_exported for a in answers):
        shown = on_screens(shown, frame.documents)
    has_controls = any(item.kind in CONTROLS for item in shown)
    draft = CampaignDraft(
        slug=frame.slug,
        name=frame.name,
        question=QUESTION if protocol.spans is None else protocol.question,
        protocol=protocol.name,
        answers=composed.answers,
        special_tokens=composed.tokens,
        shown_text=Campaign.ShownText(options.shown_text),
        z_pool=Campaign.ZPool.ALL if has_controls else Campaign.ZPool.TARGETS,
        length_ratio=frame.ratio,
        annotators=annotators_of(answers, report),
        items=shown,
        judgments=judgments,
    )
    return replace(draft, **{k: v for k, v in settings.items() if k not in OF_FRAME})


def _protocol(answers: Sequence[Answer], options: Options, report: Report) -> protocols.Protocol:
    """Return the stated protocol, that of the table, or the one that fits the answers."""
    named = {answer.row.name("protocol") for answer in answers}
    if options.protocol:
        return protocols.get(options.protocol)
    if len(named) == 1 and named <= set(protocols.PROTOCOLS):
        return protocols.get(named.pop())
    scores = [answer.score for answer in answers if answer.score is not None]
    has_other = any(map(_has_other_answer, answers))
    if any(answer.spans for answer in answers) or not (scores or has_other):
        if scores and max(scores) <= 0 and min(scores) < 0:
            report.note(
                message(
                    "judgments.scores-are-penalties",
                    "There are error spans, and no score is above 0. The scores were read as minus "
                    "the penalty of the spans (MQM).",
                )
            )
            return protocols.get("mqm")
        return protocols.get("esa" if scores else "mqm")
    if not scores and any(answer.row.name("post_edit") for answer in answers):
        return protocols.get("post-editing")
    if any(answer.kind == Item.Kind.DOCUMENT for answer in answers):
        return protocols.get("document-da")
    return protocols.get(protocols.DEFAULT)


def _usable(
    answers: Sequence[Answer], protocol: protocols.Protocol, report: Report
) -> list[Answer]:
    """Skip and count judgments that a protocol or an analysis cannot hold."""
    usable, n_documents, n_gold = [], 0, 0
    for answer in answers:
        if answer.kind == Item.Kind.DOCUMENT and protocol.layout != Layout.DOCUMENT:
            n_documents += 1
        elif answer.kind == Item.Kind.GOLD and not _has_right_answer(answer):
            n_gold += 1
        else:
            usable.append(answer)
    if n_documents:
        report.warn(
            plural(
                "judgments.documents-skipped",
                "Skipped {n} judgment of a whole document, which this protocol does not rate.",
                "Skipped {n} judgments of whole documents, which this protocol does not rate.",
                n=n_documents,
            )
        )
    if n_gold:
        report.warn(
            plural(
                "judgments.gold-skipped",
                "Skipped {n} judgment of a gold item without the right score. Add a column low or "
                "high.",
                "Skipped {n} judgments of gold items without the right score. Add a column low or "
                "high.",
                n=n_gold,
            )
        )
    return usable


def _has_other_answer(answer: Answer) -> bool:
    return any(answer.row.name(field) for field in answer.row.cells if is_answer(field))


def _has_right_answer(answer: Answer) -> bool:
    """Return True if a right answer is known, as in our exports of gold items."""
    has_bounds = answer.low is not None or answer.high is not None
    return has_bounds or (answer.row.sheet.is_exported and "low" in answer.row.sheet.has)
