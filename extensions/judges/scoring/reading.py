"""Read a verdict from a reply, or the reason why there is none.

Without structured output models answer in several forms. Besides JSON these are read: a number
alone, a letter alone, errors under headings (GEMBA-MQM, Kocmi & Federmann 2023). Stars and classes
are read as in GEMBA, from a sentence that names exactly one. Anything else
makes the reply unreadable; it never counts as zero or as a flawless translation, as in the
published parsers. Then quotes become spans, because models copy text and do not count characters,
and several passes become one number and one list of spans.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from extensions.judges import prompts
from metaeval.messages import Message, MessageError, message
from metaeval.spans.quotes import find_quote
from metrics.error_spans import TARGET, FoundSpan

SEVERITIES = ("critical", "major", "minor")
# MQM as GEMBA weighs it; a segment loses 25 at most.
WEIGHTS = {"critical": 25.0, "major": 5.0, "minor": 1.0}
CAP = 25.0
SIDES = ("target", "source", "missing")
SHOWN = 160
MOST_ERRORS = 200


class UnusableError(MessageError):
    """A reply that has no verdict."""


class _ReplyError(MessageError, ValueError):
    """What makes a reply unreadable."""


@dataclass(frozen=True)
class Error:
    """An error as the judge names it: with quotes instead of positions."""

    severity: str
    category: str = ""
    span: str = ""
    context: str = ""
    side: str = "target"


@dataclass(frozen=True)
class Verdict:
    """The verdict of one reply. Only the fields of its kind are set.

    `score` is higher where better: 0 to 100, or minus the MQM penalty. `ranks` are by label, 1 the
    best; of a pair both are 1 in a tie. `text` is the reply that lists errors.
    """

    score: float = 0.0
    errors: tuple[Error, ...] = ()
    ranks: tuple[tuple[str, int], ...] = ()
    text: str = ""


def content_of(status: int, body: str) -> str:
    """Return the text of the model; raise :class:`UnusableError` where there is none."""
    try:
        reply = json.loads(body)
        choice = reply["choices"][0]
        written = choice["message"]
    except (ValueError, KeyError, IndexError, TypeError):
        if status == 200:
            problem = message("reply.not-json", "it is not a JSON object of a chat completion.")
        else:
            problem = message("reply.status", "its status is {status}.", status=str(status))
        raise UnusableError(_unreadable(problem, body)) from None
    if not isinstance(written, dict) or not isinstance(choice, dict):
        problem = message("reply.other-shape", "it is not a chat completion.")
        raise UnusableError(_unreadable(problem, body))
    if written.get("refusal"):
        excerpt = _excerpt(str(written["refusal"]))
        raise UnusableError(
            message("reply.refused", "The model refused to answer: {excerpt}", excerpt=excerpt)
        )
    if choice.get("finish_reason") == "content_filter":
        raise UnusableError(
            message("reply.filtered", "The server's content filter withheld the reply.")
        )
    text = written.get("content")
    if choice.get("finish_reason") == "length":
        raise UnusableError(
            message(
                "reply.truncated",
                "The reply was truncated, because it is longer than allowed. {excerpt}",
                excerpt=_excerpt(str(text or "")),
            )
        )
    if not isinstance(text, str) or not text.strip():
        raise UnusableError(message("reply.empty", "The reply is empty."))
    return text


def _unreadable(problem: Message, text: str) -> Message:
    return message(
        "reply.unreadable",
        "The reply is unreadable: {problem} {excerpt}",
        problem=problem,
        excerpt=_excerpt(text),
    )


def read(kind: str, text: str, labels: Sequence[str] = ()) -> Verdict:
    """Read the answer to a template of a kind; raise :class:`UnusableError` if it is unreadable."""
    try:
        if kind == prompts.SCORE:
            return _score(text)
        if kind in prompts.ERRORS:
            return _spans(text, is_json=kind == prompts.SPANS)
        if kind == prompts.STARS:
            return _stars(text)
        if kind == prompts.CLASSES:
            places = {each.casefold(): place for place, each in enumerate(labels)}
            # The longest first: one class may be part of another.
            names = "|".join(re.escape(each) for each in sorted(places, key=len, reverse=True))
            answer = " ".join(text.rpartition("</think>")[2].casefold().split())
            found = set(re.findall(rf"(?<!\w)(?:{names})(?!\w)", answer))
            if len(found) != 1:
                raise _ReplyError(message("reply.class", "it does not name one of the classes."))
            return Verdict(score=float(places[found.pop()]))
        return _pair(text) if kind == prompts.PAIRS else _ranks(text, labels)
    except _ReplyError as error:
        raise UnusableError(_unreadable(error.message, text)) from None


def _excerpt(text: str) -> str:
    flat = " ".join(text.split())
    return f"“{flat[:SHOWN]}{'…' if len(flat) > SHOWN else ''}”" if flat else ""


def _document(text: str) -> Any:
    """Return the one JSON object of a text, fenced or not; None where there is none."""
    stripped = re.sub(r"^```\w*\s*|\s*```$", "", text.strip())
    # Models that think aloud do so before they answer.
    stripped = stripped.rpartition("</think>")[2].strip()
    try:
        found = json.loads(stripped)
    except ValueError:
        return _embedded(stripped)
    return found if isinstance(found, dict) else None


def _embedded(text: str) -> Any:
    """Return the only JSON object within other text."""
    decoder, found, at = json.JSONDecoder(), [], 0
    while (at := text.find("{", at)) >= 0:
        try:
            value, at = decoder.raw_decode(text, at)
            found.append(value)
        except ValueError:
            at += 1
    if len(found) > 1:
        raise _ReplyError(message("reply.several-answers", "it has several answers."))
    return found[0] if found else None


def _only_key(document: Mapping[str, Any], key: str) -> Any:
    if key not in document:
        raise _ReplyError(message("reply.no-key", "it has no “{key}”.", key=key))
    return document[key]


_NUMBER = re.compile(
    r"(?:score\s*[:=]\s*)?(-?\d+(?:\.\d+)?)(?:\s*(?:/|out of)\s*100)?\s*\.?", re.IGNORECASE
)


def _score(text: str) -> Verdict:
    document = _document(text)
    value: Any = text if document is None else _only_key(document, "score")
    if isinstance(value, str):
        match = _NUMBER.fullmatch(value.strip().strip("*[]'\"").strip())
        if match is None:
            raise _ReplyError(message("reply.not-a-number", "it is not a number."))
        value = float(match[1])
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _ReplyError(message("reply.score-not-a-number", "the score is not a number."))
    if not 0 <= value <= 100:
        raise _ReplyError(
            message("reply.score-range", "the score {score} is not between 0 and 100.", score=value)
        )
    return Verdict(score=float(value))


def penalty(errors: Sequence[Error]) -> float:
    """Return the MQM penalty of a segment, cut at 25."""
    return min(CAP, sum(WEIGHTS[error.severity] for error in errors))


_WRITTEN = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
# 4, 4/5 and “four out of five” name one number; 3.5 and 45 are not whole stars.
_STARS = re.compile(
    rf"(?<![\w.,/-])({'|'.join(_WRITTEN)}|\d+(?:[.,]\d+)?)"
    r"(?:\s*(?:/|out of)\s*(?:5|five))?(?![\w/])",
    re.IGNORECASE,
)


def _stars(text: str) -> Verdict:
    """Read one to five stars, drawn or named; several different numbers are none."""
    answer = text.rpartition("</think>")[2]
    drawn = answer.count("★") + answer.count("⭐")
    if not any(sign.isalnum() for sign in answer):
        # Otherwise asterisks are bold type.
        drawn += answer.count("*")
    named = {_WRITTEN.get(word.lower()) or float(word.replace(",", "."))
             for word in _STARS.findall(answer)}  # fmt: skip
    found = named | ({drawn} if drawn else set())
    if len(found) != 1 or not found <= set(_WRITTEN.values()):
        raise _ReplyError(message("reply.stars", "it does not name one to five stars."))
    return Verdict(score=float(found.pop()))


def _spans(text: str, *, is_json: bool) -> Verdict:
    document = _document(text) if is_json else None
    errors = _under_headings(text) if document is None else _listed(document)
    # Not minus zero.
    return Verdict(score=0.0 - penalty(errors), errors=tuple(errors), text=text)


def _listed(document: Mapping[str, Any]) -> list[Error]:
    listed = _only_key(document, "errors")
    if not isinstance(listed, list) or len(listed) > MOST_ERRORS:
        raise _ReplyError(message("reply.errors-not-a-list", "“errors” is not a list of errors."))
    return [_error(each) for each in listed]


def _error(given: Any) -> Error:
    if not isinstance(given, dict):
        raise _ReplyError(message("reply.error-not-an-object", "an error is not a JSON object."))
    severity = str(given.get("severity", "")).strip().lower()
    side = str(given.get("side") or "target").strip().lower()
    if severity not in SEVERITIES:
        raise _ReplyError(
            message("reply.severity", "the severity “{severity}” is unknown.", severity=severity)
        )
    if side not in SIDES:
        raise _ReplyError(message("reply.side", "the side “{side}” is unknown.", side=side))
    words = {name: given.get(name) or "" for name in ("category", "span", "context")}
    if not all(isinstance(value, str) for value in words.values()):
        raise _ReplyError(message("reply.no-quote", "an error does not quote text."))
    category = words.pop("category").strip().lower()[:80]
    if side == "target" and "omission" in category and not words["span"].strip():
        side = "missing"
    return Error(severity, category, side=side, **words)


_HEADING = re.compile(r"(critical|major|minor)\s*:?\s*(no[- ]error)?", re.IGNORECASE)
_LINE = re.compile(r"[-*•]?\s*([\w/ &()-]+?)\s+-\s+[\"“'](.*)[\"”'].*", re.DOTALL)


def _under_headings(text: str) -> list[Error]:
    """Read GEMBA's form; any other line makes the reply unreadable."""
    severity, seen, errors = "", set(), []
    for line in filter(None, map(str.strip, text.splitlines())):
        if heading := _HEADING.fullmatch(line):
            severity = heading[1].lower()
            seen.add(severity)
        elif match := _LINE.fullmatch(line) if severity else None:
            category = match[1].strip().lower()
            side = "missing" if "omission" in category else "target"
            errors.append(Error(severity, category[:80], match[2], side=side))
        elif not (severity and re.fullmatch(r"no[- ]error\.?", line, re.IGNORECASE)):
            raise _ReplyError(
                message("reply.no-errors", "it has neither JSON nor errors under headings.")
            )
    if not errors and seen != set(SEVERITIES):
        raise _ReplyError(
            message(
                "reply.severity-missing",
                "it does not state for each severity that there is no error.",
            )
        )
    return errors


def _pair(text: str) -> Verdict:
    document = _document(text)
    value = text if document is None else _only_key(document, "better")
    word = str(value).strip().strip("*.").lower()
    if word not in ("a", "b", "tie"):
        raise _ReplyError(message("reply.no-choice", "it names neither A nor B nor a tie."))
    ranks = {"a": (1, 2), "b": (2, 1), "tie": (1, 1)}[word]
    return Verdict(ranks=tuple(zip("AB", ranks, strict=True)))


def _whole(rank: Any) -> Any:
    """Return a whole number that is written as a string as a number."""
    is_text = isinstance(rank, str) and rank.strip().isascii() and rank.strip().isdigit()
    return int(rank) if is_text and len(rank) < 10 else rank


def _ranks(text: str, labels: Sequence[str]) -> Verdict:
    document = _document(text)
    ranks = None if document is None else _only_key(document, "ranks")
    if not isinstance(ranks, dict) or set(ranks) != set(labels):
        raise _ReplyError(message("reply.letters", "it does not rank every letter once."))
    ranks = {label: _whole(rank) for label, rank in ranks.items()}
    for rank in ranks.values():
        if isinstance(rank, bool) or not isinstance(rank, int) or not 1 <= rank <= len(labels):
            raise _ReplyError(
                message(
                    "reply.rank",
                    "the rank {rank} is not between 1 and {most}.",
                    rank=str(rank),
                    most=len(labels),
                )
            )
    return Verdict(ranks=tuple((label, ranks[label]) for label in labels))


def place(errors: Sequence[Error], source: str, output: str) -> list[FoundSpan]:
    """Return the errors as spans, in the given order; those not found have no position.

    If a quote occurs several times, the context decides, then the first position that no earlier
    error has taken (as GemSpanEval, Juraska et al. 2025).
    """
    taken: set[tuple[bool, int]] = set()
    return [_place(error, source, output, taken) for error in errors]


def _place(error: Error, source: str, output: str, taken: set[tuple[bool, int]]) -> FoundSpan:
    is_target = error.side == TARGET
    text = output if is_target else source
    found = find_quote(text, error.span.strip(), error.context.strip())
    free = [each for each in found if (is_target, each[0]) not in taken] or found
    if not free:
        return FoundSpan(error.side, 0, 0, error.severity, error.category)
    start, end = free[0]
    taken.add((is_target, start))
    return FoundSpan(error.side, start, end, error.severity, error.category)


# The share of passes that must mark a span.
MAJORITY = 0.5


def pool(scores: Sequence[float], rule: str) -> float:
    """Pool the scores of passes: `trimmed mean`, `mean` or `median`.

    The trimmed mean excludes scores that are more than two standard deviations (ddof 0) from the
    mean. GEMBA-MQM V2 (2025.wmt-1.67) drops outliers, too, by a rule that its paper does not give.
    """
    values = np.asarray(scores, dtype=np.float64)
    if rule == "median":
        return float(np.median(values))
    if rule == "trimmed mean":
        values = values[np.abs(values - values.mean()) <= 2 * values.std() + 1e-12]
    return float(values.mean())


def spread(scores: Sequence[float]) -> float:
    """Return the standard deviation over passes (ddof 1); 0 for a single pass."""
    return float(np.std(scores, ddof=1)) if len(scores) > 1 else 0.0


def agreed(passes: Sequence[Sequence[FoundSpan]]) -> list[FoundSpan]:
    """Return the spans that at least half of the passes mark, with that share as confidence.

    Spans are the same where side, place and severity are; of their categories the commonest counts,
    of equally common ones the first. Those of a single pass have no confidence.
    """
    if len(passes) == 1:
        return list(passes[0])
    counts: Counter[FoundSpan] = Counter()
    categories: dict[FoundSpan, Counter[str]] = {}
    for spans in passes:
        # A pass marks a place once. Errors without a place cannot be distinguished.
        for bare in dict.fromkeys(replace(span, category="") for span in spans):
            counts[bare] += 1
            named = (s.category for s in spans if replace(s, category="") == bare)
            categories.setdefault(bare, Counter()).update(named)
    return [
        replace(bare, category=categories[bare].most_common(1)[0][0], confidence=n / len(passes))
        for bare, n in counts.items()
        if n / len(passes) >= MAJORITY
    ]
