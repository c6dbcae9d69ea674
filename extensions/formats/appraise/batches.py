"""Read the batches file: a list of tasks, each with its items.

Every problem is reported with task, item (both counted from 1), itemID and key. Keys that Appraise
ignores are ignored: `_item`, `_block`, `batchSize`, `randomSeed` and others.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from annotation.imports.jsonfiles import parse, read_json, unexpected_type
from annotation.uploads.checks import FORBIDDEN, character
from annotation.uploads.files import InputFile
from annotation.uploads.normalising import normalise
from annotation.uploads.problems import Place, Report, within
from annotation.uploads.tables.cells import OBJECT, TYPE_NAMES
from annotation.uploads.tables.spans import NOT_SPANS
from extensions.formats.appraise.keys import Keys
from extensions.formats.appraise.manifest import DOCUMENT, PAIRWISE
from extensions.formats.declared import APPRAISE
from extensions.formats.readers.appraise_scores import TYPES
from metaeval.messages import Message, message, plural, truncated

# The choices for check items that repeat no target of their task.
AS_TARGET, LEFT_OUT = "targets", "leave-out"
UNMATCHED = (AS_TARGET, LEFT_OUT)
# Outputs on one screen.
MOST_TARGETS = 8


@dataclass(frozen=True)
class RawItem:
    """One text to rate, as in the file. An item of a pairwise task gives one per target.

    `tutorial` holds the instruction and the correct score of a practice item; `marked` are the
    errors marked beforehand, whose ends may be included or not. `unmatched` is one of UNMATCHED for
    a check item that repeats no target of its task, after that choice; `item_type` stays that of
    the file, because scores refer to it. `written` is the target as the file has it, in which the
    offsets of errors marked beforehand count.
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
    written: str = ""

    @property
    def kind(self) -> str:
        """The type as which the item is imported: that of the file, or TGT by choice."""
        return "TGT" if self.unmatched == AS_TARGET else self.item_type

    @property
    def is_left_out(self) -> bool:
        """Whether the item is skipped by choice."""
        return self.unmatched == LEFT_OUT

    def place(self, key: str = "") -> Place:
        """Return the place of the item, or of one of its keys, in the file."""
        return Place(self.file, None, within(self.name, key))

    @property
    def name(self) -> Message:
        """The item as messages name it."""
        return item_name(self.task, self.number, self.item_id)


def task_name(task: int) -> Message:
    """Return a task as messages name it."""
    return message("appraise.task", "task {task:d}", task=task)


def item_name(task: int, number: int, item_id: str = "") -> Message:
    """Return an item as messages name it, with its itemID if that is known."""
    if not item_id:
        return message("appraise.item", "task {task:d}, item {number:d}", task=task, number=number)
    return message(
        "appraise.item-with-id",
        "task {task:d}, item {number:d} (itemID {item_id})",
        task=task,
        number=number,
        item_id=item_id,
    )


def read_tasks(file: InputFile, layout: str, report: Report) -> list[list[RawItem]] | None:
    """Return the items of every task, or None if the file does not hold a list of tasks."""
    before = len(report.errors)
    tasks = read_json(file, report, APPRAISE, is_checked=False)
    if len(report.errors) > before:
        return None
    if not isinstance(tasks, list):
        report.error(
            message(
                "appraise.not-tasks",
                "The file must hold a list of tasks, not {actual}.",
                actual=TYPE_NAMES[type(tasks)],
            ),
            Place(file.name),
        )
        return None
    if not tasks:
        report.error(message("appraise.no-tasks", "There are no tasks."), Place(file.name))
    return [
        _read_task(file.name, number, task, layout, report) for number, task in enumerate(tasks, 1)
    ]


def _read_task(file: str, task: int, values: Any, layout: str, report: Report) -> list[RawItem]:
    where = task_name(task)
    if not isinstance(values, dict):
        report.error(unexpected_type(values, OBJECT), Place(file, None, where))
        return []
    items = Keys(values, file, where, report).get("items", list, default=[])
    if values.get("items") == []:
        report.error(
            message("appraise.empty-task", "The task has no items."),
            Place(file, None, within(where, "items")),
        )
    found: list[RawItem] = []
    for number, item in enumerate(items, 1):
        if isinstance(item, dict):
            found += _read_item(file, task, number, item, layout, report)
        else:
            place = Place(file, None, item_name(task, number))
            report.error(unexpected_type(item, OBJECT), place)
    return found


def _read_item(
    file: str, task: int, number: int, values: dict[str, Any], layout: str, report: Report
) -> list[RawItem]:
    own_id = values.get("itemID")
    known = str(own_id) if isinstance(own_id, str | int) else ""
    keys = Keys(values, file, item_name(task, number, known), report)
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
    return [
        RawItem(
            **common,
            target_id=each.name("targetID"),
            target=_text(each, "targetText"),
            written=str(each.values.get("targetText")),
        )
        for each in (_targets(keys) if layout == PAIRWISE else [keys])
    ]


def _targets(keys: Keys) -> Sequence[Keys]:
    targets = keys.get("targets", list, default=[])
    if keys.values.get("targets") == []:
        keys.error("targets", message("appraise.no-targets", "There are no targets."))
    if len(targets) > MOST_TARGETS:
        keys.error(
            "targets",
            message(
                "appraise.many-targets",
                "There are {n} targets, but at most {limit} fit on a screen.",
                n=len(targets),
                limit=MOST_TARGETS,
            ),
        )
    found = []
    for number, target in enumerate(targets, 1):
        name = message("appraise.target", "target {number:d}", number=number)
        if isinstance(target, dict):
            found.append(Keys(target, keys.file, keys.path(name), keys.report))
        else:
            keys.error(name, unexpected_type(target, OBJECT))
    return found


def _type(keys: Keys) -> str:
    kind = keys.get("itemType", str, default="")
    if kind and kind not in TYPES:
        keys.error(
            "itemType",
            message(
                "appraise.item-type",
                "The itemType “{given}” is unknown. It must be one of {types}.",
                given=kind,
                types=TYPES,
            ),
        )
    return str(kind)


def _text(keys: Keys, key: str) -> str:
    text = normalise(keys.text(key)).text
    if found := FORBIDDEN.search(text):
        keys.error(
            key,
            message(
                "appraise.character",
                "The text contains {character} at character {at}, which is not allowed.",
                character=character(found[0]),
                at=found.start() + 1,
            ),
        )
    return text


def _mqm(keys: Keys) -> dict[str, Any]:
    """Read `mqm`: a list of errors marked beforehand, or an object with a tutorial."""
    mqm = keys.get("mqm", list, dict, str, required=False)
    tutorial = None
    if isinstance(mqm, dict):
        inner = Keys(mqm, keys.file, keys.path("mqm"), keys.report)
        tutorial = inner.get("tutorial", dict, required=False)
        mqm = mqm.get("payload")
    if tutorial is not None:
        return {"tutorial": tutorial}
    try:
        marked = parse(mqm) if isinstance(mqm, str) and mqm else mqm or []
    except (ValueError, RecursionError):
        marked = None
    if not isinstance(marked, list) or not all(isinstance(each, dict) for each in marked):
        keys.error("mqm", NOT_SPANS)
        marked = []
    return {"marked": tuple(marked)}


# Warn once, with counts, of what Appraise itself refuses or what contradicts its own rules.

# The limits of Appraise: items per task, characters per text.
TASK_ITEMS, TEXT_LENGTH = 100, 2_000
# At most this number of items or tasks are named.
NAMED = 3
Unmatched = Sequence[tuple[int, tuple[str, ...]]]
# What happens to check items that repeat no target: by choice, one of `batches.UNMATCHED`.
DECISIONS = {
    "": message("appraise.unmatched-choose", "Import them as targets, or skip them."),
    "targets": message("appraise.unmatched-as-targets", "They are imported as targets."),
    "leave-out": message("appraise.unmatched-skipped", "They are skipped."),
}


def apply_choice(
    items: list[RawItem], unmatched: Unmatched, choice: str, report: Report
) -> list[RawItem]:
    """Return the items with `choice` (one of UNMATCHED) applied to check items without a target.

    `unmatched` holds their indexes, each with a key that two items with the same text to rate
    share: the first becomes a target, the others repeat it. Without a choice they are an error.
    """
    if not unmatched:
        return items
    place = Place(items[0].file, None, "itemType")
    problem = _unmatched([items[index] for index, _ in unmatched], choice)
    if not choice:
        report.error(problem, place)
        return items
    report.warn(problem, place)
    decided, seen = list(items), set[tuple[str, ...]]()
    for index, key in unmatched:
        if choice != AS_TARGET or key not in seen:
            decided[index] = replace(items[index], unmatched=choice)
        seen.add(key)
    return decided


def _unmatched(items: Sequence[RawItem], choice: str) -> Message:
    return plural(
        "appraise.unmatched",
        "{n} check item (CHK) repeats no target (TGT) of its task: {items}. {decision}",
        "{n} check items (CHK) repeat no target (TGT) of their task: {items}. {decision}",
        n=len(items),
        items=truncated([item.name for item in items], NAMED),
        decision=DECISIONS[choice],
    )


def outcome(items: Iterable[RawItem]) -> str:
    """Return a sentence on the decision, for the description that is stored; empty without one."""
    decided = [item.unmatched for item in items if item.unmatched]
    if not decided:
        return ""
    result = "became targets" if decided[0] == AS_TARGET else "were skipped"
    return f"{len(decided):,} check items that repeat no target of their task {result}."


def warn_of_unmatched_bad(items: Sequence[RawItem], report: Report) -> None:
    """Warn of bad references without an output to compare them with."""
    if items:
        report.warn(
            plural(
                "appraise.unmatched-bad",
                "{n} bad reference (BAD) has no output (TGT) in its task to compare with: {items}.",
                "{n} bad references (BAD) have no output (TGT) in their task to compare with: "
                "{items}.",
                n=len(items),
                items=truncated([item.name for item in items], NAMED),
            ),
            Place(items[0].file, None, "itemType"),
        )


def examine_sizes(tasks: Sequence[Sequence[RawItem]], report: Report) -> None:
    """Warn of tasks and texts that Appraise would refuse; here they are imported unchanged."""
    _examine_tasks(tasks, report)
    texts = [
        (len(text), item)
        for task in tasks
        for item in task
        for text in (item.source, item.target)
        if len(text) > TEXT_LENGTH
    ]
    if texts:
        longest, item = max(texts, key=lambda text: text[0])
        report.warn(
            plural(
                "appraise.long-texts",
                "{n} text has more than {limit} characters ({longest}: {item}). It is imported in "
                "full.",
                "{n} texts have more than {limit} characters. The longest has {longest} ({item}). "
                "They are imported in full.",
                n=len(texts),
                limit=TEXT_LENGTH,
                longest=longest,
                item=item.name,
            ),
            Place(item.file),
        )


def _examine_tasks(tasks: Sequence[Sequence[RawItem]], report: Report) -> None:
    sizes = [(task[0], len({item.number for item in task})) for task in tasks if task]
    other = [(first, size) for first, size in sizes if size != TASK_ITEMS]
    if other:
        report.warn(
            message(
                "appraise.task-sizes",
                "{n} of {total} tasks do not have {usual} items: {tasks}. They are imported "
                "unchanged.",
                n=len(other),
                total=len(tasks),
                usual=TASK_ITEMS,
                tasks=truncated([_task_size(first, size) for first, size in other], NAMED),
            ),
            Place(other[0][0].file),
        )


def _task_size(first: RawItem, size: int) -> Message:
    return plural(
        "appraise.task-size",
        "task {task:d} has {n} item",
        "task {task:d} has {n} items",
        task=first.task,
        n=size,
    )
