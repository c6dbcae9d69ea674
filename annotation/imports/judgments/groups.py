"""Group judgments by language pair (a test set each) and campaign (a draft each)."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from django.utils.text import slugify

from annotation.imports.drafts import CampaignDraft
from annotation.imports.judgments.answers import Answer
from annotation.imports.judgments.build import Frame, build
from annotation.imports.judgments.exported.annotators import tell_apart
from annotation.imports.judgments.exported.settings import settings_of
from annotation.imports.judgments.options import Options
from annotation.imports.judgments.rows import Row
from annotation.imports.judgments.segments import read_pair
from annotation.imports.judgments.stored import Chosen, choose, compare, only_ratio
from annotation.imports.judgments.texts import Texts, collect, say_languages
from annotation.uploads import TestSetDraft
from annotation.uploads.checks import alike
from annotation.uploads.problems import Report
from annotation.uploads.spellings import fold
from annotation.uploads.tables.pairs import Pair
from metaeval.messages import plural

Drafts = list[tuple[TestSetDraft, CampaignDraft]]
# Addresses of campaigns and test sets that pages of ours have.
RESERVED = ("new", "import", "upload")
LONGEST_NAME, LONGEST_SLUG = 120, 80
# An address that a campaign has already, and may keep.
SLUG = re.compile(rf"(?!(?:{'|'.join(RESERVED)})$)[\w-]{{1,{LONGEST_SLUG}}}", re.ASCII)


@dataclass(frozen=True)
class Group:
    """One language pair: its rows, its test set, and the texts that are known of it.

    `rows` hold judgments or scores, `others` the texts that came beside them.
    """

    slug: str
    name: str
    rows: Sequence[Row]
    test_set: TestSetDraft
    texts: Texts
    ratio: Decimal
    is_stored: bool = False

    def named(self, names: Iterable[str]) -> dict[str, tuple[str, str]]:
        """Return address and name of each of the group's campaigns, by what tables call them."""
        every = list(names)
        if len(every) == 1:
            return {every[0]: (self.slug, self.name)}
        slugs = {name: slug_of(self.name, name) for name in every}
        found = Counter(slugs.values())
        return {
            name: (
                slug if found[slug] == 1 else _with_digest(slug, name),
                f"{self.name} {name}".strip()[:LONGEST_NAME],
            )
            for name, slug in slugs.items()
        }


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
    """Return the groups of rows; what is wrong goes to the report."""
    stored = choose(options.test_set, rows, report) if options.test_set else None
    if options.test_set and stored is None:
        return []
    pairs = _pairs(rows, others, options, stored, report)
    if report.errors:
        return []
    by_pair: dict[Pair, list[Row]] = {}
    for row in rows:
        by_pair.setdefault(pairs[id(row)], []).append(row)
    is_only = len(by_pair) == 1
    return [
        _group(
            pair,
            own,
            others if is_only else _texts_of(pair, own, others, pairs),
            options.name if is_only else f"{options.name} {'-'.join(pair)}",
            stored,
            report,
        )
        for pair, own in by_pair.items()
    ]


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
        say_languages(pairs[id(lacking)], lacking.place, report)
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


def _group(
    pair: Pair,
    rows: list[Row],
    others: Sequence[Row],
    title: str,
    stored: Chosen | None,
    report: Report,
) -> Group:
    slug, name = slug_of(title), title[:LONGEST_NAME]
    if stored is not None:
        compare(stored, rows, others, report)
        return Group(slug, name, rows, stored.draft, stored.texts, stored.ratio, True)
    draft = TestSetDraft(slug, name, *pair)
    ratio = only_ratio(rows, report) or Decimal(1)
    texts = collect(draft, rows, others, report, ratio)
    return Group(slug, name, rows, draft, texts, ratio)


def drafts_of(
    found: Sequence[Answer],
    rows: list[Row],
    others: Sequence[Row],
    options: Options,
    report: Report,
) -> Drafts:
    """Return a test set for each language pair, with the campaigns that the tables name."""
    answers = {id(answer.row): answer for answer in found}
    drafts: Drafts = []
    for group in groups_of(rows, others, options, report):
        _say_silent(group, report)
        own = [answers[id(row)] for row in group.rows if id(row) in answers]
        drafts += [(group.test_set, draft) for draft in _campaigns(group, own, options, report)]
    return drafts


def _say_silent(group: Group, report: Report) -> None:
    known = {fold(system): system for system, _ in group.texts.outputs}
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
        own, found_here = by_name[name], Report(skips=report.skips)
        if not options.is_named and own[0].row.sheet.is_exported:
            stated = str(settings_of(own, Report()).get("name") or name)
            slug, title = name if SLUG.fullmatch(name) else slug, stated[:LONGEST_NAME]
        tell_apart(own, found_here)
        frame = Frame(slug, title, group.texts, documents, group.ratio)
        drafts.append(build(own, frame, options, found_here))
        _add_problems(found_here, report, title if slug != group.slug else "")
    return drafts


def _add_problems(found: Report, report: Report, campaign: str) -> None:
    """Add what was found of one of several campaigns, naming it where no file is named."""
    for problem in found.problems:
        named = campaign and not problem.place.file
        place = problem.place._replace(field=campaign) if named else problem.place
        report.problems.append(replace(problem, place=place))
