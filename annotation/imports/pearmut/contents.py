"""Segments and outputs of a campaign of Pearmut, as they are met in its items."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from annotation.imports.pearmut.findings import Findings
from annotation.imports.pearmut.origins import WORDS, read_source, write_source
from annotation.uploads import SegmentDraft, SystemDraft

ITEM_KEYS = {
    "item_id", "doc_id", "src", "ref", "tgt", "instructions", "error_spans", "validation",
    "skippable", *WORDS,
}  # fmt: skip
MEDIA = ("<audio ", "<video ", "<img ", "<iframe ")
TAGS = "outputs that are tags of audio, video, images or frames, shown as text"
NO_SOURCE = "[no source]"


@dataclass
class Contents:
    """What texts there are: segments by item_id and source, outputs by model and segment."""

    findings: Findings
    segments: dict[tuple[str, str], SegmentDraft] = field(default_factory=dict)
    # How many sources an item_id has.
    ids: Counter[str] = field(default_factory=Counter)
    # Where each segment was first found, by its key.
    paths: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    has_sources: bool = True

    def segment(
        self, value: Mapping[str, Any], path: str, document: str, *, is_practice: bool
    ) -> SegmentDraft | None:
        """Return the segment of an item, None where something is wrong with it."""
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
                attachments=beside,
            )
            self.segments[key, source], self.paths[segment.key] = segment, path
        return self.segments[key, source]

    def keep_output(self, model: str, key: str, text: str, path: str) -> None:
        """Keep an output; reported where the model has another one of the segment."""
        outputs = self.outputs.setdefault(model, {})
        if outputs.setdefault(key, text) != text:
            self.findings.error(path, f"“{model}” has another output for “{key}” elsewhere")

    def tell(self, key: str, note: str) -> None:
        """Keep what is to be said of a segment beside it: no item will be there to hold it."""
        if note:
            (segment,) = (each for each in self.segments.values() if each.key == key)
            segment.attachments = {"instructions": note, **(segment.attachments or {})}

    def keys(self) -> dict[tuple[str, str], str]:
        """Return segments by item_id and source, as the file has it and as we write it."""
        found = {key: segment.key for key, segment in self.segments.items()}
        for (own_id, _), each in self.segments.items():
            found[own_id, write_source(each.source, each.attachments)["src"]] = each.key
        return found

    def systems(self) -> list[SystemDraft]:
        """Return the models with their outputs."""
        return [SystemDraft(model, outputs=texts) for model, texts in self.outputs.items()]

    def count_kept(self, value: Mapping[str, Any], targets: Mapping[str, str]) -> None:
        """Count what an item says beside its texts, and outputs of media, which are text here."""
        kept = self.findings.kept
        for key in sorted(set(value) - ITEM_KEYS):
            kept[f"values of “{key[:80]}”"] += 1
        if value.get("skippable") and "validation" not in value:
            kept["items that may be skipped"] += 1
        if n := sum(text.startswith(MEDIA) for text in targets.values()):
            kept[TAGS] += n
