"""Scores exported from Appraise: a CSV file without header, one row an answer.

Plain tasks have nine columns, document tasks eleven or, with error spans, twelve. Rows that are
there twice are dropped, several answers to one item become revisions in the order of their
times, and impossible times are dropped while the judgment is kept; all of it is counted.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import accumulate

from annotation import protocols
from annotation.imports.appraise.batches import TYPES, RawItem
from annotation.imports.appraise.build import DUPLICATE, Built, base_document
from annotation.imports.appraise.spans import read_spans
from annotation.imports.drafts import CampaignDraft, JudgmentDraft
from annotation.uploads import TestSetDraft
from annotation.uploads.files import InputFile, read_text
from annotation.uploads.problems import Place, Report
from core import languages
from core.text import pluralize, restore
from metaeval.files.grids import GridError, quoted_lines

PLAIN = ("username", "targetID", "itemID", "itemType", "src", "tgt", "score", "start", "end")
DOCUMENT = (*PLAIN[:7], "documentID", "isCompleteDocument", *PLAIN[7:])
SPANS = (*DOCUMENT[:9], "mqm", *PLAIN[7:])
LAYOUTS = {len(columns): columns for columns in (PLAIN, DOCUMENT, SPANS)}
TRUTH = {"true": True, "1": True}
WHOLE, BASE = "whole document", "copy of "
LATEST = 253_402_300_799  # the last second of the year 9999
Row = dict[str, str]
Answer = tuple[float, float, int, JudgmentDraft]


@dataclass
class Counts:
    """What was done to the rows."""

    twice: int = 0
    doubtful: Counter[str] = field(default_factory=Counter)
    undecided: int = 0
    left_out: int = 0


def add_scores(
    file: InputFile, built: Sequence[Built], protocol: str, report: Report
) -> list[tuple[TestSetDraft, CampaignDraft]]:
    """Return the campaigns finished, with the judgments of the file."""
    rows = list(_rows(file, report))
    by_pair: dict[tuple[str, str], list[tuple[int, Row]]] = defaultdict(list)
    pairs = {(each[0].source_language, each[0].target_language) for each in built}
    for number, row in rows:
        pair = _languages(row)
        if pair not in pairs:
            known = ", ".join(sorted("-".join(each) for each in pairs))
            message = f"{row['src']}-{row['tgt']} is no language pair of the manifest ({known})"
            report.error(message, Place(file.name, number, "src"))
            continue
        by_pair[pair].append((number, row))
    counts = Counts()
    finished = []
    for test_set, campaign, items in built:
        own = by_pair[test_set.source_language, test_set.target_language]
        reader = Reader(file.name, protocol, items, report, counts)
        answers = reader.read(own)
        finished.append((test_set, replace(campaign, is_finished=True, judgments=answers)))
    _say(counts, file.name, report)
    return finished


def _say(counts: Counts, name: str, report: Report) -> None:
    if counts.twice:
        report.warn(
            f"{pluralize(counts.twice, 'row is', 'rows are')} there twice; each counts once",
            Place(name),
        )
    if counts.left_out:
        rows = pluralize(counts.left_out, "row is", "rows are")
        message = f"{rows} left out with the check items that they are about"
        report.warn(message, Place(name))
    for reason, number in counts.doubtful.items():
        judgments = pluralize(number, "judgment has", "judgments have")
        message = f"{judgments} an impossible time ({reason}); kept without it"
        report.warn(message, Place(name))
    if counts.undecided:
        spans = pluralize(counts.undecided, "span has", "spans have")
        report.warn(f"{spans} no severity: left out", Place(name))


def _rows(file: InputFile, report: Report) -> Iterator[tuple[int, Row]]:
    """Yield line number and cells of every row that is as long as it should be."""
    text = read_text(file, report)
    if text is None:
        return
    if not text.strip():
        report.error("the file is empty", Place(file.name))
    width = 0
    try:
        for number, cells in quoted_lines(text):
            if not cells or (not width and cells[0].strip().lower() == "username"):
                continue
            width = width or len(cells)
            if len(cells) not in LAYOUTS:
                message = f"the row has {len(cells)} cells; Appraise writes 9, 11 or 12"
                report.error(message, Place(file.name, number))
            elif len(cells) != width:
                message = f"the row has {len(cells)} cells, the first has {width}"
                report.error(message, Place(file.name, number))
            else:
                plain = [restore(cell.strip()) for cell in cells]
                yield number, dict(zip(LAYOUTS[width], plain, strict=True))
    except GridError as error:
        report.error(str(error), Place(file.name, error.row))


def _languages(row: Row) -> tuple[str, str]:
    try:
        return languages.normalise(row["src"]), languages.normalise(row["tgt"])
    except ValueError:
        return row["src"], row["tgt"]


@dataclass
class Reader:
    """Reads the rows of one language pair. `items` are those of the file, left out or not."""

    file: str
    protocol: str
    items: Sequence[RawItem]
    report: Report
    counts: Counts

    def __post_init__(self) -> None:
        # The place of every item among the campaign's own.
        kept = accumulate(not item.is_left_out for item in self.items)
        self._places = [n - 1 for n in kept]

    def read(self, rows: Sequence[tuple[int, Row]]) -> list[JudgmentDraft]:
        """Return the judgments, per person in the order of their times."""
        found: dict[str, list[tuple[int, Row, Sequence[int]]]] = defaultdict(list)
        index = self._index()
        seen: set[tuple[str, ...]] = set()
        for number, row in rows:
            if tuple(row.values()) in seen:
                self.counts.twice += 1
                continue
            seen.add(tuple(row.values()))
            if candidates := self._find(number, row, index):
                found[row["username"]].append((number, row, candidates))
        judgments: list[JudgmentDraft] = []
        for person in found.values():
            answers = sorted(self._answers(person), key=lambda answer: answer[:3])
            judgments += [answer[3] for answer in answers]
        return judgments

    def _index(self) -> Mapping[tuple[str, ...], list[int]]:
        """Items by what a row says: exactly, else by the document that a copy was made of."""
        index: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for place, item in enumerate(self.items):
            for key in dict.fromkeys(_keys(item)):
                index[key].append(place)
        return index

    def _find(
        self, number: int, row: Row, index: Mapping[tuple[str, ...], list[int]]
    ) -> Sequence[int]:
        """Return the items that the row may be about: one in each task that has it."""
        place = Place(self.file, number)
        if not row["username"] or len(row["username"]) > 80:
            message = "the username is empty" if not row["username"] else "more than 80 characters"
            self.report.error(message, place._replace(field="username"))
            return ()
        if row["itemType"] not in TYPES:
            message = f"unknown itemType “{row['itemType']}”"
            self.report.error(message, place._replace(field="itemType"))
            return ()
        found = next((index[key] for key in _keys_of_row(row) if key in index), [])
        if not found:
            what = f"{row['itemType']} {row['itemID']} of “{row['targetID']}”"
            message = f"the batches have no {what}"
            self.report.error(message, place._replace(field="itemID"))
        elif len({self.items[each].task for each in found}) < len(found):
            message = "several items of one task have this itemID: give the documentID"
            self.report.error(message, place._replace(field="itemID"))
            return ()
        return found

    def _answers(self, rows: Iterable[tuple[int, Row, Sequence[int]]]) -> Iterator[Answer]:
        """An item that is in several tasks is meant in the task of which a person did most."""
        rows = list(rows)
        shares = Counter(self.items[each].task for *_, found in rows for each in found)
        for number, row, found in rows:
            item = max(found, key=lambda i: (shares[self.items[i].task], -self.items[i].task))
            if self.items[item].is_left_out:
                self.counts.left_out += 1
            elif (answer := self._answer(number, row, item)) is not None:
                yield answer

    def _answer(self, number: int, row: Row, item: int) -> Answer | None:
        before = len(self.report.errors)
        place = Place(self.file, number)
        protocol = protocols.get(self.protocol)
        score = _score(row["score"], place, self.report) if protocol.has_score else None
        start = _seconds(row["start"], place._replace(field="start"), self.report)
        end = _seconds(row["end"], place._replace(field="end"), self.report)
        spans, undecided = read_spans(
            row.get("mqm", ""), self.items[item], protocol, place, self.report
        )
        if len(self.report.errors) > before:
            return None
        self.counts.undecided += undecided
        doubt = "no start" if start <= 0 else "end before start" if end < start else ""
        if doubt:
            self.counts.doubtful[doubt] += 1
        judgment = JudgmentDraft(
            row["username"],
            self._places[item],
            score,
            started_at=None if doubt else _time(start),
            submitted_at=None if doubt else _time(end),
            spans=spans,
        )
        return max(start, end), start, number, judgment


def _keys(item: RawItem) -> Iterator[tuple[str, ...]]:
    """The item of a whole document is known by its document alone."""
    yield item.target_id, item.item_id, item.item_type
    own_id = WHOLE if item.is_complete else item.item_id
    yield item.target_id, own_id, item.item_type, item.document
    is_repeat = item.item_type == "TGT" and DUPLICATE.search(item.document)
    kind = "CHK" if is_repeat else item.item_type
    yield item.target_id, own_id, kind, BASE + base_document(item.document, item.target_id)


def _keys_of_row(row: Row) -> Iterator[tuple[str, ...]]:
    target, item_id, kind = row["targetID"], row["itemID"], row["itemType"]
    if "documentID" not in row:
        yield target, item_id, kind
        return
    own_id = WHOLE if TRUTH.get(row["isCompleteDocument"].lower()) else item_id
    yield target, own_id, kind, row["documentID"]
    yield target, own_id, kind, BASE + base_document(row["documentID"], target)


def _score(cell: str, place: Place, report: Report) -> int:
    try:
        score = float(cell)
    except ValueError:
        score = -1.0
    if score != score or not 0 <= score <= 100 or score != int(score):
        report.error(
            f"“{cell[:20]}” is no whole number from 0 to 100", place._replace(field="score")
        )
        return 0
    return int(score)


def _seconds(cell: str, place: Place, report: Report) -> float:
    try:
        seconds = float(cell)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= LATEST:
        report.error(f"“{cell[:20]}” is no Unix time in seconds", place)
        return 0.0
    return seconds


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, tz=UTC)
