"""Read scores exported from Appraise: a CSV file without header, one row per judgment.

Plain tasks have nine columns, document tasks eleven or, with error spans, twelve. Repeated rows are
dropped, several judgments of one item become revisions in the order of their times, and of
judgments with impossible times only the times are dropped. Each of these is counted.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import accumulate, chain

from annotation import protocols
from annotation.imports.appraise.batches import RawItem, unknown_type
from annotation.imports.appraise.build import DUPLICATE, Built, Joined, of_system
from annotation.imports.appraise.spans import read_spans
from annotation.imports.drafts import CampaignDraft, JudgmentDraft, base_document
from annotation.uploads import TestSetDraft
from annotation.uploads.files import InputFile, read_text
from annotation.uploads.formats.campaigns import TYPES, Row, score_rows
from annotation.uploads.problems import Place, Report
from core import languages
from metaeval.messages import message

TRUTH = {"true": True, "1": True}
LONGEST_NAME = 80
WHOLE, BASE = "whole document", "copy of "
LATEST = 253_402_300_799  # the last second of the year 9999
Answer = tuple[float, float, int, JudgmentDraft]


@dataclass
class Counts:
    """Numbers of rows, and of their times and spans, that were not imported."""

    repeated: int = 0
    without_start: int = 0
    ended_early: int = 0
    undecided: int = 0
    skipped: int = 0


def add_scores(
    file: str,
    rows: Sequence[tuple[int, Row]],
    built: Sequence[Built],
    protocol: str,
    joined: Joined,
    report: Report,
) -> list[tuple[TestSetDraft, CampaignDraft]]:
    """Return the campaigns finished, with the judgments of the file."""
    by_pair: dict[tuple[str, str], list[tuple[int, Row]]] = defaultdict(list)
    pairs = {(each[0].source_language, each[0].target_language) for each in built}
    for number, row in _parted(rows, joined):
        pair = _languages(row)
        if pair not in pairs:
            refusal = message(
                "appraise.unknown-pair",
                "The manifest has no language pair {pair}. It has {pairs}.",
                pair=f"{row['src']}-{row['tgt']}",
                pairs=sorted("-".join(each) for each in pairs),
            )
            report.error(refusal, Place(file, number, "src"))
            continue
        by_pair[pair].append((number, row))
    counts = Counts()
    finished = []
    for test_set, campaign, items in built:
        own = by_pair[test_set.source_language, test_set.target_language]
        reader = Reader(file, protocol, items, report, counts)
        answers = reader.read(own)
        finished.append((test_set, replace(campaign, is_finished=True, judgments=answers)))
    _warn(counts, Place(file), report)
    return finished


def _parted(rows: Iterable[tuple[int, Row]], joined: Joined) -> Iterator[tuple[int, Row]]:
    """Yield rows as those of each system of their targetID, which Appraise has mostly split."""
    names = {system: [n for n, own in joined.items() if system in own]
             for system in chain(*joined.values())}  # fmt: skip
    for number, row in rows:
        for system in joined.get(row["targetID"], [row["targetID"]]):
            document = row.get("documentID", "")
            for name in names.get(system, ()):
                document = of_system(document, name, system)
            own = {"targetID": system, "documentID": document}
            yield number, row | {key: value for key, value in own.items() if key in row}


def _warn(counts: Counts, place: Place, report: Report) -> None:
    report.warn_of(
        counts.repeated,
        "appraise.repeated-rows",
        "{n} row is repeated. Each row counts once.",
        "{n} rows are repeated. Each row counts once.",
        place,
    )
    report.warn_of(
        counts.skipped,
        "appraise.skipped-rows",
        "{n} row is skipped because its check item is skipped.",
        "{n} rows are skipped because their check items are skipped.",
        place,
    )
    report.warn_of(
        counts.without_start,
        "appraise.no-start",
        "{n} judgment has no start time. It is imported without times.",
        "{n} judgments have no start time. They are imported without times.",
        place,
    )
    report.warn_of(
        counts.ended_early,
        "appraise.end-before-start",
        "{n} judgment ends before its start. It is imported without times.",
        "{n} judgments end before their start. They are imported without times.",
        place,
    )
    report.warn_of(
        counts.undecided,
        "appraise.span-without-severity",
        "{n} error span is skipped because it has no severity.",
        "{n} error spans are skipped because they have no severity.",
        place,
    )


def read_rows(file: InputFile, report: Report) -> Iterator[tuple[int, Row]]:
    """Yield line number and cells of every row that is as long as it should be."""
    text = read_text(file, report)
    if text is None:
        return
    if not text.strip():
        report.error(message("appraise.no-scores", "The file is empty."), Place(file.name))
    yield from score_rows(file.name, text, report)


def _languages(row: Row) -> tuple[str, str]:
    try:
        return languages.normalise(row["src"]), languages.normalise(row["tgt"])
    except ValueError:
        return row["src"], row["tgt"]


@dataclass
class Reader:
    """Reads the rows of one language pair. `items` are all of the file, also skipped ones."""

    file: str
    protocol: str
    items: Sequence[RawItem]
    report: Report
    counts: Counts

    def __post_init__(self) -> None:
        # The index of every item among those of the campaign.
        imported = accumulate(not item.is_left_out for item in self.items)
        self._places = [n - 1 for n in imported]

    def read(self, rows: Sequence[tuple[int, Row]]) -> list[JudgmentDraft]:
        """Return the judgments, per annotator in the order of their times."""
        found: dict[str, list[tuple[int, Row, Sequence[int]]]] = defaultdict(list)
        index = self._index()
        seen: set[tuple[str, ...]] = set()
        for number, row in rows:
            if tuple(row.values()) in seen:
                self.counts.repeated += 1
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
        """Return the indexes of items by the key of their rows.

        A degraded or repeated copy is also found by the document that it was made of.
        """
        index: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for place, item in enumerate(self.items):
            for key in dict.fromkeys(_keys(item)):
                index[key].append(place)
        return index

    def _find(
        self, number: int, row: Row, index: Mapping[tuple[str, ...], list[int]]
    ) -> Sequence[int]:
        """Return the items that the row may refer to: one in each task that has it."""
        place = Place(self.file, number)
        if not row["username"] or len(row["username"]) > LONGEST_NAME:
            refusal = message(
                "appraise.username",
                "The username must have 1 to {limit} characters, not {n}.",
                limit=LONGEST_NAME,
                n=len(row["username"]),
            )
            self.report.error(refusal, place._replace(field="username"))
            return ()
        if row["itemType"] not in TYPES:
            self.report.error(unknown_type(row["itemType"]), place._replace(field="itemType"))
            return ()
        found = next((index[key] for key in _keys_of_row(row) if key in index), [])
        if not found:
            refusal = message(
                "appraise.no-item",
                "The batches have no item {item} of “{system}” with the itemType {type}.",
                item=row["itemID"],
                system=row["targetID"],
                type=row["itemType"],
            )
            self.report.error(refusal, place._replace(field="itemID"))
        elif len({self.items[each].task for each in found}) < len(found):
            refusal = message(
                "appraise.several-items",
                "Several items of one task have this itemID. The row also needs a documentID.",
            )
            self.report.error(refusal, place._replace(field="itemID"))
            return ()
        return found

    def _answers(self, rows: Iterable[tuple[int, Row, Sequence[int]]]) -> Iterator[Answer]:
        """Yield the judgments of one annotator.

        If several tasks have the item, it counts for the task of which the annotator did most.
        """
        rows = list(rows)
        shares = Counter(self.items[each].task for *_, found in rows for each in found)
        for number, row, found in rows:
            item = max(found, key=lambda i: (shares[self.items[i].task], -self.items[i].task))
            if self.items[item].is_left_out:
                self.counts.skipped += 1
            elif (answer := self._answer(number, row, item)) is not None:
                yield answer

    def _answer(self, number: int, row: Row, item: int) -> Answer | None:
        before = self.report.n_errors
        place = Place(self.file, number)
        protocol = protocols.get(self.protocol)
        score = _score(row["score"], place, self.report) if protocol.has_score else None
        start = _seconds(row["start"], place._replace(field="start"), self.report)
        end = _seconds(row["end"], place._replace(field="end"), self.report)
        spans, undecided = read_spans(
            row.get("mqm", ""), self.items[item], protocol, place, self.report
        )
        if self.report.n_errors > before:
            return None
        self.counts.undecided += undecided
        self.counts.without_start += start <= 0
        self.counts.ended_early += start > 0 and end < start
        has_times = 0 < start <= end
        judgment = JudgmentDraft(
            row["username"],
            self._places[item],
            score,
            started_at=_time(start) if has_times else None,
            submitted_at=_time(end) if has_times else None,
            spans=spans,
        )
        return max(start, end), start, number, judgment


def _keys(item: RawItem) -> Iterator[tuple[str, ...]]:
    """Yield the keys of an item; whole documents are identified by their document alone."""
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
    if not cell:
        refusal = message("appraise.score-missing", "The score is missing.")
        report.error(refusal, place._replace(field="score"))
        return 0
    try:
        score = float(cell)
    except ValueError:
        score = -1.0
    if score != score or not 0 <= score <= 100 or score != int(score):
        report.error(
            message(
                "appraise.score",
                "“{cell}” is not a whole number from 0 to 100.",
                cell=cell[:20],
            ),
            place._replace(field="score"),
        )
        return 0
    return int(score)


def _seconds(cell: str, place: Place, report: Report) -> float:
    if not cell:
        report.error(message("appraise.time-missing", "The time is missing."), place)
        return 0.0
    try:
        seconds = float(cell)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= LATEST:
        report.error(
            message("appraise.time", "“{cell}” is not a Unix time in seconds.", cell=cell[:20]),
            place,
        )
        return 0.0
    return seconds


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, tz=UTC)
