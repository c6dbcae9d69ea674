"""Attachments of segments as annotators see them; they depend on the segment only."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.urls import reverse

from annotation.entry.welcome import next_step
from annotation.models import Assignment, Campaign
from annotation.uploads.media.storage import path_of

# A line of a transcript may begin with its time: `1:02 text`, `0:01:02.5 text`, `[1:02] text`.
TIMED = re.compile(r"\[?(?:(\d{1,3}):)?(\d{1,2}):(\d{2}(?:\.\d{1,3})?)\]?\s+(.*)")


@dataclass(frozen=True)
class Line:
    """A line of a transcript, and the second at which it begins, if the transcript has times."""

    text: str
    at: float | None = None
    time: str = ""


@dataclass(frozen=True)
class Attachments:
    """The attachments of a segment; those that are missing are empty.

    `kind` is `audio`, `video` or `image`, and `address` that of the file. With `is_source` the file
    is the source: annotators see it instead of the segment's text.
    """

    kind: str = ""
    address: str = ""
    alt: str = ""
    transcript: tuple[Line, ...] = ()
    is_source: bool = False
    glossary: str = ""
    register: str = ""
    instructions: str = ""


def shown_attachments(
    stored: Mapping[str, Any] | None, campaign: Campaign, address: Callable[[], str]
) -> Attachments | None:
    """Return a segment's attachments; a file, at `address`, only if sources are shown."""
    if not stored:
        return None
    texts = {name: stored.get(name, "") for name in ("glossary", "register", "instructions")}
    if "file" not in stored or campaign.shown_text != Campaign.ShownText.SOURCE:
        return Attachments(**texts)
    return Attachments(
        kind=stored["kind"],
        address=address() + _stretch(stored),
        alt=stored.get("alt", ""),
        transcript=lines_of(stored.get("transcript", "")),
        is_source=stored.get("is_source", False),
        **texts,
    )


def kind_of(items: Iterable[Attachments | None]) -> str:
    """Return the kind of all source files of a screen; empty for texts or several kinds."""
    kinds = {each.kind if each and each.is_source else "" for each in items}
    return kinds.pop() if len(kinds) == 1 else ""


def _stretch(stored: Mapping[str, Any]) -> str:
    """Return the media fragment of the segment's times (W3C Media Fragments 1.0, 4.2.1)."""
    if "start" not in stored and "end" not in stored:
        return ""
    end = f",{stored['end']:g}" if "end" in stored else ""
    return f"#t={stored.get('start', 0):g}{end}"


def lines_of(transcript: str) -> tuple[Line, ...]:
    """Split a transcript into lines with their times."""
    return tuple(_line(line.strip()) for line in transcript.split("\n") if line.strip())


def _line(line: str) -> Line:
    found = TIMED.fullmatch(line)
    if not found:
        return Line(line)
    hours, minutes, seconds, text = found.groups()
    at = 3600 * int(hours or 0) + 60 * int(minutes) + float(seconds)
    return Line(text, at, f"{hours + ':' if hours else ''}{minutes}:{seconds}")


def address_of(public_id: UUID) -> str:
    """Return the address of an item's file; it is random, like the item's own address."""
    return reverse("item-media", args=[public_id])


def find_file(*, user: User, public_id: UUID) -> tuple[Path, str] | None:
    """Return the file attached to an item's segment, and its type.

    None for everyone except the item's annotator, and while the item may not be rated.
    """
    rows = Assignment.objects.filter(public_id=public_id, annotator__user=user)
    row = rows.select_related("annotator__campaign", "item__segment").first()
    if row is None or next_step(row.annotator):
        return None
    campaign, stored = row.annotator.campaign, row.item.segment.beside or {}
    is_shown = campaign.shown_text == Campaign.ShownText.SOURCE and "file" in stored
    if campaign.status != Campaign.Status.OPEN or not is_shown:
        return None
    return path_of(stored["file"]), stored["type"]
