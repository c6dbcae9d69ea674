"""Messages: what happened, as a code, an English pattern and parameters.

Everything that one layer tells another and a person may read is a `Message`: warnings, refusals,
problems of a file, verdicts, labels in documents. English text is made from the pattern; whoever
shows a message in another language translates the pattern and fills it in again. A parameter that
is a string is a name or text of somebody's own, and is never translated.

Patterns are written as for `str.format`, with these formats besides Python's own:

- `{tau:r}`: a coefficient, `.61`, `−.05`, `1.00`; `{p:r3}` with three decimals
- `{p:p}`: a p-value with its letter, `p = .03`, `p < .001`
- `{share:percent}`: a share of 1 as `70%`
- `{begin:moment}`: a `datetime` as `2026-11-27 19:00`

Whole numbers have separators between thousands, and lists are joined as in a sentence. A number
that is not finite is `undefined`, and None as a parameter. Patterns reach into no parameter, and
have no other formats: a pattern may come from a file or a database.
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any

# What callers give as a parameter; messages hold `Plain` ones.
Parameter = Any
CODE = re.compile(r"[\w.-]+", re.ASCII)
FORMAT = re.compile(r"r|r3|p|percent|moment|d|[+,]?(\.\d)?[efg%]?", re.ASCII)
UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
# No message that is read from JSON is longer, in characters: each may repeat what it contains.
LONGEST = 100_000
MINUS = "−"
# How many names of a list a sentence holds.
SHOWN = 5
# Characters of a name in a list: the first row of a table may be whole texts.
NAME_LENGTH = 80
# From this number on, messages that differ in a name are shown as one.
ALIKE = 3


@dataclass(frozen=True)
class Message:
    """A fact that people may read.

    Attributes
    ----------
    code
        What programs and tests ask for: `area.what-it-says`, unique in the code base.
    pattern
        The English text, with the parameters' names in braces. Where `plural` is given, it is the
        text for a single `n`.
    parameters
        Numbers, names (strings), moments, other messages, or lists of these.
    plural
        The text for other counts than one; the parameter `n` is the count.
    text
        The English text, filled in.
    """

    code: str
    pattern: str
    parameters: dict[str, Plain] = field(default_factory=dict)
    plural: str = ""
    text: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", {k: _plain(v) for k, v in self.parameters.items()})
        object.__setattr__(self, "text", self.in_words(ENGLISH, self.english))

    @property
    def english(self) -> str:
        """The English pattern for this count."""
        return self.pattern if not self.plural or self.count == 1 else self.plural

    @property
    def count(self) -> int:
        """The parameter `n`; 0 where that is not an integer."""
        n = self.parameters.get("n")
        return n if isinstance(n, int) else 0

    def in_words(self, writer: Writer, pattern: str) -> str:
        """Return a pattern, in any language, with the parameters as the writer writes them."""
        return writer.vformat(pattern, (), self.parameters)

    def __str__(self) -> str:
        return self.text

    def __hash__(self) -> int:
        return hash((self.code, self.text))


# As JSON holds them: moments are strings. Readers of documents recognize messages by these types.
# Type checkers know less: who asks for a parameter knows what it is.
if TYPE_CHECKING:
    Plain = Any
else:
    Scalar = Message | str | bool | int | float | None
    Plain = Scalar | list[Scalar]


def message(code: str, pattern: str, /, **parameters: Parameter) -> Message:
    """Return a message.

    >>> message("correlation.pairs", "{metric} has {n} complete pairs.", metric="TER", n=1200).text
    'TER has 1,200 complete pairs.'
    """
    return Message(code, pattern, parameters)


def plural(code: str, one: str, many: str, /, *, n: int, **parameters: Parameter) -> Message:
    """Return a message whose text depends on a count `n`.

    >>> plural("outputs.stored", "Stored {n} output.", "Stored {n} outputs.", n=1).text
    'Stored 1 output.'
    """
    return Message(code, one, {"n": n, **parameters}, many)


class MessageError(Exception):
    """An error that tells people what is wrong; as a string, it is the English text."""

    def __init__(self, message: Message) -> None:
        super().__init__(message.text)
        self.message = message


class DataError(MessageError, ValueError):
    """Data or arguments do not allow what is asked of them."""


def data_error(code: str, pattern: str, /, **parameters: Parameter) -> DataError:
    """Return the error with a message.

    >>> data_error("argument.least", "{name}: expected at least {least}.", name="n", least=2)
    DataError('n: expected at least 2.')
    """
    return DataError(Message(code, pattern, parameters))


def truncated(names: Sequence[Parameter], limit: int = SHOWN) -> list[Parameter]:
    """Return the first names of a list, cut at 80 characters, and how many more there are.

    >>> message("x", "{names}", names=truncated(["a", "b", "c"], 2)).text
    'a, b and 1 more'
    >>> len(truncated(["a" * 200])[0])
    81
    """
    shown: list[Parameter] = [
        f"{name[:NAME_LENGTH]}…" if isinstance(name, str) and len(name) > NAME_LENGTH else name
        for name in names[:limit]
    ]
    more = len(names) - limit
    return shown if more <= 0 else [*shown, message("list.more", "{n} more", n=more)]


def grouped(messages: Iterable[Message]) -> list[Message]:
    """Return messages that say the same of different names as one about all of them.

    Messages of one code (and of one code of what they contain) that differ in one name, and perhaps
    in numbers, become one, from `ALIKE` on. Repeated ones are dropped; the order is that of the
    first of each. Patterns must therefore suit several names: `{metric}: constant.`

    >>> known = [message("m.constant", "{metric}: constant.", metric=name) for name in "abc"]
    >>> [each.text for each in grouped(known)]
    ['a, b and c: constant.']
    """
    alike: dict[object, list[Message]] = {}
    for each in dict.fromkeys(messages):
        count = each.count if each.plural else None
        alike.setdefault((each.code, count), []).append(each)
    return [each for group in alike.values() for each in _together(group)]


def _together(alike: Sequence[Message]) -> Sequence[Message]:
    by_nested: dict[object, list[Message]] = {}
    for each in alike:
        nested = [part.code for part in each.parameters.values() if isinstance(part, Message)]
        by_nested.setdefault(tuple(nested), []).append(each)
    return [each for group in by_nested.values() for each in _joined(group)]


def _joined(alike: Sequence[Message]) -> Sequence[Message]:
    first = alike[0]
    values: dict[str, list[Any]] = {
        name: [each.parameters.get(name) for each in alike] for name in first.parameters
    }
    differing = {name: found for name, found in values.items() if len({*map(repr, found)}) > 1}
    texts = [name for name, found in differing.items() if not _are_numbers(found)]
    if len(alike) < ALIKE or len(texts) != 1:
        return alike
    (name,) = texts
    if any(isinstance(value, list) for value in values[name]):
        return alike
    known: dict[str, Parameter] = {name: truncated(list(dict.fromkeys(values[name])))}
    for each, found in differing.items():
        if each != name:
            known[each] = message("list.range", "{low} to {high}", low=min(found), high=max(found))
    return [replace(first, parameters=first.parameters | known, text="")]


def _are_numbers(values: Sequence[Parameter]) -> bool:
    return all(isinstance(value, int | float) for value in values)


class Writer(string.Formatter):
    """Fills in patterns in English; a subclass does so in another language."""

    def nested(self, value: Message) -> str:
        """Return a message within a message."""
        return value.text

    def listed(self, values: Sequence[str]) -> str:
        """Return a list as in a sentence: `a, b and c`."""
        *first, last = values or [""]
        return f"{', '.join(first)} and {last}" if first else last

    def number(self, text: str) -> str:
        """Return a number that Python wrote, with the marks of the language."""
        return text

    def undefined(self) -> str:
        """Return what stands for a number that does not exist."""
        return "undefined"

    def moment(self, value: datetime) -> str:
        """Return a date and time."""
        return f"{value:%Y-%m-%d %H:%M}"

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Any) -> Any:
        """Return a parameter; patterns reach into none. Raises ValueError for an unknown name."""
        if field_name not in kwargs:
            raise ValueError(f"Unknown parameter {field_name!r}")
        return kwargs[field_name], field_name

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        """Return a parameter. Raises ValueError for conversions, which no pattern has."""
        if conversion:
            raise ValueError(f"Unknown conversion {conversion!r}")
        return value

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return a parameter as text. Raises ValueError for an unknown format."""
        if not FORMAT.fullmatch(format_spec):
            raise ValueError(f"Unknown format {format_spec!r}")
        if isinstance(value, Message):
            return self.nested(value)
        if isinstance(value, list):
            return self.listed([self.format_field(each, format_spec) for each in value])
        if value is None:
            return self.undefined()
        if format_spec == "moment":
            return self.moment(datetime.fromisoformat(value))
        if isinstance(value, bool) or not isinstance(value, int | float):
            return str(value)
        try:
            text = _number(value, format_spec)
        except OverflowError:  # a whole number beyond all floats
            text = f"{value:,}"
        return self.number(text.replace("-", MINUS))


ENGLISH = Writer()


def _number(value: float, spec: str) -> str:
    match spec:
        case "":
            is_whole = isinstance(value, int) or (value.is_integer() and abs(value) < 1e15)
            return f"{int(value):,}" if is_whole else f"{value:,g}"
        case "r":
            return coefficient(value)
        case "r3":
            return coefficient(value, 3)
        case "p":
            return p_value(value)
        case "percent":
            return f"{value:.0%}"
    return format(value, spec)


def coefficient(value: float, places: int = 2) -> str:
    """Return a number between −1 and 1 as in prose: without the zero before the point.

    >>> coefficient(0.614), coefficient(-0.05), coefficient(0.999), coefficient(-0.001)
    ('.61', '−.05', '1.00', '.00')
    """
    text = f"{value:.{places}f}"
    sign = MINUS if text.startswith("-") and float(text) else ""
    digits = text.lstrip("-")
    return sign + (digits[1:] if digits.startswith("0.") else digits)


def p_value(value: float) -> str:
    """Return a p-value with its letter.

    >>> p_value(0.034), p_value(0.0004), p_value(0.0051), p_value(1.0)
    ('p = .03', 'p < .001', 'p = .005', 'p = 1.00')
    """
    if value < 0.001:
        return "p < .001"
    return f"p = {coefficient(value, 3 if value < 0.0095 else 2)}"


def printable(text: str) -> str:
    """Write control characters and lone surrogates, which no reader can see, as escapes.

    >>> printable("a\\x1b[2J")
    'a\\\\u001b[2J'
    """
    return UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def from_json(value: Any) -> Message:
    """Return the message that was written as JSON.

    Mappings among its parameters that are no messages become text. Raises ValueError for what no
    program of ours has written: parts that are missing or of another type, patterns with other
    fields or formats, texts of more than `LONGEST` characters.
    """
    if not isinstance(value, Mapping):
        raise ValueError("A message is a mapping")
    code, pattern, plural = (value.get(name, "") for name in ("code", "pattern", "plural"))
    parameters = value.get("parameters")
    if not (isinstance(pattern, str) and isinstance(plural, str) and isinstance(parameters, dict)):
        raise ValueError("A part of the message is missing or has another type")
    if not isinstance(code, str) or not CODE.fullmatch(code):
        raise ValueError("The message has no code")
    if plural and type(parameters.get("n")) is not int:
        raise ValueError("The message has no count")
    try:
        known = {name: _nested(each) for name, each in parameters.items()}
        for text in (pattern, plural):
            _check_pattern(text, known)
        return Message(code, pattern, known, plural)
    except (TypeError, OverflowError, RecursionError) as error:
        raise ValueError(f"The message cannot be written: {error}") from error


def _nested(value: Any) -> Parameter:
    """Return a parameter as it was before it was written as JSON."""
    if isinstance(value, list):
        return [_nested(each) for each in value]
    if isinstance(value, Mapping):
        with suppress(ValueError):
            return from_json(value)
    return value


def _check_pattern(pattern: str, parameters: Mapping[str, Parameter]) -> None:
    """Raise ValueError for other fields and formats, and for texts that are too long."""
    names: Counter[str] = Counter()
    for _, name, spec, conversion in string.Formatter().parse(pattern):
        if name is None:
            continue
        if name not in parameters or conversion or not FORMAT.fullmatch(spec or ""):
            raise ValueError(f"The pattern has a field that no message has: {name!r}")
        names[name] += 1
    if len(pattern) + sum(n * _length(parameters[name]) for name, n in names.items()) > LONGEST:
        raise ValueError("The message is too long")


def _length(value: Parameter) -> int:
    return sum(map(_length, value)) if isinstance(value, list) else len(str(value))


def _plain(value: Any) -> Parameter:
    """Return a parameter as JSON holds it; numbers of NumPy as Python's, mappings as text."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, str | int | float | Message) or value is None:
        return value
    return [_plain(each) for each in value] if isinstance(value, Sequence) else str(value)
