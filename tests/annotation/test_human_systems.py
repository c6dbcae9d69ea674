"""Human translations are marked as systems are stored; owners change it; annotators never know."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation import uploads
from annotation.access import CAMPAIGN_ADMIN
from annotation.campaign_files import to_values
from annotation.campaigns import add_annotators, open_campaign
from annotation.models import Assignment, AuditEntry, System, TestSet
from annotation.uploads import SegmentDraft, SystemDraft, TestSetDraft
from tests.annotation.campaign_files.test_round_trip import run, smallest
from tests.annotation.views.test_views_uploads import REFERENCE, confirm, send, sent
from tests.config.test_migrations import Migrate, migrate  # noqa: F401
from tests.refusals import tells
from tests.world import World, make_campaign, make_test_set, make_user

N = 20


def draft(begin: dict[str, str], **texts: list[str]) -> TestSetDraft:
    """Segments with references (name -> how their texts begin), and systems by their texts."""
    segments = [
        SegmentDraft(str(n), f"Quelle {n}", references={r: f"{t} {n}" for r, t in begin.items()})
        for n in range(N)
    ]
    systems = [
        SystemDraft(name, outputs={str(n): text for n, text in enumerate(own)})
        for name, own in texts.items()
    ]
    return TestSetDraft("set", "Set", "de", "en", segments=segments, systems=systems)


def marks(test_set: TestSet) -> dict[str, tuple[bool, str]]:
    rows = test_set.systems.values_list("name", "is_human", "reference")
    return {name: (is_human, reference) for name, is_human, reference in rows}


def like(text: str, n: int = N) -> list[str]:
    """The texts of a reference for the first n segments, others for the rest."""
    return [f"{text} {i}" if i < n else f"Other {i}" for i in range(N)]


def test_texts_and_names_say_who_is_human(db: None) -> None:
    texts = {"first": like("First"), "nearly": like("Second", 18), "good": like("First", 12)}
    names = {"human": like("x"), "refA": like("First"), "online_B": like("y")}
    made = uploads.store(draft({"B": "Second", "A": "First"}, **texts, **names)).test_set
    assert marks(made) == {
        "first": (True, "A"),
        "nearly": (True, "B"),
        "good": (False, ""),
        "human": (True, ""),
        "refA": (True, "A"),
        "online_B": (False, ""),
    }
    # Later systems are looked at in the same way.
    later = draft({"B": "Second", "A": "First"}, late=like("Second"), late_mt=like("z"))
    uploads.store(later)
    assert (marks(made)["late"], marks(made)["late_mt"]) == ((True, "B"), (False, ""))


def test_without_references_a_name_says_which_it_is(db: None) -> None:
    made = uploads.store(draft({}, ref=like("a"), refB=like("b"), mt=like("c"))).test_set
    assert marks(made) == {"ref": (True, "A"), "refB": (True, "B"), "mt": (False, "")}


def test_what_a_draft_says_counts_before_names_and_texts(db: None) -> None:
    said = draft({"A": "First"}, first=like("First"), mt=like("x"))
    said.systems[0].is_human, said.systems[1].is_human = False, True
    made = uploads.store(said).test_set
    # It stays the reference that it is: no metric that reads it is compared on it.
    assert marks(made) == {"first": (False, "A"), "mt": (True, "")}


def test_an_upload_says_whom_it_takes_for_human(world: World, as_admin: Client) -> None:
    preview = send(as_admin, systems=[sent("mine@1.txt", REFERENCE)])
    assert tells(preview.text, "systems.human")
    confirm(as_admin, preview)
    assert marks(TestSet.objects.get(slug="weather")) == {"mine": (True, "A")}


def test_a_campaign_file_takes_the_mark_along(db: None, tmp_path: Path) -> None:
    values: dict[str, Any] = smallest()
    values["texts"]["systems"][0]["is_human"] = True
    run(tmp_path, values)
    system = System.objects.get()
    assert system.is_human
    campaign = system.campaigns.get()
    assert to_values(campaign)["texts"]["systems"][0]["is_human"] is True


@pytest.mark.parametrize(
    ("name", "humans"), [("mqm-ted-zh-en", {"ref", "refB"}), ("wmt23-meta-en-de", {"refA"})]
)
def test_published_sets_know_their_human_translations(
    db: None, data_dir: Path, name: str, humans: set[str]
) -> None:
    call_command("import_dataset", name, data=data_dir)
    assert set(System.objects.filter(is_human=True).values_list("name", flat=True)) == humans


@pytest.fixture
def owned(world: World) -> TestSet:
    owner = make_user("owner", CAMPAIGN_ADMIN)
    test_set = make_test_set("owned")
    TestSet.objects.filter(pk=test_set.pk).update(created_by=owner)
    test_set.refresh_from_db()
    return test_set


def test_the_owner_changes_the_mark(owned: TestSet, world: World, client: Client) -> None:
    system = owned.systems.first()
    address = reverse("system-human", args=[owned.slug, system.pk])
    client.force_login(owned.created_by)
    page = client.get(owned.get_absolute_url()).text
    assert address in page
    answer = client.post(address, {"is_human": "1"}, follow=True)
    assert f"{system.name} was marked as a human translation." in answer.text
    client.post(address, {"is_human": "1"})
    system.refresh_from_db()
    assert system.is_human
    assert AuditEntry.objects.filter(test_set=owned).count() == 1
    client.force_login(make_user("colleague", CAMPAIGN_ADMIN))
    assert address not in client.get(owned.get_absolute_url()).text
    assert client.post(address, {"is_human": "0"}).status_code == 403
    client.force_login(world.annotators[0])
    assert client.post(address, {"is_human": "0"}).status_code == 403
    system.refresh_from_db()
    assert system.is_human


def test_the_mark_by_the_api(owned: TestSet, world: World, client: Client) -> None:
    system = owned.systems.first()
    address = f"/api/test-sets/{owned.slug}/human-systems/"
    sent = {"name": system.name, "length_ratio": "0.80", "is_human": True}
    client.force_login(make_user("colleague", CAMPAIGN_ADMIN))
    assert client.post(address, sent, content_type="application/json").status_code == 403
    client.force_login(owned.created_by)
    answer = client.post(address, sent, content_type="application/json")
    assert (answer.status_code, answer.json()["is_human"]) == (200, True)
    listed = client.get(f"/api/test-sets/{owned.slug}/").json()["systems"]
    assert {row["name"]: row["is_human"] for row in listed}[system.name]
    unknown = client.post(address, sent | {"name": "nobody"}, content_type="application/json")
    assert (unknown.status_code, unknown.json()["code"]) == (400, "api.no-system")


def test_stored_systems_are_marked_by_the_migration(migrate: Migrate) -> None:  # noqa: F811
    rows = migrate("annotation", "0001_squashed_0022_indexes")
    with_texts = rows("annotation.TestSet").create(slug="texts", name="Texts")
    bare = rows("annotation.TestSet").create(slug="bare", name="Bare")
    add = rows("annotation.System").create
    systems = {
        name: add(test_set=with_texts, name=name) for name in ("copy", "mt", "Human-A.0", "both")
    }
    add(test_set=bare, name="refB")
    add(test_set=bare, name="mt")
    for n in range(10):
        segment = rows("annotation.Segment").create(
            test_set=with_texts, position=n, key=str(n), source="s"
        )
        for name in ("B", "A"):
            rows("annotation.Reference").create(segment=segment, name=name, text=f"same {n}")
        for name, system in systems.items():
            text = f"same {n}" if name in ("copy", "both") or n < 3 else f"{name} {n}"
            rows("annotation.Output").create(
                system=system, segment=segment, text=text, content_key=f"{name}{n}"
            )
    rows = migrate("annotation", "0023_human_systems")
    found = rows("annotation.System").values_list("test_set__slug", "name", "is_human", "reference")
    assert sorted(found) == [
        ("bare", "mt", False, ""),
        ("bare", "refB", True, "B"),
        ("texts", "Human-A.0", True, ""),
        ("texts", "both", True, "A"),
        ("texts", "copy", True, "A"),
        ("texts", "mt", False, ""),
    ]


# Hidden fields of a form hold tokens and the time, which differ with every answer; as JSON, too.
VARIES = re.compile(r'(type=\\?"hidden\\?" name=\\?"[\w-]+\\?" value=\\?")[^"\\]*')


@pytest.mark.parametrize("protocol", ["segment-da", "side-by-side", "mqm"])
def test_no_page_of_an_annotator_tells_who_is_human(
    world: World, client: Client, protocol: str
) -> None:
    test_set = make_test_set("hidden", systems=("one", "two"))
    campaign = make_campaign(test_set, "hidden-80", protocol=protocol, traps_per_annotator=0)
    add_annotators(campaign=campaign, users=world.annotators)
    open_campaign(campaign=campaign)
    client.force_login(world.annotators[0])
    own = Assignment.objects.filter(annotator__user=world.annotators[0]).order_by("position")
    addresses = [reverse("item", args=[row.public_id]) for row in own[:4]]
    addresses += [reverse(name, args=[campaign.slug]) for name in ("annotate", "annotate-history")]

    def pages() -> list[str]:
        return [
            VARIES.sub(r"\1", client.get(address, headers=headers, follow=True).text)
            for address in addresses
            for headers in ({}, {"accept": "application/json"})
        ]

    before = pages()
    test_set.systems.filter(name="one").update(is_human=True, reference="A")
    assert pages() == before
