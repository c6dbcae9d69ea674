"""Import the log of a Pearmut campaign as judgments of a finished campaign.

Logs are append-only: the last entry of a user for one `item_i` counts, earlier ones are its
revisions, and a reset voids the earlier entries of its user.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotation.imports.drafts import CampaignDraft, ItemDraft
from annotation.imports.judgments.answers import Answer
from annotation.imports.judgments.drafting import Drafter
from annotation.imports.judgments.exported.columns import SCALE
from annotation.imports.judgments.fields import Sheet
from annotation.imports.judgments.options import LAST_WINS, Options
from annotation.imports.judgments.rows import Row
from annotation.imports.judgments.spans import RawSpan
from annotation.imports.judgments.texts import Texts
from annotation.models import Annotator, Item
from annotation.protocols import Protocol
from annotation.uploads.checks import max_length
from annotation.uploads.normalising import normalise
from annotation.uploads.offsets import Convention
from annotation.uploads.problems import Place
from annotation.uploads.tables.rows import Table
from extensions.formats.pearmut.entries import Entry, times_of
from extensions.formats.pearmut.findings import Findings
from extensions.formats.pearmut.offsets import SKIPPED, marked_in
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
    texts: Texts
    answers: list[Answer] = field(default_factory=list)
    drafts: list[ItemDraft] = field(default_factory=list)
    _numbers: dict[int, int] = field(default_factory=dict)
    _places: dict[Any, int] = field(default_factory=dict)
    _known: dict[str, list[ItemDraft]] = field(init=False)

    def __post_init__(self) -> None:
        self._known = defaultdict(list)
        self._sheet = Sheet(Table(self.findings.file), {})
        for item in self.campaign.items:
            self._known[item.segment].append(item)

    def read(self, entries: Sequence[tuple[Entry, str]]) -> CampaignDraft:
        """Return the campaign as a finished one with the judgments of its log."""
        for entry, path in self._valid(entries):
            self._entry(entry, path)
        # The order of the log decides where no times do.
        drafter = Drafter(self.protocol, self.texts, Options(ties=LAST_WINS), self.findings.report)
        drafter.spans.can_skip = True
        judgments = drafter.draft(self.answers, self)
        self._skip(SKIPPED, drafter.spans.counts["skipped"])
        return replace(
            self.campaign, items=self.drafts, judgments=judgments, is_finished=True, places=0
        )

    def number(self, answer: Answer) -> int:
        """Return the index of the item that an answer is about."""
        return self._numbers[id(answer.row)]

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
        kind = PLACES.get(place, Item.Kind.TARGET)
        answers = list(self._answers(str(entry["user_id"]), segments, shown, kind, path))
        times = times_of(entry.get("actions"), len(answers))
        for answer in answers:
            answer.row.cells |= {"active_ms": times.active_ms, "sent_together": len(answers)}
            answer.started_at, answer.submitted_at = times.started_at, times.submitted_at
        if answers:
            answers[0].comment = str(entry.get("comment") or "")[:2000]
        self.answers += answers

    def _answers(
        self,
        user: str,
        segments: Sequence[Entry],
        shown: Sequence[Any],
        kind: Item.Kind,
        path: str,
    ) -> Iterator[Answer]:
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
                        yield self._answer(user, answer, item, model, place, inner)

    def _is_empty(self, answer: Entry) -> bool:
        """Return True if there is nothing where the protocol wants an answer."""
        sliders = answer.get("sliders")
        values = sliders.values() if isinstance(sliders, dict) else ()
        given = (answer.get("score"), answer.get("error_spans"), answer.get("textfield"), *values)
        return not self.protocol.is_silent and all(each in (None, "", [], {}) for each in given)

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
            self._places[key] = len(self.drafts)
            # Screens of outputs differ by person; those of controls are compared within.
            alone = {"screen": None, "place": 0, "column": 0, "n_columns": 1}
            more: dict[str, Any] = alone if found.kind == Item.Kind.TARGET else {}
            self.drafts.append(replace(found, batch="", **more))
        return self._places[key]

    def _answer(
        self, user: str, answer: Entry, item: Entry, model: str, place: int, path: str
    ) -> Answer:
        sliders = answer.get("sliders")
        own = sliders.items() if isinstance(sliders, dict) else ()
        cells = {f"{SCALE}{name.casefold()}": value for name, value in own}
        if self.protocol.text:
            cells["post_edit"] = answer.get("textfield")
        row = LogRow(cells | {"score": answer.get("score")}, self.findings.place(path), self._sheet)
        self._numbers[id(row)] = place
        draft, report = self.drafts[place], self.findings.report
        scales = self.protocol.scales
        return Answer(
            row=row,
            who=user,
            segment=draft.segment,
            system=draft.system or "",
            kind=draft.kind,
            # Beside own sliders, Pearmut's score has no effect.
            score=None if scales and scales[0].key else row.number("score", report),
            spans=tuple(self._spans(answer, item, model, path)),
            text=draft.text,
        )

    def _spans(self, answer: Entry, item: Entry, model: str, path: str) -> list[RawSpan]:
        """Return the marked errors; ends are included, except those of unchanged suggestions."""
        given = item.get("error_spans")
        before = given.get(model) if isinstance(given, dict) else None
        shown = [_ends(each) for each in before or () if isinstance(each, dict)]
        values, inner = answer.get("error_spans") or [], f"{path}.error_spans"
        text, source = str(item["tgt"][model]), str(item.get("src", ""))
        annotators_ends = replace(self.convention, ends_included=True)
        return [
            replace(
                raw, convention=self.convention if _ends(raw.values) in shown else annotators_ends
            )
            for raw in marked_in(self.findings, values, inner, text, source)
        ]


class LogRow(Row):
    """One answer of a log; errors name its path."""

    def __init__(self, cells: dict[str, Any], place: Place, sheet: Sheet) -> None:
        super().__init__(cells, 0, sheet)
        self._place = place

    @property
    def place(self) -> Place:
        """The path of the answer."""
        return self._place

    def at(self, field: str) -> Place:
        """Return the place of the answer."""
        return self.place


def _ends(span: Entry) -> tuple[Any, Any]:
    return str(span.get("start_i")), str(span.get("end_i"))
