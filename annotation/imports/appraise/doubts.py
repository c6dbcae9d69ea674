"""What Appraise itself would refuse, or what contradicts its own rules: told once, with counts."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from annotation.imports.appraise.batches import AS_TARGET, RawItem
from annotation.uploads.problems import Place, Report
from core.text import join_truncated

# What Appraise takes: tasks of so many items, texts of so many characters.
TASK_ITEMS, TEXT_LENGTH = 100, 2_000
# Problems with this code have a way on: `batches.UNMATCHED`.
CODE = "unmatched"
Lonely = Sequence[tuple[int, tuple[str, ...]]]
DONE = {"targets": "are imported as targets", "leave-out": "are left out"}


def settle(items: list[RawItem], lonely: Lonely, choice: str, report: Report) -> list[RawItem]:
    """Return the items with `choice` (one of UNMATCHED) applied to check items that repeat nothing.

    `lonely` holds their places, each with a key that two items with the same text to rate share:
    the first becomes a target, the others repeat it. Without a choice they are an error.
    """
    if not lonely:
        return items
    told = _told([items[index] for index, _ in lonely])
    place = Place(items[0].file, None, "itemType")
    if not choice:
        message = f"{told}: import them as targets, or leave them out"
        report.error(message, place, code=CODE)
        return items
    report.warn(f"{told}: they {DONE[choice]}", place, code=CODE)
    settled, seen = list(items), set[tuple[str, ...]]()
    for index, key in lonely:
        if choice != AS_TARGET or key not in seen:
            settled[index] = replace(items[index], unmatched=choice)
        seen.add(key)
    return settled


def _told(items: Sequence[RawItem]) -> str:
    names = join_truncated([item.name for item in items], 3)
    one = len(items) == 1
    repeat, their = ("repeats", "its") if one else ("repeat", "their")
    return f"{len(items):,} CHK item{'' if one else 's'} {repeat} no TGT of {their} task ({names})"


def outcome(items: Iterable[RawItem]) -> str:
    """Return a sentence on what was decided, which is stored; empty where nothing was."""
    decided = [item.unmatched for item in items if item.unmatched]
    if not decided:
        return ""
    done = "became targets" if decided[0] == AS_TARGET else "were left out"
    return f"{len(decided):,} check items that repeat no target of their task {done}."


def tell_lonely_bad(items: Sequence[RawItem], report: Report) -> None:
    """Warn of bad references that nothing can be compared with."""
    if items:
        names = join_truncated([item.name for item in items], 3)
        message = (
            f"{len(items):,} BAD items have no TGT in their task to be compared with ({names})"
        )
        report.warn(message, Place(items[0].file, None, "itemType"))


def examine_sizes(tasks: Sequence[Sequence[RawItem]], report: Report) -> None:
    """Warn of tasks and texts that Appraise would not take; here they come in as they are."""
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
        message = (
            f"{len(texts):,} texts have more than {TEXT_LENGTH:,} characters, the longest "
            f"{longest:,} ({item.name}); they are imported in full"
        )
        report.warn(message, Place(item.file))


def _examine_tasks(tasks: Sequence[Sequence[RawItem]], report: Report) -> None:
    sizes = [(task[0], len({item.number for item in task})) for task in tasks if task]
    other = [(first, size) for first, size in sizes if size != TASK_ITEMS]
    if other:
        names = join_truncated([f"task {first.task}: {size}" for first, size in other], 3)
        message = (
            f"{len(other):,} of {len(tasks):,} tasks have another number of items than "
            f"{TASK_ITEMS} ({names}); they are imported as they are"
        )
        report.warn(message, Place(other[0][0].file))
