"""The questions of a comprehension test, as they are stored, checked and written by hand.

Stored is a list of objects: `question`, `choices`, `right` (the place of the right choice, from 0)
and, where there is something to tell after a wrong answer, `explanation`; `translations` has
`question`, `choices` and `explanation` by language of the annotators' pages. By hand, a question is
a line, its choices are lines below it that begin with `-`, the right one with `*`, and an
explanation begins with `>`. After a line such as `[de]` come the same questions in that language.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.conf import settings

from core.text import pluralize

MOST_QUESTIONS, MOST_CHOICES, LONGEST = 30, 10, 1_000
WORDS = frozenset({"question", "choices", "explanation"})
KEYS = WORDS | {"right", "translations"}
LANGUAGE = re.compile(r"\[([A-Za-z-]{2,20})\]")
MARKS = {"-": "choice", "–": "choice", "*": "right", "•": "choice", ">": "explanation"}
Question = Mapping[str, Any]


def read_lines(text: str) -> list[dict[str, Any]]:
    """Read questions written by hand.

    >>> read_lines("What is rated?\\n- The style\\n* The meaning")
    [{'question': 'What is rated?', 'choices': ['The style', 'The meaning'], 'right': 1}]

    Raises
    ------
    ValueError
        For a line that belongs to no question, and a second right answer; the line is named. For
        a language whose questions are not those before it; the language is named.
    """
    language, parts = "", {"": list[tuple[int, str]]()}
    for number, line in enumerate(text.splitlines(), 1):
        content = line.strip()
        if head := LANGUAGE.fullmatch(content):
            language = head[1].lower()
            if language in parts:
                raise ValueError(f"line {number}: {language} is there already")
            parts[language] = []
        elif content:
            parts[language].append((number, content))
    questions = _read(parts.pop(""))
    for code, lines in parts.items():
        _translate(questions, code, _read(lines))
    return questions


def _translate(
    questions: Sequence[dict[str, Any]], language: str, others: Sequence[Question]
) -> None:
    """Put the questions of a language beside the first ones, which they follow in every part."""
    if len(others) != len(questions):
        expected = pluralize(len(questions), "question is", "questions are")
        raise ValueError(f"{language}: {expected} expected, not {len(others)}")
    for number, (each, other) in enumerate(zip(questions, others, strict=True), 1):
        if other.get("right") != each.get("right"):
            raise ValueError(
                f"{language}, question {number}: the right choice is another one than before"
            )
        words = {key: value for key, value in other.items() if key in WORDS}
        each.setdefault("translations", {})[language] = words


def _read(lines: Sequence[tuple[int, str]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for number, content in lines:
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
    parts = ["\n".join(_lines(each)) for each in questions]
    for language in questions[0].get("translations", ()) if questions else ():
        parts.append(f"[{language}]")
        parts += ["\n".join(_lines(in_language(each, language))) for each in questions]
    return "\n\n".join(parts)


def in_language(question: Question, language: str) -> Question:
    """Return a question in a language, or as the campaign has it where that is not there."""
    words: Question | None = question.get("translations", {}).get(language)
    return {**words, "right": question["right"]} if words else question


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
    if len({frozenset(_translations(each)) for each in values}) > 1:
        yield "all questions are expected in the same languages"


def _translations(each: Any) -> Mapping[str, Any]:
    found = each.get("translations", {}) if isinstance(each, dict) else {}
    return found if isinstance(found, dict) else {}


def _faults(each: Any) -> Iterator[str]:
    if not isinstance(each, dict):
        yield "this is no question with choices"
        return
    if unknown := sorted(set(each) - KEYS):
        yield f"not known here: {', '.join(unknown)}"
    yield from _of_words(each, each.get("right"))
    if not isinstance(each.get("translations", {}), dict):
        yield "translations are expected by language"
    for language, words in _translations(each).items():
        yield from (f"{language}: {fault}" for fault in _of_translation(each, language, words))


def _of_translation(each: Question, language: str, words: Any) -> Iterator[str]:
    if language not in (codes := dict(settings.LANGUAGES)):
        yield f"annotators’ pages have {', '.join(codes)}"
    if not isinstance(words, dict) or set(words) - WORDS:
        yield "question, choices and explanation are expected"
        return
    own, choices = words.get("choices"), each.get("choices")
    if isinstance(own, list) and isinstance(choices, list) and len(own) != len(choices):
        yield "there are as many choices as in the question itself"
        return
    yield from _of_words(words, each.get("right"))


def _of_words(words: Mapping[str, Any], right: Any) -> Iterator[str]:
    if not _is_text(words.get("question")):
        yield f"a text of 1 to {LONGEST:,} characters is expected"
    if "explanation" in words and not _is_text(words["explanation"]):
        yield f"the explanation is no text of 1 to {LONGEST:,} characters"
    yield from _of_choices(words.get("choices"), right)


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
