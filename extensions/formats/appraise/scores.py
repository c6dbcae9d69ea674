"""Read scores exported from Appraise: a CSV file without header, one row per judgment.

Plain tasks have nine columns, document tasks eleven or, with error spans, twelve. The rows are read
as those of any table of judgments (:mod:`annotation.imports.judgments`); what is Appraise's own is
that they name items of the batches.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain

from annotation import protocols
from annotation.imports.drafts import CampaignDraft, base_document
from annotation.imports.judgments import answers as answering
from annotation.imports.judgments.answers import Answer, Reader
from annotation.imports.judgments.drafting import Drafter
from annotation.imports.judgments.fields import Sheet
from annotation.imports.judgments.options import LAST_WINS, Options
from annotation.imports.judgments.rows import Row, rows_of
from annotation.imports.judgments.texts import Texts
from annotation.imports.judgments.times import Clock
from annotation.models import Item
from annotation.uploads import TestSetDraft
from annotation.uploads.files import InputFile, read_text
from annotation.uploads.formats.base import Content, Import
from annotation.uploads.problems import Place, Report
from annotation.uploads.spellings import nfc
from core import languages
from extensions.formats.appraise.batches import RawItem
from extensions.formats.appraise.build import DUPLICATE, Built, Joined, of_system
from extensions.formats.appraise.spans import marked_in
from extensions.formats.declared import APPRAISE
from extensions.formats.readers.appraise_scores import read_scores
from metaeval.messages import message

WHOLE, BASE = "whole document", "copy of "
Key = tuple[str, ...]


def read_rows(file: InputFile, report: Report) -> list[Row]:
    """Return the rows that are as long as they should be."""
    text = read_text(file, report)
    if text is None:
        return []
    if not text.strip():
        report.error(message("appraise.no-scores", "The file is empty."), Place(file.name))
    (table,) = read_scores([Content(file.name, text)], Import(APPRAISE, report))
    report.name_columns(file.name, table.titles)
    return rows_of(Sheet(table, {column: column for column in table.columns}))


def add_scores(
    rows: Sequence[Row],
    built: Sequence[Built],
    protocol: str,
    joined: Joined,
    report: Report,
) -> list[tuple[TestSetDraft, CampaignDraft]]:
    """Return the campaigns finished, with the judgments of the rows."""
    by_pair: dict[tuple[str, str], list[Row]] = defaultdict(list)
    pairs = {(each[0].source_language, each[0].target_language) for each in built}
    for row in _parted(rows, joined):
        codes = row.name("source_language"), row.name("target_language")
        try:
            pair = languages.normalise(codes[0]), languages.normalise(codes[1])
        except ValueError:
            pair = codes
        if pair not in pairs:
            refusal = message(
                "appraise.unknown-pair",
                "The manifest has no language pair {pair}. It has {pairs}.",
                pair="-".join(codes),
                pairs=sorted("-".join(each) for each in pairs),
            )
            report.error(refusal, row.at("source_language"))
            continue
        by_pair[pair].append(row)
    reader = Reader(Options(), report, Clock(earliest=0))
    finished, n_skipped = [], 0
    for test_set, campaign, items in built:
        own = by_pair[test_set.source_language, test_set.target_language]
        matched = _Matched(items, campaign, report)
        answers = [answer for answer in reader.read(own, []) if matched.find(answer)]
        answers = matched.settle(answers)
        n_skipped += matched.n_skipped
        sources = {each.key: each.source for each in test_set.segments}
        outputs = {(s.name, key): text for s in test_set.systems for key, text in s.outputs.items()}
        # The order of the rows decides where no times do.
        drafter = Drafter(
            protocols.get(protocol), Texts(sources, outputs), Options(ties=LAST_WINS), report
        )
        judgments = drafter.draft(answers, matched)
        finished.append((test_set, replace(campaign, is_finished=True, judgments=judgments)))
    answering.say(reader, report)
    report.warn_of(
        n_skipped,
        "appraise.skipped-rows",
        "{n} row is skipped because its check item is skipped.",
        "{n} rows are skipped because their check items are skipped.",
        Place(rows[0].sheet.name) if rows else Place(),
    )
    return finished


def _parted(rows: Iterable[Row], joined: Joined) -> Iterator[Row]:
    """Yield rows as those of each system of their targetID, which Appraise has mostly split."""
    names = {system: [n for n, own in joined.items() if system in own]
             for system in chain(*joined.values())}  # fmt: skip
    for row in rows:
        named = row.name("system")
        for system in joined.get(named, [named]):
            document = row.name("document")
            for name in names.get(system, ()):
                document = of_system(document, name, system)
            yield replace(row, cells=row.cells | {"system": system, "document": document})


@dataclass
class _Matched:
    """The items of one language pair that rows name. `items` are all of the file."""

    items: Sequence[RawItem]
    campaign: CampaignDraft
    report: Report
    n_skipped: int = 0

    def __post_init__(self) -> None:
        self.drafts = self.campaign.items
        # The index of every item among those of the campaign, which lacks those that are skipped.
        self._places = [n - 1 for n in accumulate(not item.is_left_out for item in self.items)]
        # A degraded or repeated copy is also found by the document that it was made of.
        self._index: dict[Key, list[int]] = defaultdict(list)
        for place, item in enumerate(self.items):
            for key in dict.fromkeys(_keys(item)):
                self._index[tuple(map(nfc, key))].append(place)

    def find(self, answer: Answer) -> bool:
        """Look for the items of an answer; report why there are none."""
        row = answer.row
        keys = list(_keys_of_row(row, self.report))
        found = next((self._index[key] for key in keys if key in self._index), [])
        if not found:
            refusal = message(
                "appraise.no-item",
                "The batches have no item {item} of “{system}” with the itemType {type}.",
                item=_item_of(row),
                system=answer.system,
                type=row.name("kind"),
            )
            self.report.error(refusal, row.at(_item_field(row)))
        elif len({self.items[each].task for each in found}) < len(found):
            refusal = message(
                "appraise.several-items",
                "Several items of one task have this itemID. The row also needs a documentID.",
            )
            self.report.error(refusal, row.at(_item_field(row)))
            return False
        answer.candidates = found
        return bool(found)

    def settle(self, answers: Sequence[Answer]) -> list[Answer]:
        """Return the answers to items that are not skipped, with what their items show.

        If several tasks have the item, it counts for the task of which the annotator did most.
        """
        shares = Counter(
            (answer.who, self.items[each].task) for answer in answers for each in answer.candidates
        )
        kept = []
        for answer in answers:
            number = max(
                answer.candidates,
                key=lambda n: (shares[answer.who, self.items[n].task], -self.items[n].task),
            )
            item = self.items[number]
            if item.is_left_out:
                self.n_skipped += 1
                continue
            answer.candidates = [self._places[number]]
            draft = self.drafts[self._places[number]]
            answer.segment, answer.system, answer.kind = draft.segment, item.target_id, draft.kind
            answer.text = item.target if draft.kind != Item.Kind.DOCUMENT else ""
            answer.spans = tuple(marked_in(item, raw.values, raw.place) for raw in answer.spans)
            if not answer.score and not protocols.get(self.campaign.protocol).has_score:
                answer.score = None  # Scores that follow from spans are written as 0.
            kept.append(answer)
        return kept

    def number(self, answer: Answer) -> int:
        """Return the index of the item that an answer is about."""
        return answer.candidates[0]


def _item_field(row: Row) -> str:
    return "item" if "item" in row.sheet.has else "segment"


def _item_of(row: Row) -> str:
    return row.name(_item_field(row))


def _keys(item: RawItem) -> Iterator[tuple[str, ...]]:
    """Yield the keys of an item; whole documents are identified by their document alone."""
    yield item.target_id, item.item_id, item.item_type
    own_id = WHOLE if item.is_complete else item.item_id
    yield item.target_id, own_id, item.item_type, item.document
    is_repeat = item.item_type == "TGT" and DUPLICATE.search(item.document)
    kind = "CHK" if is_repeat else item.item_type
    yield item.target_id, own_id, kind, BASE + base_document(item.document, item.target_id)


def _keys_of_row(row: Row, report: Report) -> Iterator[Key]:
    target, item_id, kind = row.name("system"), _item_of(row), row.name("kind")
    if "document" not in row.sheet.has:
        yield target, item_id, kind
        return
    own_id = WHOLE if row.is_true("level", report) else item_id
    yield target, own_id, kind, row.name("document")
    yield target, own_id, kind, BASE + base_document(row.name("document"), target)
