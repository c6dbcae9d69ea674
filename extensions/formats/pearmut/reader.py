"""Read one Pearmut campaign: its segments, outputs and items, in the order of the file."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from django.utils.crypto import salted_hmac

from annotation import protocols
from annotation.campaigns.layouts import MOST_ON_SCREEN, group_sizes
from annotation.imports.drafts import CampaignDraft, ItemDraft
from annotation.imports.jsonfiles import missing_key
from annotation.models import Campaign, Item
from annotation.models.campaign import MOST_SYSTEMS
from annotation.uploads import TestSetDraft
from annotation.uploads.normalising import normalise
from extensions.formats.pearmut.contents import Contents
from extensions.formats.pearmut.findings import Findings
from extensions.formats.pearmut.info import (
    DYNAMIC,
    USUAL_ASSIGNMENT,
    Info,
    plain,
    read_info,
    read_targets,
)
from extensions.formats.pearmut.offsets import marked_beforehand
from extensions.formats.pearmut.rules import Marks, kind_of, read_check, read_rules
from metaeval.messages import message, plural

SALT = "extensions.formats.pearmut"
TASKS, SHARED = "task-based", (USUAL_ASSIGNMENT, DYNAMIC)
NEEDED, EXTRA = ("campaign_id", "data"), ("data_welcome", "data_random")
# `token` opens a stored campaign in Pearmut, and has no effect here.
BESIDES = ("info", "data_goodbye", "token")

DRAWN = message(
    "pearmut.drawn",
    "Systems are drawn according to their current ranking, as in Pearmut. Each document is shown "
    "often enough that each of its outputs is on about one screen. Judged outputs may be drawn "
    "again.",
)
DEALT = message(
    "pearmut.dealt",
    "Systems are assigned to screens when the campaign is imported, and not drawn while annotators "
    "work. To be drawn, there must be two or more systems on a screen and more in total, the same "
    "systems for every document, and no errors marked beforehand.",
)
FORM_FIELDS = plural(
    "pearmut.form-fields",
    "{n} field of a form has no effect. It is kept in the stored file and exported again.",
    "{n} fields of forms have no effect. They are kept in the stored file and exported again.",
    n=1,
)
GOODBYE = plural(
    "pearmut.goodbye",
    "{n} segment of data_goodbye has no effect. It is kept in the stored file and exported again.",
    "{n} segments of data_goodbye have no effect. They are kept in the stored file and exported "
    "again.",
    n=1,
)


@dataclass(frozen=True)
class Spot:
    """The position of an item: document, batch, and place on a screen of several items."""

    document: str
    batch: str
    screen: int | None
    place: int
    models: Sequence[str] = ()
    # Unused values are counted once, even if a document has several screens.
    is_counted: bool = True


@dataclass
class Reader:
    """Collects the parts of a campaign while reading its file."""

    findings: Findings
    name: str = ""
    info: Info = field(default_factory=Info)
    original: str = ""
    items: list[ItemDraft] = field(default_factory=list)
    marks: Marks = field(default_factory=Marks)
    texts: Contents = field(init=False)
    widest: int = 2
    # The models of each document to be judged, where they are columns.
    models: set[frozenset[str]] = field(default_factory=set)
    _screens: Iterator[int] = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        self.texts = Contents(self.findings)

    def read(self, values: Any) -> None:
        """Read the whole campaign."""
        if not self._has_keys(values):
            return
        values = {"info": {}, **values}
        if self.findings.is_a("campaign_id", values["campaign_id"], str):
            self.name = values["campaign_id"]
        batches = list(self._batches(values))
        common = [
            (document, path, kind)
            for key, kind in zip(EXTRA, (Item.Kind.TUTORIAL, Item.Kind.GOLD), strict=True)
            for document, path in self.findings.entries(key, values.get(key, []))
        ]
        users = list(values["data"]) if isinstance(values["data"], dict) else None
        self.info = read_info(self.findings, values["info"], batches, users=users)
        for document, path in self.findings.entries("data_goodbye", values.get("data_goodbye", [])):
            if n := len(list(self._rows(document, path))):
                self.findings.counts[GOODBYE] += n
        for batch, document, path in batches:
            self._document(document, path, batch, None)
        for document, path, kind in common:
            self._document(document, path, "", kind)

    def _has_keys(self, values: Any) -> bool:
        if not self.findings.is_a("", values, dict):
            return False
        for key in sorted(set(values) - {*NEEDED, *EXTRA, *BESIDES}):
            self.findings.error(
                key, message("pearmut.unknown-key", "The key “{key}” is unknown.", key=key[:80])
            )
        missing = [key for key in NEEDED if key not in values]
        for key in missing:
            self.findings.error(key, missing_key(key))
        return not missing

    def _batches(self, values: Mapping[str, Any]) -> Iterator[tuple[str, Any, str]]:
        """Yield (batch, document, path); a task is a batch, or else a document is."""
        info = values["info"] if isinstance(values["info"], dict) else {}
        assignment = info.get("assignment", USUAL_ASSIGNMENT)
        if assignment not in (TASKS, *SHARED):
            self.findings.error(
                "info.assignment",
                message(
                    "pearmut.assignment",
                    "The assignment “{given}” is unknown. It must be one of {assignments}.",
                    given=str(assignment)[:80],
                    assignments=[TASKS, *SHARED],
                ),
            )
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
        """Read a document with its models as columns, the same in all its segments."""
        rows = list(self._rows(values, path))
        if not rows:
            return
        models = list(read_targets(self.findings, *rows[0]))
        for value, inner in rows[1:]:
            if set(read_targets(self.findings, value, inner)) != set(models):
                self.findings.error(
                    f"{inner}.tgt",
                    message(
                        "pearmut.other-models",
                        "The models differ from those of the document’s first segment.",
                    ),
                )
                return
        if kind is None and not any("validation" in value for value, _ in rows):
            self.models.add(frozenset(models))
        if self.info.shuffles:
            # Reading a file again gives the same columns, and nobody without the key knows them.
            key = salted_hmac(SALT, f"{self.name}:{path}", algorithm="sha256").digest()
            random.Random(key).shuffle(models)
        wanted = min(self.info.n_models or len(models), MOST_SYSTEMS)
        sizes = group_sizes(len(models), wanted) if wanted > 1 else [1] * len(models)
        start = 0
        for number, size in enumerate(sizes):
            own, start = models[start : start + size], start + size
            screen, dealt = next(self._screens), f"{batch}.{number + 1}" if number else batch
            if size * len(rows) > MOST_ON_SCREEN:
                self.findings.error(
                    path,
                    message(
                        "pearmut.texts-on-screen",
                        "The screen has {n} texts, but at most {limit} are allowed.",
                        n=size * len(rows),
                        limit=MOST_ON_SCREEN,
                    ),
                )
            self.widest = max(self.widest, size)
            document = f"document{path.removeprefix('data')}"
            for row, (value, inner) in enumerate(rows):
                spot = Spot(document, dealt if batch else "", screen, row * size, own, not number)
                self._item(value, inner, spot, kind)

    def _rows(self, values: Any, path: str) -> Iterator[tuple[Mapping[str, Any], str]]:
        """Yield the segments of a document with their paths, without fields of forms."""
        for value, inner in self.findings.entries(path, values):
            if isinstance(value, dict) and "tgt" not in value and {"form", "text"} & value.keys():
                self.findings.counts[FORM_FIELDS] += 1
            elif self.findings.is_a(inner, value, dict):
                yield value, inner

    def _item(
        self, value: Mapping[str, Any], path: str, spot: Spot, kind: Item.Kind | None
    ) -> None:
        targets = read_targets(self.findings, value, path)
        rules = read_rules(self.findings, value, path, targets)
        kind = kind or kind_of(value, rules)
        is_target = kind == Item.Kind.TARGET
        segment = self.texts.segment(value, path, spot.document, is_practice=not is_target)
        if segment is None:
            return
        if spot.is_counted:
            self.texts.count_unused(value, targets)
        marked = marked_beforehand(self.findings, value, path, targets)
        spots = self._spots(spot, len(spot.models or targets), path)
        shown = spot.models or list(targets)
        note = self._note(value, path)
        places = {model: at if of else None for model, (of, at) in zip(shown, spots, strict=True)}
        for column, (model, (screen, place)) in enumerate(zip(shown, spots, strict=True)):
            text = targets.get(model, "")
            inner = f"{path}.validation.{model}"
            own = rules.get(model, [])
            check = read_check(self.findings, own, inner, self.info.scales, targets)
            if is_target:
                self.texts.keep_output(model, segment.key, text, f"{path}.tgt.{model}")
            if model in marked:
                self.marks.errors[len(self.items)] = marked[model]
            if check.errors or check.above:
                self.marks.checks[len(self.items)] = (check, text, places)
            self.items.append(
                ItemDraft(
                    segment=segment.key,
                    system=model if is_target else None,
                    kind=kind,
                    batch=spot.batch,
                    text="" if is_target else normalise(text).text,
                    screen=screen,
                    place=place,
                    column=column if self._has_columns else 0,
                    n_columns=len(spots) if self._has_columns else 1,
                    note=note,
                    low=check.low,
                    high=check.high,
                    feedback=check.feedback,
                )
            )

    def _note(self, value: Mapping[str, Any], path: str) -> str:
        given = value.get("instructions") or ""
        return plain(given) if self.findings.is_a(f"{path}.instructions", given, str) else ""

    def _spots(self, spot: Spot, n_outputs: int, path: str) -> list[tuple[int | None, int]]:
        """Return the screen of every output of an item, and its place there."""
        if spot.models:
            return [(spot.screen, spot.place + column) for column in range(n_outputs)]
        if self.info.protocol != "side-by-side":
            return [(spot.screen, spot.place)] * n_outputs
        if n_outputs > MOST_SYSTEMS:
            self.findings.error(
                f"{path}.tgt",
                message(
                    "pearmut.outputs-on-screen",
                    "The item has {n} outputs, but at most {limit} fit on a screen.",
                    n=n_outputs,
                    limit=MOST_SYSTEMS,
                ),
            )
        self.widest = max(self.widest, n_outputs)
        screen = next(self._screens)
        return [(screen, place) for place in range(n_outputs)]

    @property
    def _has_columns(self) -> bool:
        return protocols.get(self.info.protocol).layout.has_systems

    def _is_drawn(self) -> bool:
        """Return True if the systems of each screen can be drawn; warn in either case."""
        if not self.info.is_dynamic:
            return False
        (shared, *others) = self.models or {frozenset()}
        if 1 < self.info.n_models < len(shared) and not (others or self.marks.errors):
            for item in self.items:
                self.texts.add_note(item.segment, item.note)
            self.findings.warn("info.assignment", DRAWN)
            return True
        self.findings.warn("info.assignment", DEALT)
        return False

    def drafts(
        self, slug: str, name: str, languages: tuple[str, str], *, is_open: bool
    ) -> tuple[TestSetDraft, CampaignDraft]:
        """Return test set and campaign; systems are only drawn if the campaign `is_open`."""
        info, is_drawn = self.info, is_open and self._is_drawn()
        # Items whose systems are drawn are made when the campaign is opened.
        items = [each for each in self.items if each.kind != Item.Kind.TARGET or not is_drawn]
        source_language, target_language = languages
        test_set = TestSetDraft(
            slug=slug,
            name=name,
            source_language=source_language,
            target_language=target_language,
            description="Imported from Pearmut.",
            segments=list(self.texts.segments.values()),
            systems=self.texts.systems(),
        )
        own = protocols.get(self.info.protocol).question
        shown = (
            Campaign.ShownText.SOURCE if self.texts.has_sources else Campaign.ShownText.REFERENCE
        )
        campaign = CampaignDraft(
            slug=slug,
            name=name,
            question=own,
            protocol=self.info.protocol,
            is_finished=False,
            annotators_per_item=-(-len(self.texts.outputs) // info.n_models) if is_drawn else 1,
            assignment_mode=Campaign.Mode.DYNAMIC if is_drawn else Campaign.Mode.STATIC,
            cold_start=info.cold_start,
            check_percent=info.check_percent if is_drawn else 0,
            places=info.places,
            codes=info.codes,
            systems_per_screen=info.n_models if is_drawn else self.widest,
            special_tokens=self.info.tokens,
            answers=self.info.answers,
            original=self.original,
            instructions=self.info.instructions,
            goodbye=self.info.goodbye,
            shown_text=shown,
            items=items,
        )
        return test_set, campaign
