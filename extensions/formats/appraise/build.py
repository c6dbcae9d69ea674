"""Convert items of Appraise to segments, outputs and items.

In plain tasks the itemID names the segment. In document tasks it may be a running number, so
segments are identified by document, text and occurrence. Texts that contradict each other are
errors.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import unescape
from itertools import groupby

from django.utils.html import strip_tags

from annotation import protocols
from annotation.imports.drafts import SHOW_OUTPUT, CampaignDraft, ItemDraft, base_document
from annotation.models import Campaign, Item
from annotation.uploads import SegmentDraft, SystemDraft, TestSetDraft
from annotation.uploads.problems import Report
from extensions.formats.appraise.batches import (
    RawItem,
    Unmatched,
    apply_choice,
    outcome,
    warn_of_unmatched_bad,
)
from extensions.formats.appraise.manifest import DOCUMENT, PAIRWISE, Manifest, Pair
from extensions.formats.appraise.spans import resolve_ends, suggest
from metaeval.messages import message, plural, truncated

DUPLICATE = re.compile(r"#duplicate\d*")
# The difference from the tutorial's score that Appraise accepts.
TOLERANCE = 20
Built = tuple[TestSetDraft, CampaignDraft, list[RawItem]]
# What joins the names of systems that have the same text, and the systems of such targetIDs.
JOIN = "+"
Joined = Mapping[str, Sequence[str]]


def build(
    manifest: Manifest,
    pair: Pair,
    items: list[RawItem],
    slug: str,
    name: str,
    report: Report,
    *,
    joined: Joined,
    unmatched: str = "",
    ends: str = "",
) -> Built:
    """Return test set, campaign and the items of the file.

    The campaign has the items that are not skipped, in the same order. `joined` are the targetIDs
    of several systems, `unmatched` is the choice for check items that repeat no target, `ends` that
    for the ends of errors marked beforehand.
    """
    items = parted(_without_documents(items, manifest, report), joined)
    protocol = protocols.get(manifest.protocol)
    has_screens = protocol.layout != protocols.Layout.SINGLE
    without_target = Builder(manifest.layout, has_screens, Report()).unmatched_checks(items)
    items = apply_choice(items, without_target, unmatched, report)
    items = resolve_ends(items, protocol, ends, report)
    builder = Builder(manifest.layout, has_screens, report)
    imported = [item for item in items if not item.is_left_out]
    builder.name_segments(imported)
    drafts = suggest(imported, builder.items(imported), protocol, report)
    title = (name or manifest.name)[:120]
    test_set = TestSetDraft(
        slug=slug,
        name=title,
        source_language=pair.source,
        target_language=pair.target,
        description=f"Imported from Appraise. {outcome(items)}".strip(),
        segments=list(builder.segments.values()),
        systems=[SystemDraft(name, outputs=texts) for name, texts in builder.outputs.items()],
    )
    campaign = CampaignDraft(
        slug=slug,
        name=title,
        question=protocol.question,
        protocol=manifest.protocol,
        is_finished=False,
        annotators_per_item=manifest.redundancy,
        places=pair.annotators,
        systems_per_screen=builder.widest,
        shown_text=Campaign.ShownText.SOURCE,
        items=drafts,
    )
    return test_set, campaign, items


def joined_systems(
    tasks: Sequence[Sequence[RawItem]], scored: Collection[str], report: Report
) -> Joined:
    """Return the systems of targetIDs that join several, as `A+B`.

    Appraise splits every targetID there (`expand_multi_sys`). Here one of the names must occur
    alone, or in several of them, because names of systems may have the sign, too. `scored` are the
    names in the scores.
    """
    every = {item.target_id: item for task in reversed(tasks) for item in reversed(task)}
    parts = {name: name.split(JOIN) for name in sorted(every) if JOIN in name}
    counts = Counter(part for own in parts.values() for part in set(own))
    known = {*every, *scored} | {part for part, n in counts.items() if n > 1}
    joined = {n: own for n, own in parts.items() if all(own) and not known.isdisjoint(own)}
    if joined:
        warning = plural(
            "appraise.joined-systems",
            "{n} targetID joins systems with the same text by “+”: {names}. Each of these systems "
            "gets the text, an item and the judgments, as in Appraise.",
            "{n} targetIDs join systems with the same text by “+”: {names}. Each of these systems "
            "gets the texts, items and judgments, as in Appraise.",
            n=len(joined),
            names=truncated(list(joined)),
        )
        report.warn(warning, every[next(iter(joined))].place("targetID"))
    return joined


def of_system(document: str, name: str, system: str) -> str:
    """Return the name of a document of several systems as that of one of them."""
    return document.replace(f"#{name}", f"#{system}")


def parted(items: Sequence[RawItem], joined: Joined) -> list[RawItem]:
    """Return items of several systems as those of each of them; their documents stay together."""

    def document(item: RawItem) -> tuple[int, str, str | int]:
        return item.task, item.target_id, item.document or item.number

    return [
        replace(item, target_id=system, document=of_system(item.document, name, system))
        for (_, name, _), run in groupby(items, key=document)
        for own in [list(run)]
        for system in joined.get(name, [name])
        for item in own
    ]


def _without_documents(items: list[RawItem], manifest: Manifest, report: Report) -> list[RawItem]:
    """Skip ratings of whole documents, except in the one protocol that has them."""
    if manifest.protocol == "document-da":
        return items
    of_segments = [item for item in items if not item.is_complete]
    report.warn_of(
        len(items) - len(of_segments),
        "appraise.document-ratings",
        "{n} rating of a whole document is skipped: this protocol rates segments.",
        "{n} ratings of whole documents are skipped: this protocol rates segments.",
    )
    return of_segments


@dataclass
class Builder:
    """Collects segments, outputs and items of a language pair."""

    layout: str
    has_screens: bool
    report: Report
    segments: dict[tuple[str, ...], SegmentDraft] = field(default_factory=dict)
    outputs: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    widest: int = 2
    _segment_of: list[SegmentDraft] = field(default_factory=list)
    _unmatched_bad: list[RawItem] = field(default_factory=list)
    _first: dict[tuple[str, ...], RawItem] = field(default_factory=dict)

    def name_segments(self, items: Sequence[RawItem]) -> None:
        """Find the segment of every item."""
        several = len({item.source_id for item in items}) > 1
        taken: Counter[str] = Counter()
        for run in self._runs(items):
            first = len(self._segment_of)
            seen: Counter[str] = Counter()
            for position, (_, item) in enumerate(run):
                if item.is_complete:
                    self._take_whole(item, first)
                    continue
                seen[item.source] += 1
                identity = self._identity(item, seen[item.source], several)
                self._check_source(item, identity, position)
                if identity not in self.segments:
                    key = self._key(item, several, taken)
                    self.segments[identity] = SegmentDraft(
                        key,
                        item.source,
                        document=base_document(item.document, item.target_id)
                        if item.document
                        else "",
                    )
                self._segment_of.append(self.segments[identity])

    def _runs(self, items: Sequence[RawItem]) -> Iterator[list[tuple[int, RawItem]]]:
        """Yield items shown together: a document by one system, or the targets of one source."""

        def together(pair: tuple[int, RawItem]) -> tuple[object, ...]:
            index, item = pair
            if self.layout == DOCUMENT:
                return item.task, item.document, item.target_id
            return (item.task, item.number) if self.layout == PAIRWISE else (index,)

        for _, run in groupby(enumerate(items), key=together):
            yield list(run)

    def _take_whole(self, item: RawItem, first: int) -> None:
        """Give the rating of a whole document the first segment of the document."""
        if len(self._segment_of) == first:
            self.report.error(
                message(
                    "appraise.document-without-segments",
                    "The rating of a whole document must come after its segments.",
                ),
                item.place("isCompleteDocument"),
            )
            self._segment_of.append(SegmentDraft("", ""))
        else:
            self._segment_of.append(self._segment_of[first])

    def _identity(self, item: RawItem, occurrence: int, several: bool) -> tuple[str, ...]:
        if self.layout == DOCUMENT:
            return base_document(item.document, item.target_id), item.source, str(occurrence)
        return (item.source_id, item.item_id) if several else (item.item_id,)

    def _key(self, item: RawItem, several: bool, taken: Counter[str]) -> str:
        if self.layout == DOCUMENT:
            key = f"{base_document(item.document, item.target_id)}:{item.item_id}"[-110:]
        else:
            key = f"{item.source_id}:{item.item_id}" if several else item.item_id
        taken[key] += 1
        return key if taken[key] == 1 else f"{key}.{taken[key]}"

    def _check_source(self, item: RawItem, identity: tuple[str, ...], position: int) -> None:
        """Report an error if an earlier item has another source for the same segment."""
        if self.layout == DOCUMENT:
            identity = base_document(item.document, item.target_id), item.item_id, str(position)
        first = self._first.setdefault(("source", *identity), item)
        if first.source != item.source:
            self.report.error(
                message(
                    "appraise.other-source",
                    "The source differs from that of {item}, which is the same segment.",
                    item=first.name,
                ),
                item.place("sourceText"),
            )

    def unmatched_checks(self, items: Sequence[RawItem]) -> Unmatched:
        """Return index and target's key of check items that repeat no target of their task."""
        self.name_segments(items)
        targets = self._targets(items)
        keys = [(index, self._target_key(index, item)) for index, item in enumerate(items)]
        return [
            (index, key)
            for index, key in keys
            if items[index].item_type == "CHK" and items[index].tutorial is None
            if key not in targets
        ]

    def items(self, items: Sequence[RawItem]) -> list[ItemDraft]:
        """Return one draft per item, with partners and screens."""
        targets = self._targets(items)
        self._warn_of_targets(items, targets)
        drafts: list[ItemDraft] = []
        for screen, run in enumerate(self._runs(items), 1):
            self.widest = max(self.widest, len(run) if self.layout == PAIRWISE else 0)
            for place, (index, item) in enumerate(run):
                shared = screen if self.has_screens else None
                drafts.append(self._item(index, item, targets, shared, place))
        warn_of_unmatched_bad(self._unmatched_bad, self.report)
        return drafts

    def _targets(self, items: Sequence[RawItem]) -> dict[tuple[str, ...], int]:
        """Return the index of the first TGT of every text in every task."""
        targets: dict[tuple[str, ...], int] = {}
        for is_copy in (False, True):
            for index, item in enumerate(items):
                if item.kind != "TGT" or item.tutorial is not None:
                    continue
                if bool(DUPLICATE.search(item.document)) != is_copy:
                    continue
                targets.setdefault(self._target_key(index, item), index)
        return targets

    def _warn_of_targets(
        self, items: Sequence[RawItem], targets: dict[tuple[str, ...], int]
    ) -> None:
        """Warn of repeats, as tasks are filled up with documents."""
        again = [
            item
            for index, item in enumerate(items)
            if item.kind == "TGT" and item.tutorial is None and self.layout != PAIRWISE
            if not DUPLICATE.search(item.document)
            if targets.get(self._target_key(index, item), index) != index
        ]
        self.report.warn_of(
            len(again),
            "appraise.same-text",
            "{n} target of a task was a target of it before and is imported as a repeat.",
            "{n} targets of a task were targets of it before and are imported as repeats.",
        )

    def _target_key(self, index: int, item: RawItem) -> tuple[str, ...]:
        segment = self._segment_of[index].key
        return str(item.task), segment, item.target_id, str(item.is_complete)

    def _item(
        self,
        index: int,
        item: RawItem,
        targets: dict[tuple[str, ...], int],
        screen: int | None,
        place: int,
    ) -> ItemDraft:
        partner = targets.get(self._target_key(index, item))
        partner = None if partner == index else partner
        kind = _kind(item, partner)
        if partner is None and item.kind == "BAD":
            self._unmatched_bad.append(item)
        shows_output = kind in SHOW_OUTPUT
        if shows_output:
            self._keep_output(index, item)
        is_own = shows_output or (kind == Item.Kind.DOCUMENT and item.item_type in ("TGT", "CHK"))
        low, high, feedback = _practice(item)
        return ItemDraft(
            segment=self._segment_of[index].key,
            system=item.target_id if is_own else None,
            kind=kind,
            batch=str(item.task),
            text="" if shows_output or kind == Item.Kind.DOCUMENT else item.target,
            partner=partner,
            screen=screen,
            place=place if screen else 0,
            low=low,
            high=high,
            feedback=feedback,
        )

    def _keep_output(self, index: int, item: RawItem) -> None:
        segment = self._segment_of[index].key
        first = self._first.setdefault(("output", item.target_id, segment), item)
        if first.target != item.target:
            self.report.error(
                message(
                    "appraise.other-output",
                    "The output of “{system}” differs from that of {item}, which is the same "
                    "segment.",
                    system=item.target_id,
                    item=first.name,
                ),
                item.place("targetText"),
            )
        self.outputs[item.target_id][segment] = item.target


def _kind(item: RawItem, partner: int | None) -> Item.Kind:
    if item.tutorial is not None:
        return Item.Kind.TUTORIAL
    if item.is_complete:
        return Item.Kind.DOCUMENT
    if item.kind == "TGT":
        return Item.Kind.TARGET if partner is None else Item.Kind.REPEAT
    return {"BAD": Item.Kind.BAD_REF, "REF": Item.Kind.REF, "CHK": Item.Kind.REPEAT}[item.kind]


def _practice(item: RawItem) -> tuple[int | None, int | None, str]:
    """Return the range of correct scores of a tutorial item, and its feedback."""
    if item.tutorial is None:
        return None, None, ""
    feedback = unescape(strip_tags(str(item.tutorial.get("instruction", ""))))
    score = item.tutorial.get("score_target")
    if not isinstance(score, int) or isinstance(score, bool):
        return None, None, feedback
    return max(0, score - TOLERANCE), min(100, score + TOLERANCE), feedback
