"""The log of a campaign of Pearmut: its answers as judgments of an imported campaign.

A log is only added to: the last entry of a person for one `item_i` counts and the ones before are
its revisions, and a reset voids what that person had given.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotation.imports.drafts import CampaignDraft, ItemDraft, JudgmentDraft
from annotation.imports.pearmut.entries import Entry, spans_of, times_of
from annotation.imports.pearmut.findings import Findings
from annotation.imports.pearmut.offsets import Convention, Raw
from annotation.imports.pearmut.prefilled import read_spans
from annotation.models import Annotator, Item
from annotation.protocols import Protocol, Span
from annotation.uploads.checks import max_length

RESET = "__RESET__"
PLACES = {"welcome": Item.Kind.TUTORIAL, "random": Item.Kind.GOLD}
FORMS = "goodbye"
LONGEST_LABEL = max_length(Annotator, "label")
INCLUDED = {"ends_included": True}
# (item_id, source) of what was shown, the model, and whether it was content, practice or a check.
Key = tuple[tuple[str, str], str, Item.Kind]


@dataclass
class LogReader:
    """Reads entries over the items of a campaign that has been read before."""

    findings: Findings
    campaign: CampaignDraft
    # The key of a segment by item_id and source.
    segments: Mapping[tuple[str, str], str]
    protocol: Protocol
    convention: Convention
    judgments: list[JudgmentDraft] = field(default_factory=list)
    items: list[ItemDraft] = field(default_factory=list)
    _places: dict[Any, int] = field(default_factory=dict)
    _known: dict[str, list[ItemDraft]] = field(init=False)

    def __post_init__(self) -> None:
        self._known = defaultdict(list)
        for item in self.campaign.items:
            self._known[item.segment].append(item)

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
            elif len(str(user)) > LONGEST_LABEL:
                self.findings.error(f"{path}.user_id", f"more than {LONGEST_LABEL} characters")
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
        if not self.findings.is_a(f"{path}.annotation", segments, "a list"):
            return
        if place == FORMS or not all(isinstance(each, dict) for each in segments or [None]):
            self._leave_out("answers to forms", 1)
            return
        if not isinstance(shown, list) or len(shown) != len(segments):
            self.findings.error(path, "item and annotation are lists of the same segments")
            return
        answers = list(self._answers(segments, shown, PLACES.get(place, Item.Kind.TARGET), path))
        times = times_of(entry.get("actions"), len(answers))
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
                        spans = self._spans(answer, item, model, inner)
                        yield self._judgment(answer, place, spans, inner)

    def _place(self, item: Entry, model: str, kind: Item.Kind, path: str) -> int | None:
        """The number of the item that was judged, taken in when it is first seen."""
        known = str(item.get("item_id", "")).strip(), str(item.get("src", ""))
        segment = self.segments.get(known)
        if "item_id" not in item:
            # Without ids, a source that is there once says which it is.
            same = [key for (_, source), key in self.segments.items() if source == known[1]]
            segment = same[0] if len(same) == 1 else None
        if segment is None:
            message = f"the campaign has no segment “{known[0][:80]}” of this source"
            self.findings.error(path, message)
            return None
        text = str(item["tgt"][model])
        matching = [
            each
            for each in self._known[segment]
            if (each.system == model if each.system else each.text == text)
        ]
        if not matching:
            self.findings.error(path, f"the campaign has no such output of “{segment[:80]}”")
            return None
        found = next((each for each in matching if each.kind == kind), matching[0])
        key = (segment, found.system, found.kind, found.text)
        if key not in self._places:
            self._places[key] = len(self.items)
            # Screens of outputs differ by person; those of controls are compared within.
            alone = {"screen": None, "place": 0, "column": 0, "n_columns": 1}
            more: dict[str, Any] = alone if found.kind == Item.Kind.TARGET else {}
            self.items.append(replace(found, batch="", **more))
        return self._places[key]

    def _spans(self, answer: Entry, item: Entry, model: str, path: str) -> tuple[Span, ...]:
        """The marked errors. Ends are included, but of suggestions that were left as they were."""
        given = item.get("error_spans")
        before = given.get(model) if isinstance(given, dict) else None
        shown = {_ends(each) for each in before or () if isinstance(each, dict)}
        text, source = str(item["tgt"][model]), str(item.get("src", ""))
        found: list[Span] = []
        for each in spans_of(self.findings, answer, path):
            own = self.convention if _ends(each) in shown else replace(self.convention, **INCLUDED)
            found += read_spans(self.findings, Raw([each], text, source), self.protocol, own)
        return tuple(dict.fromkeys(found))

    def _judgment(
        self, answer: Entry, place: int, spans: tuple[Span, ...], path: str
    ) -> JudgmentDraft:
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
            spans=spans,
        )

    def _ratings(self, answer: Entry, path: str) -> dict[str, int]:
        scales = [scale for scale in self.protocol.scales if scale.key]
        given = answer.get("sliders")
        given = given if isinstance(given, dict) else {}
        for scale in scales:
            if not scale.holds(given.get(scale.key)):
                message = f"{given.get(scale.key)!r} is no value from {scale.low} to {scale.high}"
                self.findings.error(f"{path}.sliders.{scale.key}", message)
        return {scale.key: given[scale.key] for scale in scales if scale.key in given}


def _ends(span: Entry) -> tuple[Any, Any]:
    return str(span.get("start_i")), str(span.get("end_i"))
