"""Who gets furthest at an address, and with which values in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from django.db import connection, transaction
from django.test import Client, TestCase

from tests.addresses import fill
from tests.fuzz.listening import listening
from tests.fuzz.places import Places
from tests.fuzz.requests import Case, send

ROLES = ("site admin", "annotator", "superuser", "anonymous")
SIGN_IN = ("/login/", "/admin/login/")
# From the least.
LED_TO_SIGN_IN, REFUSED, FOUND_NOTHING, REFUSED_AS_SENT, LED_ELSEWHERE, ANSWERED = range(6)
RANKS = {401: REFUSED, 403: REFUSED, 404: FOUND_NOTHING}


def sent_and_undone(client: Client, case: Case) -> Any:
    """Send a request, do what was to follow once it is stored, and take all of it back.

    So every request meets the same rows, however many of those before it deleted one.
    """
    with transaction.atomic():
        with TestCase.captureOnCommitCallbacks(execute=True):
            answer = send(client, case)
        if case.method not in ("GET", "HEAD"):
            connection.check_constraints()
        transaction.set_rollback(True)
    return answer


@dataclass(frozen=True)
class Way:
    """To an address: clients by role, the one that gets furthest first, how far that is, and the
    names of parameters that were asked for then."""

    name: str
    route: str
    clients: dict[str, Client]
    address: str
    rank: int
    names: frozenset[str]

    @property
    def first(self) -> Client:
        """Who gets furthest."""
        return next(iter(self.clients.values()))


def furthest(
    signed: Mapping[str, Client], name: str, route: str, values: Mapping[str, Sequence[str]]
) -> Way:
    """Try roles and addresses until one is answered, or else take the best of all."""
    clients = {role: again(signed[role]) for role in ROLES}
    best, first, address, names = -1, ROLES[0], "", frozenset[str]()
    for role, filled in product(clients, fill(route, values)):
        with listening() as heard:
            rank = _reach(clients[role], filled)
        if rank > best:
            best, first, address, names = rank, role, filled, frozenset(heard)
        if best == ANSWERED:
            break
    return Way(name, route, {first: clients.pop(first), **clients}, address, best, names)


def signed_in(places: Places) -> dict[str, Client]:
    """A client of each role."""
    clients = {role: Client() for role in ROLES}
    for role, client in clients.items():
        if (user := {**places.people, "superuser": places.superuser}[role]) is not None:
            client.force_login(user)
    return clients


def again(client: Client) -> Client:
    """Return another client with the same session, which keeps it when the first logs out."""
    another = Client()
    another.cookies.load({name: morsel.value for name, morsel in client.cookies.items()})
    return another


def _reach(client: Client, address: str) -> int:
    """How far somebody gets: by GET, or where that is no way, by an empty form."""
    answer = sent_and_undone(client, Case("GET", address, ""))
    if answer.status_code == 405:
        answer = sent_and_undone(client, Case("POST", address, ""))
    return reach(answer)


def reach(answer: Any) -> int:
    """Rank an answer: from being led to the sign-in to being answered."""
    status = answer.status_code
    if status == 302 and answer.headers["Location"].startswith(SIGN_IN):
        return LED_TO_SIGN_IN
    if status in RANKS:
        return RANKS[status]
    return REFUSED_AS_SENT if status >= 400 else LED_ELSEWHERE if status >= 300 else ANSWERED
