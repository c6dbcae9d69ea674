"""The source of an item of Pearmut: a text, or a recording or picture by one HTML tag."""

from collections.abc import Mapping
from typing import Any

from django.utils.html import format_html

from annotation.imports.pearmut.findings import Findings
from annotation.uploads.media.attachments import NOT_TEXT
from annotation.uploads.media.elements import RefusedTagError, read_tag

# Where WMT26 keeps the words of what annotators only heard or saw.
WORDS = ("src_text", "gold_transcript")


def read_source(
    findings: Findings, value: Mapping[str, Any], path: str
) -> tuple[str, dict[str, Any]]:
    """Return the source text, and what stands beside it where the source is a file.

    What metrics read as the source of a file are its words, if they are given.
    """
    source: str = value.get("src", "")
    try:
        tag = read_tag(source)
    except RefusedTagError as error:
        findings.error(path, str(error))
        tag = None
    if tag is None:
        return source, {}
    words = next((value[name] for name in WORDS if isinstance(value.get(name), str)), "").strip()
    beside: dict[str, Any] = {"media": tag.src, "is_source": True}
    if tag.alt:
        beside["alt"] = tag.alt
    return words or NOT_TEXT, beside


def write_source(source: str, beside: Mapping[str, Any] | None) -> dict[str, str]:
    """Return `src`, and `src_text` where the source is a file; that goes by its content's hash."""
    if not beside or not beside.get("is_source") or "file" not in beside:
        return {"src": source}
    tag = "img" if beside["kind"] == "image" else beside["kind"]
    alt = format_html(' alt="{}"', beside["alt"]) if "alt" in beside else ""
    words = {} if source == NOT_TEXT else {WORDS[0]: source}
    return {"src": format_html('<{} src="{}"{}>', tag, beside["file"], alt)} | words
