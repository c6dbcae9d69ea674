"""Names that people give are shown as they are everywhere: no markup, no pattern, nothing cut."""

import json
import re
from collections import deque
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import product
from typing import Any

import pytest
from django.db.models import CharField, Model
from django.test import Client
from django.urls import Resolver404, resolve

from annotation.models import (
    Annotator,
    AuditEntry,
    Campaign,
    ChangeEntry,
    FileImport,
    Judgment,
    Prefill,
    Segment,
    Stop,
    System,
    TestSet,
)
from dashboards.models import Selection
from metrics.models import ConfiguredMetric, FailedText, MetricImport, MetricRun
from tests.fuzz.places import Places, make_places
from tests.fuzz.test_pages import addresses
from tests.house.test_readers_language import STARTS, make_both
from tests.shared import SharedRows
from training.models import TrainingJob, Translation

NEEDS = {
    "extensions.studies",
    "extensions.comparison",
    "extensions.layers",
    "extensions.shortness",
    "extensions.trials",
}

# The first character is in no other text. The name goes on as long as its column is.
SIGN = "ʘ"
NAME = SIGN + "{n}{0.a:>9}{{7*7}}%(n)s%s<b1>\"on=1>'&lt;\u202e"
NAMED: tuple[tuple[type[Model], str], ...] = (
    (Campaign, "name"), (Campaign, "question"), (TestSet, "name"), (TestSet, "description"),
    (System, "name"), (Segment, "document"), (Annotator, "label"), (Judgment, "comment"),
    (ChangeEntry, "name"), (ChangeEntry, "actor_name"), (ChangeEntry, "reason"),
    (AuditEntry, "reason"), (Prefill, "label"), (Stop, "message"), (Stop, "reply"),
    (Selection, "name"), (Selection, "note"), (ConfiguredMetric, "label"),
    (FileImport, "name"), (FileImport, "message"),
    (FailedText, "error"),
    (MetricImport, "provenance"), (MetricRun, "message"), (TrainingJob, "name"),
    (TrainingJob, "message"), (Translation, "name"), (Translation, "message"),
)  # fmt: skip
PARTS = re.compile(r"<(?:\w+:)?(\w+)>")
# These show a table as LaTeX, Markdown and CSV, which write some signs in ways of their own.
NOTATIONS = "/table/"
# They are drawn from what the SVG is drawn from, and only a person can read them.
PRINTED = {"pdf", "png"}
# They end or change the session.
LEFT_OUT = {"logout", "language"}


def rename() -> None:
    for model, field in NAMED:
        column = model._meta.get_field(field)
        size = (isinstance(column, CharField) and column.max_length) or 500
        for row in model._default_manager.exclude(**{field: ""}):
            end = str(row.pk)
            name = NAME + "港𝒳" * size
            model._default_manager.filter(pk=row.pk).update(
                **{field: name[: size - len(end)] + end}
            )


class Shown(HTMLParser):
    """What a page shows and says: texts, values of attributes, data; and its elements."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.texts: list[str] = []
        self.links: list[str] = []
        self.is_data = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = {name: value or "" for name, value in attrs}
        self.elements |= {tag, *known}
        self.is_data = tag == "script" and known.get("type") == "application/json"
        if tag == "a":
            self.links.append(known.get("href", ""))
        self.texts += [each for name, each in known.items() if name not in ("href", "action")]

    def handle_data(self, data: str) -> None:
        self.texts += texts_of(json.loads(data)) if self.is_data and data.strip() else [data]


def texts_of(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list):
        for each in value:
            yield from texts_of(each)
    elif isinstance(value, str):
        yield value


def faults(text: str) -> Iterator[str]:
    """Yield where a name begins and is not as it was given, unless a mark says that it is cut."""
    for part in text.split(SIGN)[1:]:
        shown = (SIGN + part).split("…")[0]
        if not shown.startswith(NAME) and not NAME.startswith(shown):
            yield shown[:100]


def in_answer(answer: Any) -> Iterator[str]:
    kind = answer["Content-Type"]
    if answer.status_code >= 500:
        yield f"{answer.status_code}"
    elif kind == "application/json" and not answer.streaming:
        for text in texts_of(answer.json()):
            yield from in_page(text) if text.lstrip().startswith("<") else faults(text)
    elif kind.startswith("text/html") and not answer.streaming:
        yield from in_page(answer.text)


def in_page(page: str) -> Iterator[str]:
    shown = Shown(page)
    yield from {"b1", "on"} & shown.elements
    for text in shown.texts:
        yield from faults(text)


def every_address(places: Places) -> Iterator[str]:
    """Yield every address of the site with all that may fill it rightly."""
    for _, route, values in addresses(places):
        for chosen in product(*(values.get(name, ["1"]) for name in PARTS.findall(route))):
            given = iter(chosen)
            yield PARTS.sub(lambda _: next(given), route)  # noqa: B023  used at once


def visited(client: Client, places: Places) -> Iterator[tuple[str, Any]]:
    """Yield an answer of each address, and one of each kind that only links lead to."""
    starts = dict.fromkeys([*STARTS, *every_address(places)])
    waiting, seen = deque(starts), set[Any]()
    while waiting:
        address = waiting.popleft()
        try:
            found = resolve(address.split("?")[0])
        except Resolver404:
            continue
        key = found.url_name, str(found.kwargs.get("fmt"))
        is_known = address in seen if address in starts else key in seen
        if is_known or found.url_name in LEFT_OUT or found.kwargs.get("fmt") in PRINTED:
            continue
        seen |= {key, address}
        if client.session.get("_auth_user_id") != str(places.world.admin.pk):
            client.force_login(places.world.admin)  # a link signed in somebody else
        answer: Any = client.get(address, follow=True)
        yield address, answer
        if answer["Content-Type"].startswith("text/html") and not answer.streaming:
            links = (link.split("#")[0] for link in Shown(answer.text).links)
            waiting.extend(link for link in links if link.startswith("/"))


@pytest.fixture(scope="module")
def places(shared_rows: SharedRows[Places]) -> Iterator[Places]:
    def make() -> Places:
        make_both()
        made = make_places()
        rename()
        return made

    with shared_rows(make) as made:
        yield made


@pytest.mark.usefixtures("db", "kept_state", "unlogged")
def test_names_are_shown_as_they_are(places: Places, client: Client) -> None:
    client.raise_request_exception = False
    wrong, n_seen = [], 0
    for address, answer in visited(client, places):
        n_seen += not answer.streaming and SIGN.encode() in answer.content
        found = set(in_answer(answer))
        if address.partition("?")[0].endswith(NOTATIONS):
            found &= {"b1", "on", "500"}
        wrong += [f"{address}: {fault}" for fault in sorted(found)]
    assert n_seen > 100
    assert wrong == [], "\n".join(wrong)


@pytest.mark.parametrize(
    ("shown", "is_right"),
    [
        (NAME, True),
        (f"{NAME[:9]}…", True),
        (NAME.replace("{n}", "3"), False),
        (NAME.replace("%s", "x"), False),
        (NAME.replace("{{7*7}}", "49"), False),
    ],
)
def test_a_name_that_was_filled_in_would_be_noticed(shown: str, is_right: bool) -> None:
    assert any(faults(f"Of {shown}港 and {shown}")) != is_right


def test_markup_would_be_noticed() -> None:
    assert set(in_page(f'<p>{NAME}</p><p title="{NAME}"></p>')) >= {"b1", "on"}
