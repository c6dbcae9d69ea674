"""Read and write the source of a Pearmut item: a text, or one HTML tag of a media file."""

from collections.abc import Mapping
from typing import Any

from django.utils.html import format_html

from annotation.imports.pearmut.findings import Findings
from annotation.uploads.media.attachments import NOT_TEXT
from annotation.uploads.media.elements import RefusedTagError, read_tag

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
        return source, {}
    words = next((value[name] for name in WORDS if isinstance(value.get(name), str)), "").strip()
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
