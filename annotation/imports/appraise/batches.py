"""The batches file: a list of tasks, each with its items, checked key by key.

Everything that is wrong is reported with task, item (both counted from 1), itemID and key. Keys
that Appraise ignores are ignored: `_item`, `_block`, `batchSize`, `randomSeed` and others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.imports.appraise.manifest import DOCUMENT, PAIRWISE
from annotation.imports.jsonfiles import NAMES, Keys, parse, read_json
from annotation.uploads.checks import FORBIDDEN, character
from annotation.uploads.files import InputFile
from annotation.uploads.problems import Place, Report

TYPES = ("TGT", "BAD", "REF", "CHK")
# What may be done with a check item that repeats no target of its task.
AS_TARGET, LEFT_OUT = "targets", "leave-out"
UNMATCHED = (AS_TARGET, LEFT_OUT)


@dataclass(frozen=True)
class RawItem:
    """One text to rate, as the file has it. An item of a pairwise task gives one per target.

    `tutorial` holds the instruction of a practice item and what is right; `marked` are the errors
    marked beforehand, whose ends may be included or not. `unmatched` is one of UNMATCHED for a
    check item that repeats no target of its task, once that was decided; `item_type` stays what
    the file says, as scores name it.
    """

    file: str
    task: int
    number: int
    item_id: str
    item_type: str
    source_id: str
    source: str
    target_id: str
    target: str
    document: str = ""
    is_complete: bool = False
    tutorial: Mapping[str, Any] | None = None
    marked: Sequence[Mapping[str, Any]] = ()
    ends_included: bool = True
    unmatched: str = ""

    @property
    def kind(self) -> str:
        """What the item counts as: its type, or TGT where it was decided so."""
        return "TGT" if self.unmatched == AS_TARGET else self.item_type

    @property
    def is_left_out(self) -> bool:
        """Whether it was decided to do without the item."""
        return self.unmatched == LEFT_OUT

    def place(self, key: str = "") -> Place:
        """Where the item stands."""
        return Place(self.file, None, ", ".join(part for part in (self.name, key) if part))

    @property
    def name(self) -> str:
        """The item as messages name it."""
        return f"task {self.task}, item {self.number} (itemID {self.item_id})"


def read_tasks(file: InputFile, layout: str, report: Report) -> list[list[RawItem]] | None:
    """Return the items of every task, or None where the file is no list of tasks at all."""
    before = len(report.errors)
    tasks = read_json(file, report, is_checked=False)
    if len(report.errors) > before:
        return None
    if not isinstance(tasks, list):
        report.error(f"a list of tasks is expected, not {NAMES[type(tasks)]}", Place(file.name))
        return None
    if not tasks:
        report.error("there is no task", Place(file.name))
    return [
        _read_task(file.name, number, task, layout, report) for number, task in enumerate(tasks, 1)
    ]


def _read_task(file: str, task: int, values: Any, layout: str, report: Report) -> list[RawItem]:
    where = f"task {task}"
    if not isinstance(values, dict):
        report.error(f"a task is an object, not {NAMES[type(values)]}", Place(file, None, where))
        return []
    items = Keys(values, file, where, report).get("items", list, default=[])
    if values.get("items") == []:
        report.error("the task has no items", Place(file, None, f"{where}, items"))
    found: list[RawItem] = []
    for number, item in enumerate(items, 1):
        if isinstance(item, dict):
            found += _read_item(file, task, number, item, layout, report)
        else:
            place = Place(file, None, f"{where}, item {number}")
            report.error(f"an item is an object, not {NAMES[type(item)]}", place)
    return found


def _read_item(
    file: str, task: int, number: int, values: dict[str, Any], layout: str, report: Report
) -> list[RawItem]:
    own_id = values.get("itemID")
    known = f" (itemID {own_id})" if isinstance(own_id, str | int) else ""
    keys = Keys(values, file, f"task {task}, item {number}{known}", report)
    is_document = layout == DOCUMENT
    common = {
        "file": file,
        "task": task,
        "number": number,
        "item_id": keys.name("itemID"),
        "item_type": _type(keys),
        "source_id": keys.name("sourceID"),
        "source": _text(keys, "sourceText"),
        "document": keys.name("documentID", required=is_document),
        "is_complete": keys.get("isCompleteDocument", bool, default=False, required=is_document),
        **_mqm(keys),
    }
    for key in ("sourceContextLeft", "targetContextLeft"):
        keys.get(key, str, required=False)
    if layout != PAIRWISE:
        target = _text(keys, "targetText")
        return [RawItem(**common, target_id=keys.name("targetID"), target=target)]
    return [
        RawItem(**common, target_id=each.name("targetID"), target=_text(each, "targetText"))
        for each in _targets(keys)
    ]


def _targets(keys: Keys) -> Sequence[Keys]:
    targets = keys.get("targets", list, default=[])
    if keys.values.get("targets") == []:
        keys.error("targets", "there is no target")
    if len(targets) > 8:
        keys.error("targets", f"{len(targets)} targets are more than the 8 that fit on a screen")
    found = []
    for number, target in enumerate(targets, 1):
        if isinstance(target, dict):
            where = f"{keys.where}, target {number}"
            found.append(Keys(target, keys.file, where, keys.report))
        else:
            keys.error(f"target {number}", f"a target is an object, not {NAMES[type(target)]}")
    return found


def _type(keys: Keys) -> str:
    kind = keys.get("itemType", str, default="")
    if kind and kind not in TYPES:
        keys.error("itemType", f"unknown itemType “{kind}”; known are {', '.join(TYPES)}")
    return str(kind)


def _text(keys: Keys, key: str) -> str:
    text = keys.text(key)
    if found := FORBIDDEN.search(text):
        keys.error(key, f"the text contains {character(found[0])} at {found.start() + 1}")
    return text


def _mqm(keys: Keys) -> dict[str, Any]:
    """`mqm` is a list of errors marked beforehand, or an object with a tutorial."""
    mqm = keys.get("mqm", list, dict, str, required=False)
    tutorial = None
    if isinstance(mqm, dict):
        inner = Keys(mqm, keys.file, f"{keys.where}, mqm", keys.report)
        tutorial = inner.get("tutorial", dict, required=False)
        mqm = mqm.get("payload")
    if tutorial is not None:
        return {"tutorial": tutorial}
    try:
        marked = parse(mqm) if isinstance(mqm, str) and mqm else mqm or []
    except (ValueError, RecursionError):
        marked = None
    if not isinstance(marked, list) or not all(isinstance(each, dict) for each in marked):
        keys.error("mqm", "a list of error spans is expected")
        marked = []
    return {"marked": tuple(marked)}
