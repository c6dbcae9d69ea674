"""The log of a campaign of Pearmut: its answers as judgments of an imported campaign.

A log is lines of JSON, one an entry, or a download: `{campaign_id: [entry]}`. It is only added to:
the last entry of a person for one `item_i` counts and the ones before are its revisions, and a
reset voids what that person had given.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from annotation import protocols
from annotation.imports.drafts import CampaignDraft, ItemDraft, JudgmentDraft
from annotation.imports.pearmut.findings import Findings
from annotation.imports.pearmut.prefilled import Raw, read_spans
from annotation.models import Item
from annotation.protocols import Protocol, composed
from annotation.uploads import InputFile, Report
from annotation.uploads.files import read_text

RESET = "__RESET__"
# Longer pauses are no work (Pearmut 1.1.5; 60 seconds before).
LONGEST_GAP = 61.0
PLACES = {"welcome": Item.Kind.TUTORIAL, "random": Item.Kind.GOLD}
FORMS = "goodbye"
Entry = Mapping[str, Any]
# (item_id, source) of what was shown, the model, and whether it was content, practice or a check.
Key = tuple[tuple[str, str], str, Item.Kind]


@dataclass
class LogReader:
    """Reads entries over the items of a campaign that has been read before."""

    findings: Findings
    campaign: CampaignDraft
    # The key of a segment by item_id and source.
    segments: Mapping[tuple[str, str], str]
    protocol: Protocol = field(init=False)
    judgments: list[JudgmentDraft] = field(default_factory=list)
    items: list[ItemDraft] = field(default_factory=list)
    _places: dict[Any, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.protocol = composed.compose(
            protocols.get(self.campaign.protocol), self.campaign.answers
        )
        if self.campaign.special_tokens is not None and self.protocol.spans:
            tokens = tuple(self.campaign.special_tokens)
            self.protocol = replace(
                self.protocol, spans=replace(self.protocol.spans, tokens=tokens)
            )

    def read(self, entries: Sequence[tuple[Entry, str]]) -> CampaignDraft:
        """Return the campaign as a finished one with the judgments of its log."""
        for entry, path in self._valid(entries):
            self._entry(entry, path)
        return replace(
            self.campaign,
            items=self.items,
            judgments=self.judgments,
            is_finished=True,
            places=0,
        )

    def _valid(self, entries: Sequence[tuple[Entry, str]]) -> list[tuple[Entry, str]]:
        """What no reset voids, in the order of the log."""
        kept: list[tuple[Entry, str]] = []
        for entry, path in entries:
            user = entry.get("user_id")
            if not isinstance(user, str | int) or "annotation" not in entry:
                self.findings.error(path, "user_id and annotation are expected")
            elif entry["annotation"] == RESET:
                # Before 1.1.6 a reset named the one item that it was about.
                about = entry.get("item_i")
                others = [
                    (each, own_path)
                    for each, own_path in kept
                    if each.get("user_id") != user or (about not in (None, each.get("item_i")))
                ]
                self._leave_out("entries voided by a reset", len(kept) - len(others))
                kept = others
            else:
                kept.append((entry, path))
        return kept

    def _leave_out(self, what: str, number: int) -> None:
        if number:
            self.findings.left_out[what] += number

    def _entry(self, entry: Entry, path: str) -> None:
        place = str(entry.get("item_i", "")).partition("_")[0]
        segments, shown = entry["annotation"], entry.get("item")
        if place == FORMS or not all(isinstance(each, dict) for each in segments or [None]):
            self._leave_out("answers to forms", 1)
            return
        if not isinstance(shown, list) or len(shown) != len(segments):
            self.findings.error(path, "item and annotation are lists of the same segments")
            return
        answers = list(self._answers(segments, shown, PLACES.get(place, Item.Kind.TARGET), path))
        times = _times(entry.get("actions"), len(answers))
        comment = str(entry.get("comment") or "")[:2000]
        for number, answer in enumerate(answers):
            self.judgments.append(
                replace(
                    answer,
                    annotator=str(entry["user_id"]),
                    comment=comment if not number else "",
                    sent_together=len(answers),
                    **times,
                )
            )

    def _answers(
        self, segments: Sequence[Entry], shown: Sequence[Any], kind: Item.Kind, path: str
    ) -> Iterator[JudgmentDraft]:
        for number, (answers, item) in enumerate(zip(segments, shown, strict=True)):
            targets = item.get("tgt") if isinstance(item, dict) else None
            if not isinstance(targets, dict):
                self.findings.error(f"{path}.item[{number}].tgt", "an object is expected")
                continue
            for model, answer in answers.items():
                if model not in targets:
                    self._leave_out("scores of systems that were not shown", 1)
                elif isinstance(answer, dict):
                    inner = f"{path}.annotation[{number}].{model}"
                    place = self._place(item, model, kind, inner)
                    if place is not None:
                        yield self._judgment(answer, str(targets[model]), item, place, inner)

    def _place(self, item: Entry, model: str, kind: Item.Kind, path: str) -> int | None:
        """The number of the item that was judged, taken in when it is first seen."""
        known = str(item.get("item_id", "")).strip(), str(item.get("src", ""))
        segment = self.segments.get(known)
        if segment is None:
            message = f"the campaign has no segment “{known[0][:80]}” of this source"
            self.findings.error(path, message)
            return None
        text = str(item["tgt"][model])
        matching = [
            each
            for each in self.campaign.items
            if each.segment == segment
            and (each.system == model if each.system else each.text == text)
        ]
        if not matching:
            self.findings.error(path, f"the campaign has no such output of “{segment[:80]}”")
            return None
        found = next((each for each in matching if each.kind == kind), matching[0])
        key = (segment, found.system, found.kind, found.text)
        if key not in self._places:
            self._places[key] = len(self.items)
            alone = replace(found, batch="", screen=None, place=0, column=0, n_columns=1)
            self.items.append(alone)
        return self._places[key]

    def _judgment(
        self, answer: Entry, text: str, item: Entry, place: int, path: str
    ) -> JudgmentDraft:
        spans = answer.get("error_spans") or []
        raw = Raw(
            [each for each in spans if isinstance(each, dict)], text, str(item.get("src", ""))
        )
        ratings = self._ratings(answer, path)
        first = self.protocol.scales[0] if self.protocol.scales else None
        score = ratings.get(first.key) if first and first.key else answer.get("score")
        if first and not first.holds(score):
            self.findings.error(path, f"{score!r} is no score from {first.low} to {first.high}")
            score = None
        written = answer.get("textfield")
        return JudgmentDraft(
            annotator="",
            item=place,
            score=score if first else None,
            ratings=ratings,
            post_edit=str(written) if self.protocol.text and written is not None else None,
            spans=read_spans(self.findings, raw, self.protocol, ends_included=True),
        )

    def _ratings(self, answer: Entry, path: str) -> dict[str, int]:
        scales = [scale for scale in self.protocol.scales if scale.key]
        given = answer.get("sliders") or {}
        for scale in scales:
            if not scale.holds(given.get(scale.key)):
                message = f"{given.get(scale.key)!r} is no value from {scale.low} to {scale.high}"
                self.findings.error(f"{path}.sliders.{scale.key}", message)
        return {scale.key: given[scale.key] for scale in scales if scale.key in given}


def _times(actions: Any, n_answers: int) -> dict[str, Any]:
    """Begin, end and time at work an answer: pauses count up to LONGEST_GAP seconds."""
    moments = sorted(
        float(each["time"])
        for each in actions or []
        if isinstance(each, dict) and type(each.get("time")) in (int, float)
    )
    if not moments or not n_answers:
        return {}
    gaps = (later - sooner for sooner, later in pairwise(moments))
    seconds = sum(min(gap, LONGEST_GAP) for gap in gaps)
    begin, end = (datetime.fromtimestamp(each, UTC) for each in (moments[0], moments[-1]))
    active = round(seconds * 1000 / n_answers)
    return {"started_at": begin, "submitted_at": end, "active_ms": active}


def read_entries(file: InputFile, report: Report, name: str) -> list[tuple[Entry, str]]:
    """Return the entries with their paths: of a download those of the campaign, or all lines."""
    text = read_text(file, report)
    findings = Findings(file.name, report)
    found: list[tuple[Any, str]] = []
    try:
        whole = json.loads(text or "")
        if isinstance(whole, dict) and "annotation" not in whole:
            if name not in whole:
                findings.error("", f"this log is of {', '.join(whole)[:200]}, not of “{name}”")
            found = list(findings.entries(name, whole.get(name, [])))
        else:
            found = [(whole, "line 1")]
    except ValueError:
        lines = enumerate((text or "").splitlines(), 1)
        found = list(_lines(lines, findings))
    return [(each, path) for each, path in found if findings.is_a(path, each, "an object")]


def _lines(lines: Iterator[tuple[int, str]], findings: Findings) -> Iterator[tuple[Any, str]]:
    for number, line in lines:
        if not line.strip():
            continue
        try:
            yield json.loads(line), f"line {number}"
        except (ValueError, RecursionError):
            findings.error(f"line {number}", "this is no JSON")
