"""The questions of a comprehension test: how they are stored, checked and written by hand.

Stored is a list of objects: `question`, `choices`, `right` (the index of the right choice) and,
optionally, `explanation`, which is shown after a wrong answer; `translations` has `question`,
`choices` and `explanation` by language of the annotators' pages. By hand, a question is a line; its
choices are the lines below it that begin with `-`, the right one with `*`, and an explanation
begins with `>`. After a line such as `[de]`, the same questions follow in that language.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.conf import settings

from metaeval.messages import Message, MessageError, message, plural, truncated

MOST_QUESTIONS, MOST_CHOICES, LONGEST = 30, 10, 1_000
WORDS = frozenset({"question", "choices", "explanation"})
KEYS = WORDS | {"right", "translations"}
LANGUAGE = re.compile(r"\[([A-Za-z-]{2,20})\]")
MARKS = {"-": "choice", "–": "choice", "*": "right", "•": "choice", ">": "explanation"}
Question = Mapping[str, Any]


class QuestionError(MessageError, ValueError):
    """The lines of a test cannot be read."""


def read_lines(text: str) -> list[dict[str, Any]]:
    """Read questions written by hand.

    >>> read_lines("What is rated?\\n- The style\\n* The meaning")
    [{'question': 'What is rated?', 'choices': ['The style', 'The meaning'], 'right': 1}]

    Raises
    ------
    QuestionError
        For a line that belongs to no question, for a second right answer, and for a language whose
        questions differ from the first ones.
    """
    language, parts = "", {"": list[tuple[int, str]]()}
    for number, line in enumerate(text.splitlines(), 1):
        content = line.strip()
        if head := LANGUAGE.fullmatch(content):
            language = head[1].lower()
            if language in parts:
                raise QuestionError(
                    message(
                        "test.language-repeated",
                        "Line {line}: the language {language} is already there.",
                        line=number,
                        language=language,
                    )
                )
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
    """Add the questions of a language to the first ones, which must have the same parts."""
    if len(others) != len(questions):
        raise QuestionError(
            plural(
                "test.language-count",
                "{language}: {n} question is expected, and there are {found}.",
                "{language}: {n} questions are expected, and there are {found}.",
                n=len(questions),
                language=language,
                found=len(others),
            )
        )
    for number, (each, other) in enumerate(zip(questions, others, strict=True), 1):
        if other.get("right") != each.get("right"):
            raise QuestionError(
                message(
                    "test.language-right",
                    "{language}, question {number}: the right choice differs from the first "
                    "version.",
                    language=language,
                    number=number,
                )
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
            raise QuestionError(
                message(
                    "test.no-question",
                    "Line {line}: there is no question above “{text}”.",
                    line=number,
                    text=content[:40],
                )
            )
        elif kind == "explanation":
            found[-1]["explanation"] = " ".join([found[-1].get("explanation", ""), rest]).strip()
        else:
            if kind == "right" and "right" in found[-1]:
                raise QuestionError(
                    message(
                        "test.two-right",
                        "Line {line}: the question already has a right choice.",
                        line=number,
                    )
                )
            if kind == "right":
                found[-1]["right"] = len(found[-1]["choices"])
            found[-1]["choices"].append(rest)
    return found


def in_lines(questions: Sequence[Question]) -> str:
    """Return questions as lines, as they are written by hand."""
    parts = ["\n".join(_lines(each)) for each in questions]
    for language in questions[0].get("translations", ()) if questions else ():
        parts.append(f"[{language}]")
        parts += ["\n".join(_lines(in_language(each, language))) for each in questions]
    return "\n\n".join(parts)


def in_language(question: Question, language: str) -> Question:
    """Return a question in a language, or in its first version if that is missing."""
    words: Question | None = question.get("translations", {}).get(language)
    return {**words, "right": question["right"]} if words else question


def _lines(question: Question) -> Iterator[str]:
    yield question["question"]
    for place, choice in enumerate(question["choices"]):
        yield f"{'*' if place == question['right'] else '-'} {choice}"
    if question.get("explanation"):
        yield f"> {question['explanation']}"


A_LIST = message("test.a-list", "A list of questions is expected.")
OTHER_LANGUAGES = message(
    "test.other-languages", "All questions must be translated into the same languages."
)
NO_QUESTION = message("test.not-a-question", "This is not a question with choices.")
BY_LANGUAGE = message("test.by-language", "Translations must be an object with languages as keys.")
PARTS = message(
    "test.parts", "A translation can have a question, choices and an explanation, nothing else."
)
OTHER_CHOICES = message(
    "test.other-choices", "The translation must have as many choices as the question."
)
WRONG_QUESTION = message(
    "test.question", "The question must be a text of 1 to {n} characters.", n=LONGEST
)
WRONG_EXPLANATION = message(
    "test.explanation", "The explanation must be a text of 1 to {n} characters.", n=LONGEST
)
WRONG_CHOICES = message("test.choices", "A question needs 2 to {n} choices.", n=MOST_CHOICES)
WRONG_CHOICE = message(
    "test.choice", "Every choice must be a text of 1 to {n} characters.", n=LONGEST
)
SAME_CHOICES = message("test.same-choices", "Two choices are identical.")
NO_RIGHT_CHOICE = message("test.no-right-choice", "No choice is marked as the right one.")


def faults(values: Any) -> Iterator[Message]:
    """Yield what is wrong with a test, with the number of the question."""
    if not isinstance(values, list) or not values:
        yield A_LIST
        return
    if len(values) > MOST_QUESTIONS:
        yield message("test.too-long", "A test can have at most {n} questions.", n=MOST_QUESTIONS)
    for number, each in enumerate(values, 1):
        for fault in _faults(each):
            yield message("test.in-question", "Question {n}: {fault}", n=number, fault=fault)
    if len({frozenset(_translations(each)) for each in values}) > 1:
        yield OTHER_LANGUAGES


def _translations(each: Any) -> Mapping[str, Any]:
    found = each.get("translations", {}) if isinstance(each, dict) else {}
    return found if isinstance(found, dict) else {}


def _faults(each: Any) -> Iterator[Message]:
    if not isinstance(each, dict):
        yield NO_QUESTION
        return
    if unknown := sorted(map(str, set(each) - KEYS)):
        yield message(
            "test.unknown-keys", "These keys are unknown: {names}.", names=truncated(unknown)
        )
    yield from _of_words(each, each.get("right"))
    if not isinstance(each.get("translations", {}), dict):
        yield BY_LANGUAGE
    for language, words in _translations(each).items():
        for fault in _of_translation(each, language, words):
            yield message(
                "test.in-language", "{language}: {fault}", language=str(language), fault=fault
            )


def _of_translation(each: Question, language: str, words: Any) -> Iterator[Message]:
    if language not in (codes := dict(settings.LANGUAGES)):
        yield message(
            "test.unknown-language",
            "Annotators’ pages have these languages: {codes}.",
            codes=list(codes),
        )
    if not isinstance(words, dict) or set(words) - WORDS:
        yield PARTS
        return
    own, choices = words.get("choices"), each.get("choices")
    if isinstance(own, list) and isinstance(choices, list) and len(own) != len(choices):
        yield OTHER_CHOICES
        return
    yield from _of_words(words, each.get("right"))


def _of_words(words: Mapping[str, Any], right: Any) -> Iterator[Message]:
    if not _is_text(words.get("question")):
        yield WRONG_QUESTION
    if "explanation" in words and not _is_text(words["explanation"]):
        yield WRONG_EXPLANATION
    yield from _of_choices(words.get("choices"), right)


def _of_choices(choices: Any, right: Any) -> Iterator[Message]:
    if not isinstance(choices, list) or not 2 <= len(choices) <= MOST_CHOICES:
        yield WRONG_CHOICES
        return
    if not all(_is_text(choice) for choice in choices):
        yield WRONG_CHOICE
    elif len(set(choices)) < len(choices):
        yield SAME_CHOICES
    if type(right) is not int or not 0 <= right < len(choices):
        yield NO_RIGHT_CHOICE


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and len(value) <= LONGEST
