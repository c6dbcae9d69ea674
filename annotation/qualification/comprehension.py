"""The questions of a comprehension test, as they are stored, checked and written by hand.

Stored is a list of objects: `question`, `choices`, `right` (the place of the right choice, from 0)
and, where there is something to tell after a wrong answer, `explanation`. By hand, a question is a
line, its choices are lines below it that begin with `-`, the right one with `*`, and an explanation
begins with `>`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

MOST_QUESTIONS, MOST_CHOICES, LONGEST = 30, 10, 1_000
KEYS = frozenset({"question", "choices", "right", "explanation"})
MARKS = {"-": "choice", "–": "choice", "*": "right", "•": "choice", ">": "explanation"}
Question = Mapping[str, Any]


def read_lines(text: str) -> list[dict[str, Any]]:
    """Read questions written by hand.

    >>> read_lines("What is rated?\\n- The style\\n* The meaning")
    [{'question': 'What is rated?', 'choices': ['The style', 'The meaning'], 'right': 1}]

    Raises
    ------
    ValueError
        For a line that belongs to no question, and a second right answer; the line is named.
    """
    found: list[dict[str, Any]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not (content := line.strip()):
            continue
        kind = MARKS.get(content[0])
        rest = content[1:].strip()
        if kind is None:
            found.append({"question": content, "choices": []})
        elif not found:
            raise ValueError(f"line {number}: “{content[:40]}” stands below no question")
        elif kind == "explanation":
            found[-1]["explanation"] = " ".join([found[-1].get("explanation", ""), rest]).strip()
        else:
            if kind == "right" and "right" in found[-1]:
                raise ValueError(f"line {number}: the question has a right answer already")
            if kind == "right":
                found[-1]["right"] = len(found[-1]["choices"])
            found[-1]["choices"].append(rest)
    return found


def in_lines(questions: Sequence[Question]) -> str:
    """Return questions as they are written by hand."""
    return "\n\n".join("\n".join(_lines(each)) for each in questions)


def _lines(question: Question) -> Iterator[str]:
    yield question["question"]
    for place, choice in enumerate(question["choices"]):
        yield f"{'*' if place == question['right'] else '-'} {choice}"
    if question.get("explanation"):
        yield f"> {question['explanation']}"


def faults(values: Any) -> Iterator[str]:
    """Yield what is wrong with a test, with the number of the question."""
    if not isinstance(values, list) or not values:
        yield "a list of questions is expected"
        return
    if len(values) > MOST_QUESTIONS:
        yield f"at most {MOST_QUESTIONS} questions"
    for number, each in enumerate(values, 1):
        for fault in _faults(each):
            yield f"Question {number}: {fault}"


def _faults(each: Any) -> Iterator[str]:
    if not isinstance(each, dict):
        yield "this is no question with choices"
        return
    if unknown := sorted(set(each) - KEYS):
        yield f"not known here: {', '.join(unknown)}"
    if not _is_text(each.get("question")):
        yield f"a text of 1 to {LONGEST:,} characters is expected"
    if "explanation" in each and not _is_text(each["explanation"]):
        yield f"the explanation is no text of 1 to {LONGEST:,} characters"
    yield from _of_choices(each.get("choices"), each.get("right"))


def _of_choices(choices: Any, right: Any) -> Iterator[str]:
    if not isinstance(choices, list) or not 2 <= len(choices) <= MOST_CHOICES:
        yield f"2 to {MOST_CHOICES} choices are expected"
        return
    if not all(_is_text(choice) for choice in choices):
        yield f"a choice is no text of 1 to {LONGEST:,} characters"
    elif len(set(choices)) < len(choices):
        yield "two choices are the same"
    if type(right) is not int or not 0 <= right < len(choices):
        yield "no choice is marked as the right one"


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and len(value) <= LONGEST
