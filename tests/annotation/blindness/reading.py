"""What an annotator's browser receives, less the texts, as tokens that a guesser can learn from.

Numbers that only count what the person has done say what time it is, not what is shown. So every
number stands for its change since the same place of the page before, and by its value only where
it stays the same for long.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

TEXTS = re.compile(
    r'(<p class="(?:gray|black) text"[^>]*>)[^<]*(?=</p>)|(<p class="excerpt"[^>]*>)[^<]*(?=</p>)'
    r"|(<textarea[^>]*>)[^<]*(?=</textarea>)"
)
# Their own marks, and what a form carries: keys and stamps of nothing but chance and the clock.
RANDOM = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
OPAQUE = re.compile(r"\d{13,}:[\w-]{43}|\b[A-Za-z0-9]{64}\b|[0-9a-f]{40}")
CLOCK = re.compile(r'<time.*?</time>|data-spans="[^"]*"|name="spans" value="[^"]*"')
SCREEN = re.compile(r'(.*)(<article id="item".*</article>)(.*)', re.S)
PARTS = re.compile(r"<[^>]*>|[^<>]+")
NUMBER = re.compile(r"\d+(?:\.\d+)?")
# Without a meaning of their own: what a clock or chance writes.
UNREAD_HEADERS = {"Expires", "Set-Cookie"}
PHASES = range(2, 13)
FEW = 5
# What means one thing at first may mean another when the pool runs out.
EARLY, LATE = " early", " late"


@dataclass
class Received:
    """One response as a browser has it: where it came from, its headers, its body."""

    what: str
    status: int
    headers: Mapping[str, str]
    cookies: Sequence[str]
    body: str


@dataclass
class Seen:
    """All that came with one screen: tokens, and numbers by the place where they stand."""

    tokens: Counter[str] = field(default_factory=Counter)
    numbers: dict[str, float] = field(default_factory=dict)

    def read(self, received: Received) -> None:
        """Add a response."""
        what = received.what
        self.tokens[f"{what} {received.status}"] += 1
        self.tokens.update(f"{what} cookie {name}" for name in received.cookies)
        html = _html(received.body)
        bare = _less_texts(html)
        self._read_size(received, html, bare)
        # The card is the same on a page and in a reply, and nowhere else.
        found = SCREEN.fullmatch(bare)
        before, card, after = found.groups() if found else (bare, "", "")
        self._read_parts(what, before + after)
        if card and "card" not in self.tokens:
            self._read_parts("card", card)

    def _read_parts(self, what: str, html: str) -> None:
        self.tokens[what] += 1
        for part in PARTS.findall(html):
            self._read_part(what, " ".join(part.split()))

    def _read_size(self, received: Received, html: str, bare: str) -> None:
        """The length less texts and less digits, by the header and as it came."""
        texts = len(json.dumps(html)) - len(json.dumps(bare)) if _is_json(received.body) else 0
        size = len(received.body.encode()) - (texts or len(html.encode()) - len(bare.encode()))
        size -= sum(len(found) for found in NUMBER.findall(bare))
        self.numbers[f"{received.what} size"] = size
        for name, value in received.headers.items():
            if name == "Content-Length":
                assert int(value) == len(received.body.encode())
            elif name not in UNREAD_HEADERS:
                self._read_part(received.what, f"{name}: {_less_random(value)}")

    def _read_part(self, what: str, part: str) -> None:
        if not part:
            return
        shape = f"{what} {NUMBER.sub('#', part)}"
        self.tokens[shape] += 1
        for number, found in enumerate(NUMBER.findall(part)):
            self.numbers[f"{shape}[{self.tokens[shape]}.{number}]"] = float(found)


def _is_json(body: str) -> bool:
    return body.startswith("{")


def _html(body: str) -> str:
    """The body, or the page in a JSON document followed by all else that is in it."""
    if not _is_json(body):
        return body
    document = json.loads(body)
    html = str(document.pop("html", ""))
    return html + json.dumps(document, ensure_ascii=False)


def _less_texts(html: str) -> str:
    return _less_random(CLOCK.sub("", TEXTS.sub(lambda found: found.group(found.lastindex), html)))


def _less_random(text: str) -> str:
    return OPAQUE.sub("~", RANDOM.sub("=", text))


def bits(public_id: object) -> Iterator[str]:
    """The bits of an id, which an address shows."""
    number = int(str(public_id).replace("-", ""), 16)
    for place in range(128):
        yield f"id bit {place} is {number >> place & 1}"


def phases(position: int) -> Iterator[str]:
    """Where in a rhythm of two to twelve a place stands."""
    for length in PHASES:
        yield f"place {position % length} of every {length}"


def tokens_in_order(seen: Sequence[Seen]) -> list[set[str]]:
    """The tokens of all screens of one person, in the order in which they came.

    What changes on the next screen belongs to a screen, too: it was answered in between.
    """
    few = _few_valued(seen)
    last: dict[str, float] = {}
    changes = []
    for each in seen:
        changes.append(_changes(last, each.numbers))
        last |= each.numbers
    found = []
    for number, (now, own, then) in enumerate(zip(seen, changes, [*changes[1:], []], strict=True)):
        half = EARLY if number < len(seen) / 2 else LATE
        found.append(
            {f"{token} × {n}" for token, n in now.tokens.items()}
            | {f"{place} = {value}" for place, value in now.numbers.items() if place in few}
            | {*own, *(f"{each}{half}" for each in own), *(f"then {each}" for each in then)}
        )
    return found


def _few_valued(seen: Iterable[Seen]) -> set[str]:
    values = defaultdict(set)
    for each in seen:
        for place, value in each.numbers.items():
            values[place].add(value)
    return {place for place, found in values.items() if len(found) <= FEW}


def _changes(last: Mapping[str, float], numbers: Mapping[str, float]) -> list[str]:
    return [
        f"{place} {value - last[place]:+g}" for place, value in numbers.items() if place in last
    ]
