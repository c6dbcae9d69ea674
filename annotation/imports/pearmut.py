"""Campaigns of Pearmut: one JSON file with `info`, `campaign_id` and `data`.

Task-based data become batches, one annotator each; of shared data every document is a batch, and
the documents are dealt to the users. Items with validation rules become gold, or practice where
they may be skipped. What is wrong is named by its path, such as `data[0][2][1].tgt`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from itertools import count
from typing import Any

from django.utils.html import strip_tags
from django.utils.text import slugify

from annotation import protocols
from annotation.imports.drafts import CampaignDraft, ItemDraft
from annotation.imports.jsonfiles import NAMES, read_json
from annotation.models import Campaign, Item
from annotation.uploads import SegmentDraft, SystemDraft, TestSetDraft
from annotation.uploads.files import InputFile
from annotation.uploads.problems import Place, Report

TASKS, SHARED = "task-based", ("single-stream", "dynamic")
PROTOCOLS = {"DA": "segment-da", "ESA": "esa", "cESA": "esa", "MQM": "mqm"}
ROOT = {"info", "campaign_id", "data", "data_welcome", "data_random"}
# These change how Pearmut looks or assigns, not what is asked.
HARMLESS = {
    "assignment", "protocol", "shuffle", "show_model_names", "show_alignment", "word_level",
    "slider_colors", "instructions", "users", "docs_per_user", "validation_threshold",
    "data_random_prob", "dynamic_models", "dynamic_coldstart", "special_tokens", "template",
}  # fmt: skip
REFUSED = {
    "sliders": "custom sliders have no protocol here",
    "mqm_categories": "custom categories have no protocol here",
    "mqm_severities": "custom severities have no protocol here",
}
ONLY_MODEL, NO_SOURCE = "output", "[no source]"
QUESTION = "How accurately does the black text express the meaning of the gray text?"
MOST_ON_SCREEN = 8
TYPES = {"an object": dict, "a list": list, "text": str, "true or false": bool}


def read(
    file: InputFile, report: Report, *, source_language: str, target_language: str, name: str = ""
) -> list[tuple[TestSetDraft, CampaignDraft]]:
    """Read a campaign; what is wrong goes to the report, and errors there forbid storing."""
    before = len(report.errors)
    values = read_json(file, report)
    if len(report.errors) > before:
        return []
    reader = Reader(file.name, report)
    reader.read(values)
    if len(report.errors) > before:
        return []
    reader.warn()
    title = (name or reader.name)[:120]
    slug = slugify(title)[:70] or "pearmut"
    slug = f"{slug}-pearmut" if slug in ("new", "import") else slug
    return [reader.drafts(slug, title, source_language, target_language)]


@dataclass
class Reader:
    """What is found while going through the file."""

    file: str
    report: Report
    name: str = ""
    protocol: str = protocols.DEFAULT
    places: int = 0
    instructions: str = ""
    items: list[ItemDraft] = field(default_factory=list)
    segments: dict[tuple[str, str], SegmentDraft] = field(default_factory=dict)
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    has_sources: bool = True
    widest: int = 2
    _screens: Iterator[int] = field(default_factory=lambda: count(1))

    def error(self, path: str, message: str) -> None:
        """Report something about the value at a path."""
        self.report.error(message, Place(self.file, None, path))

    def is_a(self, path: str, value: Any, wanted: str) -> bool:
        """Whether a value has a type; reported if not."""
        if type(value) is TYPES[wanted]:
            return True
        self.error(path, f"{wanted} is expected, not {NAMES.get(type(value), 'this')}")
        return False

    def skip(self, what: str) -> None:
        """Count something that has no counterpart here."""
        self.left_out[what] = self.left_out.get(what, 0) + 1

    def warn(self) -> None:
        """Say what was left out."""
        for what, number in self.left_out.items():
            self.report.warn(f"{number} {what} are left out", Place(self.file))

    def read(self, values: Any) -> None:
        """Go through the whole file."""
        if not self.is_a("the file", values, "an object"):
            return
        for key in sorted(set(values) - ROOT):
            self.error(key, f"“{key}” is not known here")
        for key in ("info", "campaign_id", "data"):
            if key not in values:
                self.error(key, f"the key “{key}” is missing")
        if not {"info", "campaign_id", "data"} <= set(values):
            return
        if self.is_a("campaign_id", values["campaign_id"], "text"):
            self.name = values["campaign_id"]
        batches = list(self._batches(values))
        common = [
            (document, path, kind)
            for key, kind in (("data_welcome", Item.Kind.TUTORIAL), ("data_random", Item.Kind.GOLD))
            for document, path in self._list(key, values.get(key, []))
        ]
        self._read_info(values["info"], batches)
        for batch, document, path in batches:
            self._document(document, path, batch, None)
        for document, path, kind in common:
            self._document(document, path, "", kind)

    def _batches(self, values: Mapping[str, Any]) -> Iterator[tuple[str, Any, str]]:
        """Yield (batch, document, path); a task is a batch, or else a document is."""
        info = values["info"] if isinstance(values["info"], dict) else {}
        assignment = info.get("assignment", TASKS)
        if assignment not in (TASKS, *SHARED):
            self.error("info.assignment", f"“{assignment}” is not known here")
            return
        for number, (part, path) in enumerate(self._list("data", values["data"]), 1):
            if assignment == TASKS:
                for document, inner in self._list(path, part):
                    yield str(number), document, inner
            else:
                yield str(number), part, path

    def _list(self, path: str, values: Any) -> Iterator[tuple[Any, str]]:
        if self.is_a(path, values, "a list"):
            for index, value in enumerate(values):
                yield value, f"{path}[{index}]"

    def _read_info(self, info: Any, batches: Sequence[tuple[str, Any, str]]) -> None:
        if not self.is_a("info", info, "an object"):
            return
        for key in sorted(set(info) & set(REFUSED)):
            self.error(f"info.{key}", REFUSED[key])
        if unknown := sorted(set(info) - HARMLESS - set(REFUSED)):
            self.report.warn(f"not used: {', '.join(unknown)}", Place(self.file, None, "info"))
        asked = info.get("protocol")
        if not isinstance(asked, str) or asked not in PROTOCOLS:
            known = ", ".join(PROTOCOLS)
            self.error("info.protocol", f"{asked!r} is no protocol known here ({known})")
            return
        self.protocol = self._protocol(PROTOCOLS[asked], [document for _, document, _ in batches])
        instructions = info.get("instructions", "")
        if instructions and self.is_a("info.instructions", instructions, "text"):
            self.instructions = unescape(strip_tags(instructions))
        if not batches:
            if not self.report.errors:
                self.error("data", "there is nothing to rate")
            return
        users = info.get("users", len({batch for batch, _, _ in batches}))
        self.places = len(users) if isinstance(users, list) else users
        if type(self.places) is not int or not 1 <= self.places <= 10_000:
            self.error("info.users", "the number of users, or a list of them, is expected")

    @staticmethod
    def _protocol(base: str, documents: Sequence[Any]) -> str:
        """Several models are compared on one screen; documents keep their segments together."""
        if base != "segment-da":
            return base
        items = [item for d in documents if isinstance(d, list) for item in d]
        targets = [item.get("tgt") for item in items if isinstance(item, dict)]
        if any(isinstance(target, dict) and len(target) > 1 for target in targets):
            return "side-by-side"
        return "document-da" if len(items) > len(documents) else base

    def _document(self, values: Any, path: str, batch: str, kind: Item.Kind | None) -> None:
        screen = next(self._screens) if self.protocol == "document-da" else None
        for place, (value, inner) in enumerate(self._list(path, values)):
            if isinstance(value, dict) and "form" in value and "tgt" not in value:
                self.skip("fields of forms")
            elif self.is_a(inner, value, "an object"):
                self._item(
                    value, inner, f"document{path.removeprefix('data')}", batch, kind, screen, place
                )

    def _item(
        self,
        value: Mapping[str, Any],
        path: str,
        document: str,
        batch: str,
        kind: Item.Kind | None,
        screen: int | None,
        place: int,
    ) -> None:
        targets = self._targets(value, path)
        rules = self._rules(value, path, targets)
        kind = kind or self._kind(value, rules)
        segment = self._segment(value, path, document, is_practice=kind != Item.Kind.TARGET)
        if segment is None:
            return
        if value.get("error_spans"):
            self.skip("items with errors marked beforehand")
        if self.protocol == "side-by-side":
            screen = next(self._screens)
            self.widest = max(self.widest, len(targets))
            if len(targets) > MOST_ON_SCREEN:
                message = f"{len(targets)} outputs are more than the {MOST_ON_SCREEN} of a screen"
                self.error(f"{path}.tgt", message)
        for number, (model, text) in enumerate(targets.items()):
            own_place = number if self.protocol == "side-by-side" else place if screen else 0
            low, high, feedback = self._range(rules.get(model, []), f"{path}.validation")
            if kind == Item.Kind.TARGET:
                self._keep_output(model, segment.key, text, f"{path}.tgt.{model}")
            self.items.append(
                ItemDraft(
                    segment=segment.key,
                    system=model if kind == Item.Kind.TARGET else None,
                    kind=kind,
                    batch=batch,
                    text="" if kind == Item.Kind.TARGET else text,
                    screen=screen,
                    place=own_place,
                    low=low,
                    high=high,
                    feedback=feedback,
                )
            )

    def _targets(self, value: Mapping[str, Any], path: str) -> dict[str, str]:
        if "tgt" not in value:
            self.error(f"{path}.tgt", "the key “tgt” is missing")
            return {}
        targets = value["tgt"]
        if isinstance(targets, str):
            return {ONLY_MODEL: targets}
        if not self.is_a(f"{path}.tgt", targets, "an object"):
            return {}
        if not targets:
            self.error(f"{path}.tgt", "there is no output")
        return {
            model: text
            for model, text in targets.items()
            if self.is_a(f"{path}.tgt.{model}", text, "text")
        }

    def _rules(
        self, value: Mapping[str, Any], path: str, targets: Mapping[str, str]
    ) -> dict[str, list[dict[str, Any]]]:
        """Validation by model: an object by model, or a list in the order of the outputs."""
        rules = value.get("validation")
        if rules is None:
            return {}
        path = f"{path}.validation"
        if isinstance(rules, list):
            if len(rules) != len(targets):
                self.error(path, f"{len(rules)} rules for {len(targets)} outputs")
                return {}
            rules = dict(zip(targets, rules, strict=True))
        if not self.is_a(path, rules, "an object"):
            return {}
        found: dict[str, list[dict[str, Any]]] = {}
        for model, rule in rules.items():
            if model not in targets:
                self.error(f"{path}.{model}", "there is no output of this name")
            each = rule if isinstance(rule, list) else [rule]
            found[model] = [r for r in each if self.is_a(f"{path}.{model}", r, "an object")]
        return found

    @staticmethod
    def _kind(value: Mapping[str, Any], rules: Mapping[str, list[dict[str, Any]]]) -> Item.Kind:
        if "validation" not in value:
            return Item.Kind.TARGET
        every = [rule for own in rules.values() for rule in own]
        can_skip = value.get("skippable") or any(rule.get("allow_skip") for rule in every)
        return Item.Kind.TUTORIAL if can_skip else Item.Kind.GOLD

    def _range(
        self, rules: Sequence[Mapping[str, Any]], path: str
    ) -> tuple[int | None, int | None, str]:
        """The range of right scores, and what is said afterwards."""
        low = high = None
        feedback = ""
        for rule in rules:
            feedback = feedback or unescape(strip_tags(str(rule.get("warning", ""))))
            if "score" in rule:
                low, high = self._scores(rule["score"], f"{path}.score")
            for key, what in (
                ("error_spans", "rules about error spans"),
                ("score_greaterthan", "rules that compare outputs"),
            ):
                if key in rule:
                    self.skip(what)
        return low, high, feedback

    def _scores(self, value: Any, path: str) -> tuple[int | None, int | None]:
        if isinstance(value, list) and [type(each) for each in value] == [int, int]:
            low, high = value
            if 0 <= low <= high <= 100:
                return low, high
        self.error(path, "two whole numbers from 0 to 100, in order, are expected")
        return None, None

    def _segment(
        self, value: Mapping[str, Any], path: str, document: str, *, is_practice: bool
    ) -> SegmentDraft | None:
        source, reference = value.get("src", ""), value.get("ref", "")
        for key, text in (("src", source), ("ref", reference)):
            if not self.is_a(f"{path}.{key}", text, "text"):
                return None
        if not source and not reference:
            self.error(f"{path}.src", "there is neither a source nor a reference")
            return None
        self.has_sources &= bool(source)
        own_id = value.get("item_id", path)
        if not isinstance(own_id, str | int):
            self.error(f"{path}.item_id", "text or a number is expected")
            return None
        key, doc_id = str(own_id).strip(), str(value.get("doc_id", document))
        return self._known(key, doc_id, source or NO_SOURCE, reference, path, is_practice)

    def _known(
        self, key: str, document: str, source: str, reference: str, path: str, is_practice: bool
    ) -> SegmentDraft:
        """The same item_id is the same segment; practice may repeat ids, as in the examples."""
        if (key, source) in self.segments:
            return self.segments[key, source]
        same = [own for own, _ in self.segments if own == key]
        if same and not is_practice:
            self.error(f"{path}.item_id", f"“{key}” has another source elsewhere")
        own_key = f"{key} ({len(same) + 1})" if same else key
        references = {"A": reference} if reference else {}
        segment = SegmentDraft(own_key, source, document=document[:200], references=references)
        self.segments[key, source] = segment
        return segment

    def _keep_output(self, model: str, key: str, text: str, path: str) -> None:
        outputs = self.outputs.setdefault(model, {})
        if outputs.setdefault(key, text) != text:
            self.error(path, f"“{model}” has another output for “{key}” elsewhere")

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
        own = protocols.get(self.protocol).question
        shown = Campaign.ShownText.SOURCE if self.has_sources else Campaign.ShownText.REFERENCE
        campaign = CampaignDraft(
            slug=slug,
            name=name,
            question=QUESTION if self.protocol == "segment-da" else own,
            protocol=self.protocol,
            is_finished=False,
            annotators_per_item=1,
            places=self.places,
            systems_per_screen=self.widest,
            instructions=self.instructions,
            shown_text=shown,
            items=self.items,
        )
        return test_set, campaign
