"""The answer form of each item on a screen, as the page is to show it."""

import json
import re
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from uuid import UUID, uuid4

from django.conf import settings
from django.http import HttpRequest
from django.template.loader import get_template

from annotation.access import signed_in
from annotation.forms.judgments import JudgmentForm, choice_field, score_field
from annotation.judging import judgments
from annotation.judging.screens import ShownItem, ShownScreen, Text
from annotation.protocols import Protocol, Span
from annotation.protocols.base import Choice, Scale, TextField
from annotation.templatetags.annotating import exact
from core.messages import translated
from metaeval.messages import Message

MAX_ECHO = 20
BLANK = "#"


@dataclass(frozen=True)
class Asked:
    """A scale with its field's name and the value in it; `suffix` ends the ids of its parts."""

    scale: Scale
    name: str
    value: str
    suffix: str = ""


@dataclass(frozen=True)
class AskedChoice:
    """A choice with its field's name and what is chosen."""

    choice: Choice
    name: str
    value: str


@dataclass(frozen=True)
class Card:
    """An item with its form. `prefix` begins the names of the form's fields; `spans` is JSON.

    `problem` is `refusal`, translated: why an earlier submit was refused. `problem_field` is the
    field with the error. `is_sent` marks the forms that were part of that submit.
    """

    item: ShownItem
    prefix: str
    asked: tuple[Asked, ...]
    choices: tuple[AskedChoice, ...]
    text: str
    spans: str
    comment: str
    is_flagged: bool
    submit_key: str
    revision: int
    started: str
    problem: str = ""
    refusal: Message | None = None
    problem_field: str = ""
    is_sent: bool = False
    is_unsent: bool = False

    @property
    def offered(self) -> str:
        """The errors marked beforehand, as JSON; empty where there are none."""
        return spans_json(self.item.offered) if self.item.offered else ""

    @property
    def score(self) -> str:
        """The value on the first scale."""
        return self.asked[0].value if self.asked else ""

    @property
    def entered(self) -> tuple[object, ...]:
        """All that the form shows besides the texts: forms that are alike in it look alike."""
        scores = tuple(each.value for each in self.asked)
        chosen = tuple(each.value for each in self.choices)
        kept = (self.text, self.spans, self.comment, self.is_flagged, self.problem)
        return self.prefix, scores, chosen, self.item.is_document, *kept

    @property
    def values(self) -> str:
        """The values on all scales, separated by commas."""
        return ",".join(each.value for each in self.asked)

    @property
    def chosen(self) -> str:
        """What is chosen, as JSON."""
        return json.dumps([each.value for each in self.choices])

    @property
    def blank(self) -> "Card":
        """The form of any item of a screen, empty: a script puts the prefix in the place of #."""
        own = len(self.prefix)
        return replace(
            self,
            prefix=BLANK,
            asked=tuple(
                replace(each, name=BLANK + each.name[own:], value="") for each in self.asked
            ),
            choices=tuple(
                replace(each, name=BLANK + each.name[own:], value="") for each in self.choices
            ),
            text="",
            comment="",
            is_flagged=False,
            problem="",
        )

    def fields(self) -> dict[str, str]:
        """Return the hidden fields by their full names, for a script to fill in."""
        hidden = {"submit_key": self.submit_key, "revision": self.revision, "started": self.started}
        return {f"{self.prefix}{name}": str(value) for name, value in hidden.items()}


def drawn(request: HttpRequest, screen: ShownScreen, cards: Sequence[Card]) -> str:
    """Render a screen for a script that puts it into its page.

    No CSRF cookie is sent: the script has one, and a late response would overwrite the newer cookie
    of a sign-in in another tab.
    """
    html = get_template("annotation/_item.html").render({"screen": screen, "cards": cards}, request)
    if settings.CSRF_COOKIE_NAME in request.COOKIES:
        request.META.pop("CSRF_COOKIE_NEEDS_UPDATE", None)
    return html


# In place of what differs between screens that are alike: 25 digits that occur in no text, the
# number of the item on its screen, and which of its values it is. A mark is also a UUID.
SECRET = f"{secrets.randbelow(9 * 10**24) + 10**24}"
MARK = re.compile(f"({SECRET}\\d{{7}}|{str(UUID(SECRET + '0' * 7))[:-7]}\\d{{7}})")
ID, PLACE, CONTEXT, RATED, SUBMIT_KEY, STARTED, PREVIOUS = range(7)


def drawn_ahead(request: HttpRequest, screens: Sequence[ShownScreen]) -> list[str]:
    """Render the screens that a browser fetches ahead, with fresh forms.

    Most differ only in texts, addresses, keys and places. Such screens are rendered once, with
    marks that are then replaced.
    """
    user_id = signed_in(request).pk
    drawings: list[tuple[ShownScreen, list[str]]] = []
    pages = []
    for screen in screens:
        blank, values = _with_marks(screen, user_id)
        parts = next((parts for other, parts in drawings if other == blank), None)
        if parts is None:
            cards = [
                replace(card, submit_key=_mark(n, SUBMIT_KEY), started=_mark(n, STARTED))
                for n, card in enumerate(fresh_cards(request, blank))
            ]
            parts = MARK.split(drawn(request, blank, cards))
            drawings.append((blank, parts))
        # What is split by a pattern in parentheses has its matches at every second position.
        pages.append("".join(values[each] if n % 2 else each for n, each in enumerate(parts)))
    return pages


def _mark(item: int, kind: int) -> str:
    return f"{SECRET}{item:06d}{kind}"


def _with_marks(screen: ShownScreen, user_id: int) -> tuple[ShownScreen, dict[str, str]]:
    """Return a screen with marks, and the HTML that takes the place of each."""
    values: dict[str, str] = {}

    def uuid_mark(n: int, kind: int, value: UUID) -> UUID:
        marked = UUID(_mark(n, kind))
        values[str(marked)] = str(value)
        return marked

    def text_mark(n: int, kind: int, text: Text) -> Text:
        if not text.content.strip():  # The page says that it is empty.
            return text
        values[_mark(n, kind)] = exact(text.content)
        return replace(text, content=_mark(n, kind))

    items = []
    for n, item in enumerate(screen.items):
        values[_mark(n, PLACE)] = str(item.place)
        values[_mark(n, SUBMIT_KEY)] = str(uuid4())
        values[_mark(n, STARTED)] = judgments.issue_start(user_id=user_id, public_id=item.public_id)
        marked = replace(
            item,
            public_id=uuid_mark(n, ID, item.public_id),
            place=int(_mark(n, PLACE)),
            context=text_mark(n, CONTEXT, item.context),
            rated=text_mark(n, RATED, item.rated),
        )
        items.append(marked)
    asked = next(n for n, item in enumerate(screen.items) if item.public_id == screen.public_id)
    previous = screen.previous_id
    blank = replace(
        screen,
        public_id=items[asked].public_id,
        previous_id=previous and uuid_mark(0, PREVIOUS, previous),
        items=tuple(items),
    )
    return blank, values


def fresh_cards(request: HttpRequest, screen: ShownScreen) -> list[Card]:
    """Return a form for each item of a screen, filled with the stored answers."""
    has_several = screen.protocol.layout.has_several
    user_id = signed_in(request).pk
    return [
        fresh_card(item, f"{number}-" if has_several else "", user_id, screen.protocol)
        for number, item in enumerate(screen.items)
    ]


def fresh_card(item: ShownItem, prefix: str, user_id: int, protocol: Protocol) -> Card:
    """Return the form of one item, with a new key and start time."""
    protocol = protocol.of_document if item.is_document else protocol
    return Card(
        item=item,
        prefix=prefix,
        asked=tuple(
            Asked(
                scale,
                prefix + score_field(number),
                _stored(item, scale),
                f"s{number}" * (number > 0),
            )
            for number, scale in enumerate(protocol.scales)
        ),
        choices=tuple(
            AskedChoice(each, prefix + choice_field(number), item.choices.get(each.key, ""))
            for number, each in enumerate(protocol.choices)
        ),
        text=_text(item, protocol),
        spans=spans_json(item.spans, item.offers),
        comment=item.comment,
        is_flagged=item.is_flagged,
        submit_key=str(uuid4()),
        revision=item.revision,
        started=judgments.issue_start(user_id=user_id, public_id=item.public_id),
    )


def _stored(item: ShownItem, scale: Scale) -> str:
    value = item.ratings.get(scale.key) if scale.key else item.score
    return "" if value is None else str(value)


def _text(item: ShownItem, protocol: Protocol) -> str:
    is_prefilled = protocol.text == TextField.PREFILLED
    return item.rated.content if item.post_edit is None and is_prefilled else item.post_edit or ""


def spans_json(spans: Sequence[Span], offers: Sequence[int | None] = ()) -> str:
    """Return spans as JSON for the page's script, with the suggestion that each was."""
    rows = [asdict(span) for span in spans]
    for row, number in zip(rows, offers, strict=False):
        row["offer"] = number
    return json.dumps(rows, ensure_ascii=False)


def kept_card(card: Card, score: str, started: str) -> Card:
    """Return the form with a score that was chosen before and is not saved yet."""
    asked = tuple(replace(each, value=score) for each in card.asked[:1]) + card.asked[1:]
    return replace(card, asked=asked, started=started or card.started, is_unsent=True)


def refused_card(
    card: Card, form: JudgmentForm, *, refusal: Message | None, is_conflict: bool
) -> Card:
    """Return the form as it was sent; after a conflict with a new key and the stored revision.

    `refusal` says why; None for the form's own error, if it has one.
    """
    refusal = refusal or (form.problem if form.errors else None)
    kept = replace(
        card,
        asked=tuple(
            replace(each, value=form.sent(score_field(number))[:MAX_ECHO])
            for number, each in enumerate(card.asked)
        ),
        choices=tuple(
            replace(each, value=form.sent(choice_field(number)))
            for number, each in enumerate(card.choices)
        ),
        text=form.sent("text"),
        spans=form.valid("spans") or "[]",
        comment=form.sent("comment"),
        is_flagged=bool(form.sent("flag")),
        started=form.valid("started") or card.started,
        problem=translated(refusal) if refusal else "",
        refusal=refusal,
        problem_field=card.prefix + next(iter(form.errors), "score"),
        is_sent=True,
    )
    if is_conflict:
        return kept
    return replace(
        kept,
        submit_key=form.valid("submit_key") or card.submit_key,
        revision=form.cleaned_data.get("revision", card.revision),
    )
