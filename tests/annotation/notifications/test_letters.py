"""Links by mail: one each, never doubled, told how each went; no link in rows, logs or lists."""

import re
import socketserver
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from email import message_from_string
from email.header import decode_header, make_header
from io import StringIO
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from annotation.campaigns import add_annotators
from annotation.models import AccountLink, Annotator, Campaign, Letter
from annotation.models.people import hash_token
from annotation.notifications.work import UNSURE, letters
from core.work import claims, working
from tests.refusals import has
from tests.world import World

LINK = re.compile(r"http://testserver(/(?:a|password)/([\w-]+)/)")
Capture = Callable[..., object]


@dataclass
class Post:
    """A mail server; `answers` are its next answers to whole messages, `drop` hangs up instead."""

    port: int = 0
    got: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)


@pytest.fixture
def post(settings: Settings) -> Iterator[Post]:
    here = Post()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(b"220 here\r\n")
            while line := self.rfile.readline():
                word = line[:4].upper()
                if word == b"QUIT":
                    return self.say("221 bye")
                self.say("354 go on" if word == b"DATA" else "250 fine")
                if word == b"DATA" and not self.read():
                    return None
            return None

        def read(self) -> bool:
            here.got.append(b"".join(iter(self.rfile.readline, b".\r\n")).decode())
            answer = here.answers.pop(0) if here.answers else "250 taken"
            if answer != "drop":
                self.say(answer)
            return answer != "drop"

        def say(self, line: str) -> None:
            self.wfile.write(f"{line}\r\n".encode())

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    here.port = server.server_address[1]
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT, settings.MAILS_LINKS = "127.0.0.1", here.port, True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield here
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def people(world: World) -> list[Annotator]:
    """Three people with personal links and addresses."""
    made = add_annotators(campaign=world.campaign, links=3)
    for invitation in made:
        User.objects.filter(pk=invitation.annotator.user_id).update(
            email=f"{invitation.annotator.label.lower()}@example.org"
        )
    return list(Annotator.objects.select_related("user").order_by("pk"))


def send(client: Client, campaign: Campaign, chosen: list[Annotator], **sent: object) -> object:
    given = {
        "do": "send", "sheet": str(uuid4()), "people": [each.pk for each in chosen],
        "subject": "Your link", "text": "Hello!\n{link}\nThank you.",
    }  # fmt: skip
    return client.post(reverse("letters", args=[campaign.slug]), given | sent)


def links_in(message: str) -> list[str]:
    body = message_from_string(message).get_payload(decode=True)
    assert isinstance(body, bytes)
    return [path for path, _ in LINK.findall(body.decode())]


def test_everybody_chosen_gets_a_link_of_their_own_that_works(
    world: World,
    as_admin: Client,
    people: list[Annotator],
    post: Post,
    django_capture_on_commit_callbacks: Capture,
    logged: StringIO,
) -> None:
    before = [each.token_hash for each in people]
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[attr-defined]
        send(as_admin, world.campaign, people[:2])
    parsed = [message_from_string(each) for each in post.got]
    assert [each["To"] for each in parsed] == ["a1@example.org", "a2@example.org"]
    assert {str(make_header(decode_header(each["Subject"]))) for each in parsed} == {"Your link"}
    paths = [path for message in post.got for path in links_in(message)]
    assert len(set(paths)) == 2
    # The campaign is a draft, and the links say so.
    assert [Client().get(path, follow=True).status_code for path in paths] == [409, 409]
    page = as_admin.get(reverse("letters", args=[world.campaign.slug])).text
    assert "2 sent, 0 being sent, 0 failed." in page
    tokens = [path.split("/")[2] for path in paths]
    stored = str(list(Letter.objects.values()))
    assert not any(token in logged.getvalue() + stored + page for token in tokens)
    after = [each.token_hash for each in Annotator.objects.order_by("pk")]
    assert after == [*map(hash_token, tokens), before[2]]


def test_a_form_sent_twice_asks_once(
    world: World,
    as_admin: Client,
    people: list[Annotator],
    post: Post,
    django_capture_on_commit_callbacks: Capture,
) -> None:
    sheet = str(uuid4())
    for _ in range(2):
        with django_capture_on_commit_callbacks(execute=True):  # type: ignore[attr-defined]
            send(as_admin, world.campaign, people, sheet=sheet)
    assert len(post.got) == 3
    # Two tabs before a worker has come: a second sheet waits for nobody who waits already.
    for _ in range(2):
        send(as_admin, world.campaign, people)
    assert Letter.objects.filter(status=Letter.Status.QUEUED).count() == 3


def ask(person: Annotator) -> Letter:
    user = person.user
    assert user is not None
    return Letter.objects.create(
        annotator=person, sheet=uuid4(), address=user.email, subject="Your link",
        body="{link}", site="http://testserver", queue="mail",
    )  # fmt: skip


def work(times: int = 1) -> Letter:
    """As a worker does it, but without the waits."""
    for _ in range(times):
        Letter.objects.update(not_before=timezone.now() - timedelta(minutes=1))
        working.do_one(letters)
    return Letter.objects.get()


def test_what_is_refused_leaves_the_link_of_before(people: list[Annotator], post: Post) -> None:
    post.answers = ["550 no such user"]
    ask(people[0])
    row = work()
    assert (row.status, row.message.parameters) == ("failed", {"code": "550"})
    assert Annotator.objects.get(pk=people[0].pk).token_hash == people[0].token_hash


def test_what_may_pass_is_tried_again(people: list[Annotator], post: Post) -> None:
    post.answers = ["451 later", "450 later"]
    ask(people[0])
    row = work(2)
    assert (row.status, row.message.parameters) == ("queued", {"code": "450"})
    row = work()
    assert (row.status, row.message, len(post.got)) == ("done", "", 3)
    assert Client().get(links_in(post.got[2])[0], follow=True).status_code == 409


def test_a_server_that_hangs_up_on_a_whole_message_gets_it_only_once(
    people: list[Annotator], post: Post
) -> None:
    post.answers = ["drop"]
    ask(people[0])
    row = work(3)
    assert (row.status, row.message, len(post.got)) == ("failed", UNSURE, 1)
    assert Client().get(links_in(post.got[0])[0], follow=True).status_code == 409


def test_what_a_dead_worker_handed_over_is_not_sent_again(
    people: list[Annotator], post: Post
) -> None:
    row = ask(people[0])
    Letter.objects.update(not_before=timezone.now() - timedelta(minutes=1))
    held = working.take(letters)
    assert held is not None
    assert claims.hold(held, begun_at=timezone.now())
    letters.lost(held)
    assert (work().message, post.got) == (UNSURE, [])
    assert Letter.objects.get(pk=row.pk).status == "failed"


def test_without_a_server_the_page_says_so_and_makes_links(
    world: World, as_admin: Client, people: list[Annotator], settings: Settings
) -> None:
    settings.MAILS_LINKS = False
    address = reverse("letters", args=[world.campaign.slug])
    page = as_admin.get(address).text
    assert "EMAIL_URL" in page
    assert 'value="send"' not in page
    send(as_admin, world.campaign, people)
    assert (Letter.objects.count(), mail.outbox) == (0, [])
    chosen = {"do": "links", "sheet": str(uuid4()), "people": [people[1].pk]}
    shown = as_admin.post(address, chosen, follow=True).text
    ((path, _),) = set(LINK.findall(shown))
    assert "annotator%2Cemail%2Clink%0D%0AA2%2Ca2%40example.org%2C" in shown
    assert Client().get(path, follow=True).status_code == 409


@pytest.mark.parametrize(
    ("status", "says"),
    [
        ("draft", "Add annotators"),
        ("open", 'data-case="fixed"'),
        ("closed", 'data-case="closed"'),
    ],
)
def test_a_page_without_people_sends_nobody_where_none_can_be_added(
    world: World, as_admin: Client, status: str, says: str
) -> None:
    Campaign.objects.filter(pk=world.campaign.pk).update(status=status)
    page = as_admin.get(reverse("letters", args=[world.campaign.slug])).text
    assert has(page, says)
    assert ("Add annotators" in page) == (status == "draft")


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ({"chosen": []}, "mail.choose-annotator"),
        ({"text": "Hello!"}, "mail.no-link"),
        ({"subject": ""}, "This field is required."),
        ({"expires_at": "2020-01-01"}, "access.past-day"),
    ],
)
def test_letters_that_cannot_be_sent(
    world: World, as_admin: Client, people: list[Annotator], post: Post, sent: dict, says: str
) -> None:
    response = send(as_admin, world.campaign, **{"chosen": people, **sent})
    assert (response.status_code, has(response.text, says)) == (422, True)  # type: ignore[attr-defined]
    assert not Letter.objects.exists()


@pytest.mark.parametrize(
    ("pasted", "says", "after"),
    [
        ("A1 new@example.org\nlast@example.org", "", ["new@", "a2@", "last@"]),
        ("Ann Lee <ann@example.org>", "", ["a1@", "a2@", "ann@"]),
        ("A1\nA3;third@example.org", "", ["", "a2@", "third@"]),
        ("A1 nobody", "mail.no-address", None),
        (
            "x@example.org\n\nX@example.org",
            "mail.repeated",
            None,
        ),
        ("x@example.org\ny@example.org", "mail.nobody-left", None),
    ],
)
def test_addresses_as_people_paste_them(
    world: World,
    as_admin: Client,
    people: list[Annotator],
    pasted: str,
    says: str,
    after: list[str] | None,
) -> None:
    User.objects.filter(pk=people[2].user_id).update(email="")
    address = reverse("addresses-set", args=[world.campaign.slug])
    response = as_admin.post(address, {"addresses": pasted})
    assert (response.status_code, has(response.text, says)) == (422 if says else 302, True)
    emails = Annotator.objects.order_by("pk").values_list("user__email", flat=True)
    expected = after or ["a1@", "a2@", ""]
    assert [each.partition("example")[0] for each in emails] == expected


def test_new_people_come_with_their_addresses(world: World, as_admin: Client) -> None:
    sent = {"count": "3", "addresses": "one@example.org\ntwo@example.org"}
    as_admin.post(reverse("people-add", args=[world.campaign.slug]), sent)
    found = Annotator.objects.order_by("pk").values_list("label", "user__email")
    assert list(found) == [("A1", "one@example.org"), ("A2", "two@example.org"), ("A3", "")]


def test_a_link_to_set_a_password_comes_by_mail(
    as_admin: Client, post: Post, django_capture_on_commit_callbacks: Capture
) -> None:
    given = {"username": "newcomer", "email": "new@example.org", "roles": ["researcher"]}
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[attr-defined]
        page = as_admin.post("/accounts/", given | {"mail": "1"}, follow=True).text
    assert not LINK.search(page)
    ((path,),) = [links_in(each) for each in post.got]
    assert AccountLink.objects.get().token_hash == hash_token(path.split("/")[2])
    secret = {"new_password1": "seven quiet boats", "new_password2": "seven quiet boats"}
    assert Client().post(path, secret).status_code == 302
    user = User.objects.get(username="newcomer")
    sheet = {"address": "other@example.org", "sheet": str(uuid4())}
    for _ in range(2):
        with django_capture_on_commit_callbacks(execute=True):  # type: ignore[attr-defined]
            as_admin.post(f"/accounts/{user.pk}/mail/", sheet)
    assert len(post.got) == 2
    user.refresh_from_db()
    assert (user.email, user.check_password("seven quiet boats")) == ("other@example.org", True)


def test_who_asked_and_is_admin_no_more_makes_no_link(as_admin: Client, post: Post) -> None:
    user = User.objects.create_user("somebody", "some@example.org")
    as_admin.post(f"/accounts/{user.pk}/mail/", {"address": user.email, "sheet": str(uuid4())})
    User.objects.get(username="admin").groups.clear()
    assert work().message.code == "letter.no-admin"
    assert (post.got, AccountLink.objects.count()) == ([], 0)


def test_two_hundred_people_cost_as_many_queries_as_three(
    world: World, as_admin: Client, people: list[Annotator]
) -> None:
    address = reverse("letters", args=[world.campaign.slug])
    counts = []
    for more in (0, 20):
        add_annotators(campaign=world.campaign, links=more)
        with CaptureQueriesContext(connection) as queries:
            as_admin.get(address)
        counts.append(len(queries))
    assert counts[0] == counts[1]
