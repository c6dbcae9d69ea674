"""Group judgments by language pair (a test set each) and campaign (a draft each)."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from django.utils.text import slugify

from annotation import protocols
from annotation.imports.drafts import AnnotatorDraft, CampaignDraft, ItemDraft
from annotation.imports.judgments.answers import Answer
from annotation.imports.judgments.drafting import Drafter
from annotation.imports.judgments.exported import cells
from annotation.imports.judgments.exported.columns import is_answer
from annotation.imports.judgments.exported.settings import compose, settings_of
from annotation.imports.judgments.fields import TWO_SCALES
from annotation.imports.judgments.items import Items, have_global_ids, on_screens
from annotation.imports.judgments.options import Options
from annotation.imports.judgments.rows import Row, read_pair
from annotation.imports.judgments.stored import Chosen, choose, compare, rows_by_ratio
from annotation.imports.judgments.texts import Texts, collect
from annotation.models import Campaign, Item
from annotation.protocols import Layout
from annotation.uploads import TestSetDraft
from annotation.uploads.checks import alike
from annotation.uploads.problems import Report
from annotation.uploads.spellings import fold
from annotation.uploads.tables.pairs import NAMES, UNSTATED, Pair
from metaeval.messages import message, plural

# Read annotators from rows, and distinguish annotators of the same name.


def tell_apart(answers: Sequence[Answer], report: Report) -> None:
    """Rename annotators of one campaign who have the name of another, but another key."""
    keys: dict[str, list[str]] = {}
    for answer in answers:
        own = keys.setdefault(answer.who, [])
        key = answer.row.name("annotator_key")
        if key not in own:
            own.append(key)
    taken = set(keys)
    for who, own in keys.items():
        for key in own[1:]:
            label = next(n for k in range(2, len(taken) + 3) if (n := f"{who} ({k})") not in taken)
            taken.add(label)
            theirs = [a for a in answers if a.who == who and a.row.name("annotator_key") == key]
            for answer in theirs:
                answer.who = label
            text = message(
                "judgments.annotators-with-one-name",
                "Two annotators are called “{annotator}”. The second is stored as “{label}”.",
                annotator=who,
                label=label,
            )
            report.note(text, theirs[0].row.at("annotator"))


def annotators_of(answers: Sequence[Answer], report: Report) -> dict[str, AnnotatorDraft]:
    """Return what is known of each annotator; whom any row excludes is excluded."""
    found: dict[str, AnnotatorDraft] = {}
    differs: dict[str, Answer] = {}
    for answer in answers:
        stated = cells.annotator(answer.row, report)
        first = found.setdefault(answer.who, stated)
        if stated.is_excluded != first.is_excluded:
            differs.setdefault(answer.who, answer)
            found[answer.who] = stated if stated.is_excluded else first
    for who, answer in differs.items():
        text = message(
            "judgments.exclusion-differs",
            "“{annotator}” is excluded in some rows, but not in others. The annotator is stored as "
            "excluded.",
            annotator=who,
        )
        report.warn(text, answer.row.at("is_excluded"))
    return {who: each for who, each in found.items() if each != AnnotatorDraft()}


# Build the draft of a campaign from its answers.

QUESTION = "How good is the translation?"
# Settings that the import itself decides.
OF_FRAME = ("name", "answers", "special_tokens")
CONTRADICTED = {"judgments.other-source", "judgments.other-output"}
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
    two = protocols.get("adequacy-fluency")
    have_both = all(answer.row.sheet.has >= {*TWO_SCALES} for answer in answers)
    if have_both and options.scale in (None, (two.scales[0].low, two.scales[0].high)):
        return two
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
    report.warn_of(
        n_documents,
        "judgments.documents-skipped",
        "Skipped {n} judgment of a whole document, which this protocol does not rate.",
        "Skipped {n} judgments of whole documents, which this protocol does not rate.",
    )
    report.warn_of(
        n_gold,
        "judgments.gold-skipped",
        "Skipped {n} judgment of a gold item without the right score. Add a column low or high.",
        "Skipped {n} judgments of gold items without the right score. Add a column low or high.",
    )
    return usable


def _has_other_answer(answer: Answer) -> bool:
    return any(answer.row.name(field) for field in answer.row.cells if is_answer(field))


def _has_right_answer(answer: Answer) -> bool:
    """Return True if a right answer is known, as in our exports of gold items."""
    has_bounds = answer.low is not None or answer.high is not None
    return has_bounds or (answer.row.sheet.is_exported and "low" in answer.row.sheet.has)


Drafts = list[tuple[TestSetDraft, CampaignDraft]]
# Addresses of campaigns and test sets that pages of ours have.
RESERVED = ("new", "import", "upload")
LONGEST_NAME, LONGEST_SLUG = 120, 80
# An address that a campaign has already, and may keep.
SLUG = re.compile(rf"(?!(?:{'|'.join(RESERVED)})$)[\w-]{{1,{LONGEST_SLUG}}}", re.ASCII)


@dataclass(frozen=True)
class Group:
    """One language pair at one length ratio: its rows, its test set, and the known texts.

    `shared` are the names of campaigns that rows of another group have too. `is_plain` where
    campaigns are called exactly as the tables call them: nobody stated a name.
    """

    slug: str
    name: str
    rows: Sequence[Row]
    test_set: TestSetDraft
    texts: Texts
    ratio: Decimal
    is_stored: bool = False
    stem: str = ""
    shared: frozenset[str] | None = None
    is_plain: bool = False

    def named(self, names: Iterable[str]) -> dict[str, tuple[str, str]]:
        """Return address and name of each of the group's campaigns, by what tables call them."""
        every = list(names)
        if len(every) == 1 and (self.shared is None or not every[0]):
            return {every[0]: (self.slug, self.name)}
        titles = {name: self._title(name) for name in every}
        slugs = {name: slug_of(title) for name, title in titles.items()}
        found = Counter(slugs.values())
        return {
            name: (
                slug if found[slug] == 1 else _with_digest(slug, name),
                titles[name][:LONGEST_NAME],
            )
            for name, slug in slugs.items()
        }

    def _title(self, name: str) -> str:
        """Return the name of a campaign: the tables' own, after the stated name if there is one.

        Language pair and length ratio are named where several of these share the campaign.
        """
        if not name or self.shared is None or name in self.shared:
            return f"{self.name} {name}".strip()
        return name if self.is_plain else f"{self.stem} {name}"


def slug_of(*names: str) -> str:
    """Return the address of names, the same for the same names and another for others.

    >>> slug_of("Pilot 2024", "en-de"), slug_of("import")
    ('pilot-2024-en-de', 'import-judgments')
    """
    name = " ".join(names).strip()
    slug = slugify(name)
    if not slug or len(slug) > LONGEST_SLUG or _letters(slug) < _letters(name):
        # What does not fit, or has letters that no address has, is distinguished by a digest.
        return _with_digest(slug, name)
    return f"{slug}-judgments" if slug in RESERVED else slug


def _letters(text: str) -> int:
    return sum(sign.isalnum() for sign in text)


def _with_digest(slug: str, name: str) -> str:
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{slug[: LONGEST_SLUG - 9].strip('-') or 'judgments'}-{digest}"


def groups_of(
    rows: list[Row], others: Sequence[Row], options: Options, report: Report
) -> list[Group]:
    """Return the groups of rows by language pair and length ratio, the longest first.

    What is wrong goes to the report.
    """
    stored = choose(options.test_set, rows, report) if options.test_set else {}
    if options.test_set and not stored:
        return []
    pairs = _pairs(rows, others, options, next(iter(stored.values()), None), report)
    if report.errors:
        return []
    by_pair: dict[Pair, list[Row]] = {}
    for row in rows:
        by_pair.setdefault(pairs[id(row)], []).append(row)
    is_only = len(by_pair) == 1
    groups = [
        group
        for pair, own in by_pair.items()
        for group in _groups(
            pair,
            own,
            others if is_only else _texts_of(pair, own, others, pairs),
            options.name if is_only else f"{options.name} {'-'.join(pair)}",
            stored,
            report,
        )
    ]
    return _with_campaigns(groups, options)


def _with_campaigns(groups: Sequence[Group], options: Options) -> list[Group]:
    """Say how campaigns are named where the tables name several."""
    found = Counter(name for g in groups for name in {row.name("campaign") for row in g.rows})
    if len(found) < 2:
        return list(groups)
    shared = frozenset(name for name, n in found.items() if n > 1)
    is_plain = not options.is_named
    return [replace(g, stem=options.name, shared=shared, is_plain=is_plain) for g in groups]


def _pairs(
    rows: Sequence[Row],
    others: Sequence[Row],
    options: Options,
    stored: Chosen | None,
    report: Report,
) -> dict[int, Pair]:
    """Return the language pair of every row by its id; other tables need not name any."""
    if stored is not None:
        known = stored.draft
        options = replace(
            options, source_language=known.source_language, target_language=known.target_language
        )
    pairs = {id(row): read_pair(row, options, report) for row in (*rows, *others)}
    lacking = next((row for row in rows if not all(pairs[id(row)])), None)
    if lacking is not None and not report.errors:
        for code, field in zip(pairs[id(lacking)], NAMES, strict=True):
            if not code:
                report.error(UNSTATED[field], lacking.place._replace(field=field))
    return pairs


def _texts_of(
    pair: Pair, judged: Sequence[Row], others: Sequence[Row], pairs: Mapping[int, Pair]
) -> list[Row]:
    """Return rows of other tables of a pair: those that name it, or whose segments are judged."""
    keys = {row.name("segment") for row in judged}
    named = {"language_pair", "source_language"}
    return [
        row
        for row in others
        if (pairs[id(row)] == pair if named & row.sheet.has else row.name("segment") in keys)
    ]


def _groups(
    pair: Pair,
    rows: list[Row],
    others: Sequence[Row],
    title: str,
    stored: Mapping[Decimal, Chosen],
    report: Report,
) -> list[Group]:
    """Return a group for each length ratio of a language pair; they share a test set."""
    found = rows_by_ratio(rows, report)
    if stored and len(found) == 1:
        found = {next(iter(stored)): rows}
    by_ratio = {Decimal(1) if ratio is None else ratio: own for ratio, own in found.items()}
    titles = {
        ratio: title if len(by_ratio) == 1 else f"{title} {(100 * ratio).normalize():f}%".strip()
        for ratio in by_ratio
    }
    draft = TestSetDraft(slug_of(title), title[:LONGEST_NAME], *pair)
    texts: Mapping[Decimal, Texts] = {}
    if not stored:
        texts = collect(draft, rows, others, report, list(by_ratio))
    groups = []
    for ratio, own in by_ratio.items():
        slug, name = slug_of(titles[ratio]), titles[ratio][:LONGEST_NAME]
        if stored:
            chosen = stored[ratio]
            compare(chosen, own, others, report)
            groups.append(Group(slug, name, own, chosen.draft, chosen.texts, ratio, True))
        else:
            groups.append(Group(slug, name, own, draft, texts[ratio], ratio))
    return groups


def drafts_of(
    found: Sequence[Answer],
    rows: list[Row],
    others: Sequence[Row],
    options: Options,
    report: Report,
) -> Drafts:
    """Return a test set for each language pair, with the campaigns that the tables name."""
    groups = groups_of(rows, others, options, report)
    answers = {id(answer.row): answer for answer in found} if len(groups) > 1 else {}
    drafts: Drafts = []
    for group in groups:
        if CONTRADICTED & {error.code for error in report.errors}:
            continue  # What else is wrong may follow from these errors.
        _say_silent(group, report)
        own = found
        if len(groups) > 1:
            own = [answers[id(row)] for row in group.rows if id(row) in answers]
        drafts += [(group.test_set, draft) for draft in _campaigns(group, own, options, report)]
    return drafts


def _say_silent(group: Group, report: Report) -> None:
    known = {fold(system): system for system in group.texts.systems}
    for name, place in group.texts.silent.items():
        if fold(name) in known:
            report.error(alike(name, known[fold(name)]), place)
            continue
        text = plural(
            "judgments.system-without-outputs",
            "“{system}” has no output in the tables. Its {n} judgment counts for the annotator, "
            "but not for a system.",
            "“{system}” has no output in the tables. Its {n} judgments count for the annotators, "
            "but not for a system.",
            n=sum(row.name("system") == name for row in group.rows),
            system=name,
        )
        report.warn(text, place)


def _campaigns(
    group: Group, found: Sequence[Answer], options: Options, report: Report
) -> list[CampaignDraft]:
    by_name: dict[str, list[Answer]] = {}
    for answer in found:
        by_name.setdefault(answer.row.name("campaign"), []).append(answer)
    documents = {answer.segment: answer.row.name("document") for answer in found}
    drafts = []
    for name, (slug, title) in group.named(by_name).items():
        own, n_before = by_name[name], len(report.problems)
        if not options.is_named and own[0].row.sheet.is_exported:
            stated = str(settings_of(own, Report()).get("name") or name)
            slug, title = name if SLUG.fullmatch(name) else slug, stated[:LONGEST_NAME]
        tell_apart(own, report)
        frame = Frame(slug, title, group.texts, documents, group.ratio)
        drafts.append(build(own, frame, options, report))
        if slug != group.slug:  # one of several, which is named where no file is
            report.problems[n_before:] = [
                each if each.place.file else replace(each, place=each.place._replace(field=title))
                for each in report.problems[n_before:]
            ]
    return drafts
