"""Import the log of a Pearmut campaign as judgments of a finished campaign.

Logs are append-only: the last entry of a user for one `item_i` counts, earlier ones are its
revisions, and a reset voids the earlier entries of its user.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotation.imports.drafts import CampaignDraft, ItemDraft, JudgmentDraft
from annotation.imports.jsonfiles import Findings
from annotation.imports.pearmut.entries import Entry, spans_of, times_of
from annotation.imports.pearmut.offsets import Raw, read_spans
from annotation.models import Annotator, Item
from annotation.protocols import Protocol, Span
from annotation.protocols.base import Scale
from annotation.uploads.checks import max_length
from annotation.uploads.normalising import normalise
from annotation.uploads.offsets import Convention
from metaeval.messages import Message, message, plural

RESET = "__RESET__"
PLACES = {"welcome": Item.Kind.TUTORIAL, "random": Item.Kind.GOLD}
FORMS = "goodbye"
LONGEST_LABEL = max_length(Annotator, "label")
VOIDED = plural(
    "pearmut.voided",
    "{n} entry is skipped because a reset voided it.",
    "{n} entries are skipped because a reset voided them.",
    n=1,
)
FORM_ANSWERS = plural(
    "pearmut.form-answers",
    "{n} answer to a form is skipped.",
    "{n} answers to forms are skipped.",
    n=1,
)
NOT_SHOWN = plural(
    "pearmut.not-shown",
    "{n} score is skipped because its system was not shown.",
    "{n} scores are skipped because their systems were not shown.",
    n=1,
)
# What people who skip a practice item leave.
UNANSWERED = plural(
    "pearmut.unanswered",
    "{n} empty answer is skipped: it has no score, no error and no text.",
    "{n} empty answers are skipped: they have no score, no error and no text.",
    n=1,
)


@dataclass
class LogReader:
    """Reads the entries of a log, after the campaign with its items."""

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
        """Return the entries that no reset voids, in the order of the log."""
        valid: list[tuple[Entry, str]] = []
        for entry, path in entries:
            user = entry.get("user_id")
            if not isinstance(user, str | int) or "annotation" not in entry:
                self.findings.error(
                    path,
                    message("pearmut.entry-keys", "The entry must have user_id and annotation."),
                )
            elif len(str(user)) > LONGEST_LABEL:
                self.findings.error(
                    f"{path}.user_id",
                    message(
                        "pearmut.long-user-id",
                        "The user_id has more than {limit} characters.",
                        limit=LONGEST_LABEL,
                    ),
                )
            elif entry["annotation"] == RESET:
                # Before 1.1.6 a reset named a single item.
                about = entry.get("item_i")
                others = [
                    (each, own_path)
                    for each, own_path in valid
                    if each.get("user_id") != user or (about not in (None, each.get("item_i")))
                ]
                self._skip(VOIDED, len(valid) - len(others))
                valid = others
            else:
                valid.append((entry, path))
        return valid

    def _skip(self, counted: Message, n: int = 1) -> None:
        if n:
            self.findings.counts[counted] += n

    def _entry(self, entry: Entry, path: str) -> None:
        place = str(entry.get("item_i", "")).partition("_")[0]
        segments, shown = entry["annotation"], entry.get("item")
        if not self.findings.is_a(f"{path}.annotation", segments, list):
            return
        if place == FORMS or not all(isinstance(each, dict) for each in segments or [None]):
            self._skip(FORM_ANSWERS)
            return
        if not isinstance(shown, list) or len(shown) != len(segments):
            self.findings.error(
                path,
                message(
                    "pearmut.entry-lists",
                    "“item” and “annotation” must be lists of the same segments.",
                ),
            )
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
                self.findings.error(
                    f"{path}.item[{number}].tgt",
                    message("pearmut.entry-outputs", "The value must be an object."),
                )
                continue
            for model, answer in answers.items():
                if model not in targets:
                    self._skip(NOT_SHOWN)
                elif answer is None or (isinstance(answer, dict) and self._is_empty(answer)):
                    self._skip(UNANSWERED)
                elif isinstance(answer, dict):
                    inner = f"{path}.annotation[{number}].{model}"
                    place = self._place(item, model, kind, inner)
                    if place is not None:
                        spans = self._spans(answer, item, model, inner)
                        yield self._judgment(answer, place, spans, inner)

    def _is_empty(self, answer: Entry) -> bool:
        """Return True if a protocol with scores got none, nor anything else."""
        sliders = answer.get("sliders")
        values = sliders.values() if isinstance(sliders, dict) else ()
        given = (answer.get("score"), answer.get("error_spans"), answer.get("textfield"), *values)
        return bool(self.protocol.scales) and all(each in (None, "", [], {}) for each in given)

    def _place(self, item: Entry, model: str, kind: Item.Kind, path: str) -> int | None:
        """Return the index of the judged item, which is added at its first judgment."""
        known = str(item.get("item_id", "")).strip(), str(item.get("src", ""))
        segment = self.segments.get(known)
        if "item_id" not in item:
            # Without ids, a source that exists once identifies the segment.
            same = [key for (_, source), key in self.segments.items() if source == known[1]]
            segment = same[0] if len(same) == 1 else None
        if segment is None:
            self.findings.error(
                path,
                message(
                    "pearmut.no-segment",
                    "The campaign has no segment “{segment}” with this source.",
                    segment=known[0][:80],
                ),
            )
            return None
        text = normalise(str(item["tgt"][model])).text
        matching = [
            each
            for each in self._known[segment]
            if (each.system == model if each.system else each.text == text)
        ]
        if not matching:
            self.findings.error(
                path,
                message(
                    "pearmut.no-output",
                    "The campaign does not have this output of the segment “{segment}”.",
                    segment=segment[:80],
                ),
            )
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
        """Return the marked errors; ends are included, except those of unchanged suggestions."""
        given = item.get("error_spans")
        before = given.get(model) if isinstance(given, dict) else None
        shown = {_ends(each) for each in before or () if isinstance(each, dict)}
        text, source = str(item["tgt"][model]), str(item.get("src", ""))
        found: list[Span] = []
        for each in spans_of(self.findings, answer, path):
            own = (
                self.convention
                if _ends(each) in shown
                else replace(self.convention, ends_included=True)
            )
            found += read_spans(self.findings, Raw([each], text, source), self.protocol, own)
        return tuple(dict.fromkeys(found))

    def _judgment(
        self, answer: Entry, place: int, spans: tuple[Span, ...], path: str
    ) -> JudgmentDraft:
        ratings = self._ratings(answer, path)
        first = self.protocol.scales[0] if self.protocol.scales else None
        score = ratings.get(first.key) if first and first.key else answer.get("score")
        if first and not first.holds(score):
            self.findings.error(path, _not_on_scale(score, first))
            score = None
        written = answer.get("textfield")
        return JudgmentDraft(
            annotator="",
            item=place,
            score=score if first else None,
            ratings=ratings,
            post_edit=normalise(str(written)).text
            if self.protocol.text and written is not None
            else None,
            spans=spans,
        )

    def _ratings(self, answer: Entry, path: str) -> dict[str, int]:
        scales = [scale for scale in self.protocol.scales if scale.key]
        given = answer.get("sliders")
        given = given if isinstance(given, dict) else {}
        for scale in scales:
            if not scale.holds(given.get(scale.key)):
                self.findings.error(
                    f"{path}.sliders.{scale.key}", _not_on_scale(given.get(scale.key), scale)
                )
        return {scale.key: given[scale.key] for scale in scales if scale.key in given}


def _not_on_scale(score: object, scale: Scale) -> Message:
    return message(
        "pearmut.score",
        "“{given}” is not a score from {low} to {high}.",
        given="null" if score is None else str(score)[:40],
        low=scale.low,
        high=scale.high,
    )


def _ends(span: Entry) -> tuple[Any, Any]:
    return str(span.get("start_i")), str(span.get("end_i"))
