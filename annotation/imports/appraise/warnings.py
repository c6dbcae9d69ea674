"""Warn once, with counts, of what Appraise itself refuses or what contradicts its own rules."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from annotation.imports.appraise.batches import AS_TARGET, RawItem
from annotation.uploads.problems import Place, Report
from metaeval.messages import Message, message, plural, truncated

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
