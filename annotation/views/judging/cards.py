"""The answer form of each item on a screen, as the page is to show it."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from uuid import uuid4

from django.http import HttpRequest

from annotation.access import signed_in
from annotation.forms.judgments import JudgmentForm
from annotation.judging import judgments
from annotation.judging.screens import ShownItem, ShownScreen
from annotation.protocols import Span

MAX_ECHO = 20


@dataclass(frozen=True)
class Card:
    """An item with its form. `prefix` begins the names of the form's fields; `spans` is JSON.

    `problem` says why an earlier submit was refused, and `problem_field` which field is to blame;
    `is_sent` tells the forms that were part of that submit.
    """

    item: ShownItem
    prefix: str
    score: str
    spans: str
    comment: str
    is_flagged: bool
    submit_key: str
    revision: int
    started: str
    problem: str = ""
    problem_field: str = ""
    is_sent: bool = False
    is_unsent: bool = False

    def fields(self) -> dict[str, str]:
        """The hidden fields by their full names, for a script to put in place."""
        hidden = {"submit_key": self.submit_key, "revision": self.revision, "started": self.started}
        return {f"{self.prefix}{name}": str(value) for name, value in hidden.items()}


def fresh_cards(request: HttpRequest, screen: ShownScreen) -> list[Card]:
    """A form for each item of a screen, filled with what is stored."""
    together = screen.protocol.layout.has_systems
    user_id = signed_in(request).pk
    return [
        fresh_card(item, f"{number}-" if together else "", user_id)
        for number, item in enumerate(screen.items)
    ]


def fresh_card(item: ShownItem, prefix: str, user_id: int) -> Card:
    """The form of one item, with a key and a start of its own."""
    return Card(
        item=item,
        prefix=prefix,
        score="" if item.score is None else str(item.score),
        spans=spans_json(item.spans),
        comment=item.comment,
        is_flagged=item.is_flagged,
        submit_key=str(uuid4()),
        revision=item.revision,
        started=judgments.issue_start(user_id=user_id, public_id=item.public_id),
    )


def spans_json(spans: Sequence[Span]) -> str:
    """Spans as the page's script takes and gives them."""
    return json.dumps([asdict(span) for span in spans], ensure_ascii=False)


def kept_card(card: Card, score: str, started: str) -> Card:
    """The form with a score that was chosen before and is not saved yet."""
    return replace(card, score=score, started=started or card.started, is_unsent=True)


def refused_card(card: Card, form: JudgmentForm, *, problem: str, is_conflict: bool) -> Card:
    """The form as it was sent. After a conflict it carries a new key and the stored revision."""
    kept = replace(
        card,
        score=form.sent("score")[:MAX_ECHO],
        spans=form.valid("spans") or "[]",
        comment=form.sent("comment"),
        is_flagged=bool(form.sent("flag")),
        started=form.valid("started") or card.started,
        problem=problem or form.problem,
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
