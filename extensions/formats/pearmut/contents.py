"""Collect segments and outputs of a Pearmut campaign from its items."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.html import format_html

from annotation.imports.judgments.texts import Texts
from annotation.uploads import SegmentDraft, SystemDraft
from annotation.uploads.media.attachments import NOT_TEXT
from annotation.uploads.media.elements import RefusedTagError, read_tag
from annotation.uploads.normalising import normalise
from extensions.formats.pearmut.findings import Findings
from metaeval.messages import message, plural

# Read and write the source of a Pearmut item: a text, or one HTML tag of a media file.

# The keys with the transcript of a media file in WMT26.
WORDS = ("src_text", "gold_transcript")


def read_source(
    findings: Findings, value: Mapping[str, Any], path: str
) -> tuple[str, dict[str, Any]]:
    """Return the source text, and the attachments if the source is a file.

    Metrics read the words of a file as its source, if the item has them.
    """
    source: str = value.get("src", "")
    try:
        tag = read_tag(source)
    except RefusedTagError as error:
        findings.error(path, error.message)
        tag = None
    if tag is None:
        return normalise(source).text, {}
    words = next((value[name] for name in WORDS if isinstance(value.get(name), str)), "").strip()
    words = normalise(words).text
    attachments: dict[str, Any] = {"media": tag.src, "is_source": True}
    if tag.alt:
        attachments["alt"] = tag.alt
    return words or NOT_TEXT, attachments


def write_source(source: str, attachments: Mapping[str, Any] | None) -> dict[str, str]:
    """Return `src`, and `src_text` if the source is a file, whose name is its content's hash."""
    if not attachments or not attachments.get("is_source") or "file" not in attachments:
        return {"src": source}
    tag = "img" if attachments["kind"] == "image" else attachments["kind"]
    alt = format_html(' alt="{}"', attachments["alt"]) if "alt" in attachments else ""
    words = {} if source == NOT_TEXT else {WORDS[0]: source}
    return {"src": format_html('<{} src="{}"{}>', tag, attachments["file"], alt)} | words


ITEM_KEYS = {
    "item_id", "doc_id", "src", "ref", "tgt", "instructions", "error_spans", "validation",
    "skippable", *WORDS,
}  # fmt: skip
MEDIA = ("<audio ", "<video ", "<img ", "<iframe ")
TAGS = plural(
    "pearmut.media-outputs",
    "{n} output is a tag of audio, video, an image or a frame, and is shown as text. It is kept in "
    "the stored file and exported again, but has no other effect.",
    "{n} outputs are tags of audio, video, images or frames, and are shown as text. They are kept "
    "in the stored file and exported again, but have no other effect.",
    n=1,
)
SKIPPABLE = plural(
    "pearmut.skippable",
    "{n} item may be skipped in Pearmut, but not here. The setting is kept in the stored file and "
    "exported again.",
    "{n} items may be skipped in Pearmut, but not here. The setting is kept in the stored file and "
    "exported again.",
    n=1,
)
NO_SOURCE = "[no source]"


@dataclass
class Contents:
    """Segments by item_id and source, and outputs by model and segment."""

    findings: Findings
    segments: dict[tuple[str, str], SegmentDraft] = field(default_factory=dict)
    # The number of sources of each item_id.
    ids: Counter[str] = field(default_factory=Counter)
    # The path of the first item of each segment, by the segment's key.
    paths: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    has_sources: bool = True

    def segment(
        self, value: Mapping[str, Any], path: str, document: str, *, is_practice: bool
    ) -> SegmentDraft | None:
        """Return the segment of an item, or None and report why."""
        source, reference = value.get("src", ""), value.get("ref", "")
        for key, text in (("src", source), ("ref", reference)):
            if not self.findings.is_a(f"{path}.{key}", text, str):
                return None
        if not source and not reference:
            self.findings.error(
                f"{path}.src",
                message("pearmut.no-source", "There is neither a source nor a reference."),
            )
            return None
        self.has_sources &= bool(source)
        own_id = value.get("item_id", path)
        if not isinstance(own_id, str | int):
            self.findings.error(
                f"{path}.item_id",
                message("pearmut.item-id", "The value must be text or a number."),
            )
            return None
        key = str(own_id).strip()
        if (key, source) not in self.segments:
            if self.ids[key] and not is_practice:
                self.findings.error(
                    f"{path}.item_id",
                    message(
                        "pearmut.other-source",
                        "Another item with the item_id “{key}” has a different source.",
                        key=key,
                    ),
                )
            self.ids[key] += 1
            # Practice may repeat ids, as in Pearmut's examples.
            text, attachments = read_source(self.findings, value, f"{path}.src")
            segment = SegmentDraft(
                f"{key} ({self.ids[key]})" if self.ids[key] > 1 else key,
                text or NO_SOURCE,
                document=str(value.get("doc_id", document))[:200],
                references={"A": normalise(reference).text} if reference else {},
                attachments=attachments,
            )
            self.segments[key, source], self.paths[segment.key] = segment, path
        return self.segments[key, source]

    def keep_output(self, model: str, key: str, text: str, path: str) -> None:
        """Keep an output; report an error if the model has another one of the segment."""
        outputs, text = self.outputs.setdefault(model, {}), normalise(text).text
        if outputs.setdefault(key, text) != text:
            self.findings.error(
                path,
                message(
                    "pearmut.other-output",
                    "“{system}” has a different output for “{segment}” in another item.",
                    system=model,
                    segment=key,
                ),
            )

    def add_note(self, key: str, note: str) -> None:
        """Attach the note of an item to its segment, because the item is not stored."""
        if note:
            (segment,) = (each for each in self.segments.values() if each.key == key)
            segment.attachments = {"instructions": note, **(segment.attachments or {})}

    def keys(self) -> dict[tuple[str, str], str]:
        """Return segments by item_id and source, both as in the file and as exported."""
        found = {key: segment.key for key, segment in self.segments.items()}
        for (own_id, _), each in self.segments.items():
            found[own_id, write_source(each.source, each.attachments)["src"]] = each.key
        return found

    def known(self) -> Texts:
        """Return the texts that judgments refer to."""
        sources = {each.key: each.source for each in self.segments.values()}
        outputs = {(model, key): t for model, own in self.outputs.items() for key, t in own.items()}
        return Texts(sources, outputs)

    def systems(self) -> list[SystemDraft]:
        """Return the models with their outputs."""
        return [SystemDraft(model, outputs=texts) for model, texts in self.outputs.items()]

    def count_unused(self, value: Mapping[str, Any], targets: Mapping[str, str]) -> None:
        """Count values of an item that have no effect, and media outputs, which become text."""
        counts = self.findings.counts
        for key in sorted(set(value) - ITEM_KEYS):
            unused = plural(
                "pearmut.unused-key",
                "{n} value of “{key}” has no effect. It is kept in the stored file and exported "
                "again.",
                "{n} values of “{key}” have no effect. They are kept in the stored file and "
                "exported again.",
                n=1,
                key=key[:80],
            )
            counts[unused] += 1
        if value.get("skippable") and "validation" not in value:
            counts[SKIPPABLE] += 1
        if n := sum(text.startswith(MEDIA) for text in targets.values()):
            counts[TAGS] += n
