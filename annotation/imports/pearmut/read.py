"""Campaigns of Pearmut: one JSON file with `campaign_id`, `data` and perhaps `info`.

Task-based data become batches, one annotator each; of shared data every screen is a batch, and the
screens are dealt to the users. A document of cESA is a screen with its models as columns; where
systems are drawn for each screen (`dynamic`), all of them come, by as many. Items with validation
rules become gold, or practice where they may be skipped. What is wrong is named by its path, such
as `data[0][2][1].tgt`.
"""

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from django.utils.text import slugify

from annotation import protocols
from annotation.campaigns.layouts import MOST_ON_SCREEN, group_sizes
from annotation.imports.drafts import CampaignDraft, ItemDraft
from annotation.imports.jsonfiles import read_json
from annotation.imports.pearmut.findings import Findings
from annotation.imports.pearmut.info import DYNAMIC, USUAL_ASSIGNMENT, Info, read_info
from annotation.imports.pearmut.log import LogReader, read_entries
from annotation.imports.pearmut.origins import read_source
from annotation.imports.pearmut.outputs import (
    kind_of,
    plain,
    read_order,
    read_range,
    read_rules,
    read_targets,
)
from annotation.imports.pearmut.prefilled import Raw, are_included, read_raw, read_spans
from annotation.models import Campaign, Item
from annotation.models.campaign import MOST_SYSTEMS
from annotation.uploads import SegmentDraft, SystemDraft, TestSetDraft
from annotation.uploads.files import InputFile
from annotation.uploads.media.beside import attach
from annotation.uploads.problems import Place, Report

TASKS, SHARED = "task-based", (USUAL_ASSIGNMENT, DYNAMIC)
NEEDED, EXTRA = ("campaign_id", "data"), ("data_welcome", "data_random")
# `token` opens a stored campaign there, and is of no use here.
BESIDES = ("info", "data_goodbye", "token")
NO_SOURCE = "[no source]"


def read(
    file: InputFile,
    report: Report,
    *,
    source_language: str,
    target_language: str,
    name: str = "",
    ends: str = "",
    log: InputFile | None = None,
    media: Sequence[InputFile] = (),
) -> list[tuple[TestSetDraft, CampaignDraft]]:
    """Read a campaign; what is wrong goes to the report, and errors there forbid storing.

    `ends` says of errors marked beforehand whether their last character is `included` or
    `excluded`; where nobody says, the words do. With its log the campaign is a finished one.
    `media` are the recordings and pictures that sources name, or archives of them.
    """
    before = len(report.errors)
    values = read_json(file, report)
    if len(report.errors) > before:
        return []
    reader = Reader(Findings(file.name, report))
    reader.original = json.dumps(values, ensure_ascii=False)
    reader.read(values)
    reader.suggest(ends)
    segments = list(reader.segments.values())
    paths = [reader.paths[each.key] for each in segments]
    attach(segments, media, report, lambda i, _: Place(file.name, None, f"{paths[i]}.src"))
    if len(report.errors) > before:
        return []
    title = (name or reader.name)[:120]
    slug = slugify(title)[:70] or "pearmut"
    slug = f"{slug}-pearmut" if slug in ("new", "import") else slug
    test_set, campaign = reader.drafts(slug, title, source_language, target_language)
    if log is not None:
        entries = read_entries(log, report, reader.name)
        keys = {key: segment.key for key, segment in reader.segments.items()}
        reader.findings.file = log.name
        campaign = LogReader(reader.findings, campaign, keys).read(entries)
    reader.findings.warn()
    return [] if len(report.errors) > before else [(test_set, campaign)]


@dataclass(frozen=True)
class Spot:
    """Where an item stands: its document and batch, and its place on a screen of several."""

    document: str
    batch: str
    screen: int | None
    place: int
    models: Sequence[str] = ()
    # What is left out is counted once, however many screens a document makes.
    is_counted: bool = True


@dataclass
class Reader:
    """What is there, gathered while going through the file."""

    findings: Findings
    name: str = ""
    info: Info = field(default_factory=Info)
    original: str = ""
    items: list[ItemDraft] = field(default_factory=list)
    # Errors marked beforehand, by the number of the item.
    marked: dict[int, Raw] = field(default_factory=dict)
    # By item_id and source; how many sources an item_id has.
    segments: dict[tuple[str, str], SegmentDraft] = field(default_factory=dict)
    ids: Counter[str] = field(default_factory=Counter)
    # Where each segment was first found, by its key.
    paths: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    has_sources: bool = True
    widest: int = 2
    _screens: Iterator[int] = field(default_factory=lambda: count(1))

    def read(self, values: Any) -> None:
        """Go through the whole file."""
        if not self._has_keys(values):
            return
        values = {"info": {}, **values}
        if self.findings.is_a("campaign_id", values["campaign_id"], "text"):
            self.name = values["campaign_id"]
        batches = list(self._batches(values))
        common = [
            (document, path, kind)
            for key, kind in zip(EXTRA, (Item.Kind.TUTORIAL, Item.Kind.GOLD), strict=True)
            for document, path in self.findings.entries(key, values.get(key, []))
        ]
        self.info = read_info(
            self.findings, values["info"], batches, by_user=isinstance(values["data"], dict)
        )
        if goodbye := values.get("data_goodbye"):
            self.findings.left_out["pages of data_goodbye"] += len(goodbye)
        for batch, document, path in batches:
            self._document(document, path, batch, None)
        for document, path, kind in common:
            self._document(document, path, "", kind)

    def _has_keys(self, values: Any) -> bool:
        if not self.findings.is_a("the file", values, "an object"):
            return False
        for key in sorted(set(values) - {*NEEDED, *EXTRA, *BESIDES}):
            self.findings.error(key, f"“{key}” is not known here")
        missing = [key for key in NEEDED if key not in values]
        for key in missing:
            self.findings.error(key, f"the key “{key}” is missing")
        return not missing

    def _batches(self, values: Mapping[str, Any]) -> Iterator[tuple[str, Any, str]]:
        """Yield (batch, document, path); a task is a batch, or else a document is."""
        info = values["info"] if isinstance(values["info"], dict) else {}
        assignment = info.get("assignment", USUAL_ASSIGNMENT)
        if assignment not in (TASKS, *SHARED):
            self.findings.error("info.assignment", f"“{assignment}” is not known here")
            return
        data = values["data"]
        # A stored campaign has the tasks by user.
        by_user = isinstance(data, dict)
        parts = (
            ((part, f"data.{user}") for user, part in data.items())
            if by_user
            else self.findings.entries("data", data)
        )
        for number, (part, path) in enumerate(parts, 1):
            if assignment == TASKS or by_user:
                for document, inner in self.findings.entries(path, part):
                    yield str(number), document, inner
            else:
                yield str(number), part, path

    def _document(self, values: Any, path: str, batch: str, kind: Item.Kind | None) -> None:
        if self.info.protocol == "contrastive-esa":
            self._grid(values, path, batch, kind)
            return
        screen = next(self._screens) if self.info.protocol == "document-da" else None
        document = f"document{path.removeprefix('data')}"
        for place, (value, inner) in enumerate(self._rows(values, path)):
            self._item(value, inner, Spot(document, batch, screen, place if screen else 0), kind)

    def _grid(self, values: Any, path: str, batch: str, kind: Item.Kind | None) -> None:
        """A document with its models as columns, alike in all its segments."""
        rows = list(self._rows(values, path))
        if not rows:
            return
        models = list(read_targets(self.findings, *rows[0]))
        for value, inner in rows[1:]:
            if set(read_targets(self.findings, value, inner)) != set(models):
                message = "the models are others than those of the document’s first segment"
                self.findings.error(f"{inner}.tgt", message)
                return
        if self.info.shuffles:
            random.Random(f"{self.name}:{path}").shuffle(models)
        wanted = min(self.info.n_models or len(models), MOST_SYSTEMS)
        sizes = group_sizes(len(models), wanted) if wanted > 1 else [1] * len(models)
        start = 0
        for number, size in enumerate(sizes):
            own, start = models[start : start + size], start + size
            screen, dealt = next(self._screens), f"{batch}.{number + 1}" if number else batch
            if size * len(rows) > MOST_ON_SCREEN:
                message = f"{size * len(rows)} texts on a screen; {MOST_ON_SCREEN} is the most"
                self.findings.error(path, message)
            self.widest = max(self.widest, size)
            document = f"document{path.removeprefix('data')}"
            for row, (value, inner) in enumerate(rows):
                spot = Spot(document, dealt if batch else "", screen, row * size, own, not number)
                self._item(value, inner, spot, kind)

    def _rows(self, values: Any, path: str) -> Iterator[tuple[Mapping[str, Any], str]]:
        """Yield the segments of a document with their paths, without fields of forms."""
        for value, inner in self.findings.entries(path, values):
            if isinstance(value, dict) and "form" in value and "tgt" not in value:
                self.findings.left_out["fields of forms"] += 1
            elif self.findings.is_a(inner, value, "an object"):
                yield value, inner

    def _item(
        self, value: Mapping[str, Any], path: str, spot: Spot, kind: Item.Kind | None
    ) -> None:
        targets = read_targets(self.findings, value, path)
        rules = read_rules(self.findings, value, path, targets)
        kind = kind or kind_of(value, rules)
        is_target = kind == Item.Kind.TARGET
        segment = self._segment(value, path, spot.document, is_practice=not is_target)
        if segment is None:
            return
        marked = read_raw(self.findings, value, path, targets)
        spots = self._spots(spot, len(spot.models or targets), path)
        shown = spot.models or list(targets)
        note = plain(str(value.get("instructions") or ""))
        first = len(self.items)
        lower = read_order(self.findings, rules, shown if spot.models else (), f"{path}.validation")
        for column, (model, (screen, place)) in enumerate(zip(shown, spots, strict=True)):
            text = targets.get(model, "")
            low, high, feedback = read_range(
                self.findings, rules.get(model, []), f"{path}.validation", self.info.scale_names
            )
            if is_target:
                self._keep_output(model, segment.key, text, f"{path}.tgt.{model}")
            if model in marked:
                self.marked[len(self.items)] = marked[model]
            self.items.append(
                ItemDraft(
                    segment=segment.key,
                    system=model if is_target else None,
                    kind=kind,
                    batch=spot.batch,
                    text="" if is_target else text,
                    screen=screen,
                    place=place,
                    column=column if self._has_columns else 0,
                    n_columns=len(spots) if self._has_columns else 1,
                    note=note,
                    low=low,
                    high=high,
                    feedback=feedback,
                    lower=first + lower[model] if model in lower else None,
                )
            )

    def suggest(self, ends: str) -> None:
        """Turn errors that are marked beforehand into suggestions."""
        protocol = protocols.get(self.info.protocol)
        included = are_included(self.findings, self.marked.values(), ends)
        for number, raw in self.marked.items():
            spans = read_spans(self.findings, raw, protocol, ends_included=included)
            self.items[number] = replace(self.items[number], suggestions=spans)

    def _spots(self, spot: Spot, n_outputs: int, path: str) -> list[tuple[int | None, int]]:
        """Return the screen of every output of an item, and its place there."""
        if spot.models:
            return [(spot.screen, spot.place + column) for column in range(n_outputs)]
        if self.info.protocol != "side-by-side":
            return [(spot.screen, spot.place)] * n_outputs
        if n_outputs > MOST_SYSTEMS:
            message = f"{n_outputs} outputs are more than the {MOST_SYSTEMS} of a screen"
            self.findings.error(f"{path}.tgt", message)
        self.widest = max(self.widest, n_outputs)
        screen = next(self._screens)
        return [(screen, place) for place in range(n_outputs)]

    @property
    def _has_columns(self) -> bool:
        return protocols.get(self.info.protocol).layout.has_systems

    def _segment(
        self, value: Mapping[str, Any], path: str, document: str, *, is_practice: bool
    ) -> SegmentDraft | None:
        source, reference = value.get("src", ""), value.get("ref", "")
        for key, text in (("src", source), ("ref", reference)):
            if not self.findings.is_a(f"{path}.{key}", text, "text"):
                return None
        if not source and not reference:
            self.findings.error(f"{path}.src", "there is neither a source nor a reference")
            return None
        self.has_sources &= bool(source)
        own_id = value.get("item_id", path)
        if not isinstance(own_id, str | int):
            self.findings.error(f"{path}.item_id", "text or a number is expected")
            return None
        key = str(own_id).strip()
        if (key, source) not in self.segments:
            if self.ids[key] and not is_practice:
                self.findings.error(f"{path}.item_id", f"“{key}” has another source elsewhere")
            self.ids[key] += 1
            # Practice may repeat ids, as in Pearmut's examples.
            text, beside = read_source(self.findings, value, f"{path}.src")
            segment = SegmentDraft(
                f"{key} ({self.ids[key]})" if self.ids[key] > 1 else key,
                text or NO_SOURCE,
                document=str(value.get("doc_id", document))[:200],
                references={"A": reference} if reference else {},
                beside=beside,
            )
            self.segments[key, source], self.paths[segment.key] = segment, path
        return self.segments[key, source]

    def _keep_output(self, model: str, key: str, text: str, path: str) -> None:
        outputs = self.outputs.setdefault(model, {})
        if outputs.setdefault(key, text) != text:
            self.findings.error(path, f"“{model}” has another output for “{key}” elsewhere")

    def drafts(
        self, slug: str, name: str, source_language: str, target_language: str
    ) -> tuple[TestSetDraft, CampaignDraft]:
        """Return what was read."""
        test_set = TestSetDraft(
            slug=slug,
            name=name,
            source_language=source_language,
            target_language=target_language,
            description="Imported from Pearmut.",
            segments=list(self.segments.values()),
            systems=[SystemDraft(model, outputs=texts) for model, texts in self.outputs.items()],
        )
        own = protocols.get(self.info.protocol).question
        shown = Campaign.ShownText.SOURCE if self.has_sources else Campaign.ShownText.REFERENCE
        campaign = CampaignDraft(
            slug=slug,
            name=name,
            question=own,
            protocol=self.info.protocol,
            is_finished=False,
            annotators_per_item=1,
            places=self.info.places,
            systems_per_screen=self.widest,
            special_tokens=self.info.tokens,
            answers=self.info.answers,
            original=self.original,
            instructions=self.info.instructions,
            shown_text=shown,
            items=self.items,
        )
        return test_set, campaign
