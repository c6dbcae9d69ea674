"""Annotators' texts can be translated, and researchers' files stay in English."""

import gettext
import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from babel.messages.catalog import Message
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import translation

from annotation import interface
from annotation.campaigns import add_annotators, open_campaign
from annotation.management.commands.messages import (
    PAGES,
    READERS_PAGES,
    Texts,
    annotators_templates,
    collect,
    compiled,
    updated,
)
from annotation.models import Annotator, Assignment
from core.extensions import template_folders
from tests.house.templates.seen import seen
from tests.world import PASSWORD, World

LANGUAGES = ["zh-hans", "de", "cs", "ar"]
ROOT = Path(settings.BASE_DIR)
# %(name)s of Python and templates, {name} of scripts.
PLACEHOLDER = re.compile(r"%\((\w+)\)[sd]|\{(\w+(?::[^}]*)?)\}")
READ_ALOUD = {"alt", "title", "aria-label", "aria-valuetext", "aria-description", "placeholder"}
# Random for each page, or the time.
CHANGING = re.compile(r'csrfmiddlewaretoken.*|name="seed".*|\d\d:\d\d(:[\d.]+)?')
# The name of the product.
NAMES = re.compile(r"\bTouchstone\b")


def forms_of(message: Message) -> list[str]:
    return list(message.string) if isinstance(message.string, tuple) else [message.string]


def name_of(message: Message) -> str:
    return message.id if isinstance(message.id, str) else message.id[0]


@cache
def texts() -> list[Message]:
    return [message for message in collect() if message.id]


def test_the_interface_has_its_languages() -> None:
    assert list(PAGES.languages) == LANGUAGES
    assert dict(settings.LANGUAGES)["en"] == "English"
    assert len(texts()) > 80


def placeholders(text: str) -> set[str]:
    return {"".join(found) for found in PLACEHOLDER.findall(text)}


def single_numbers(expression: str, forms: int) -> set[int]:
    """The plural forms that stand for one number only, and so may leave it out."""
    rule = gettext.c2py(expression)
    uses = [rule(n) for n in range(1000)]
    assert set(uses) == set(range(forms)), "a form is never used, or one is missing"
    return {form for form in range(forms) if uses.count(form) == 1}


@pytest.mark.parametrize(
    ("texts", "language"),
    [(texts, language) for texts in (PAGES, READERS_PAGES) for language in texts.languages],
    ids=lambda each: each if isinstance(each, str) else each.folder or "annotators",
)
def test_placeholders_are_kept(texts: Texts, language: str) -> None:
    catalog = texts.read(language)
    short = single_numbers(catalog.plural_expr, catalog.num_plurals)
    for message in catalog:
        if not message.id or not all(forms_of(message)):
            continue
        ids = [message.id] if isinstance(message.id, str) else list(message.id)
        wanted = {name for each in ids for name in placeholders(each)}
        for number, form in enumerate(forms_of(message)):
            found = placeholders(form)
            may_lack = 1 if len(ids) > 1 and number in short else 0
            assert found <= wanted, (language, form)
            assert len(placeholders(ids[-1]) - found) <= may_lack, (language, form)
            if not any(re.search(r"%%|%\(", each) for each in ids):
                # Babel takes “95% intervals” for a format; nothing halves its sign again.
                assert "%%" not in form, form
            elif "python-format" in message.flags:
                assert re.sub(r"%%|%\(\w+\)[sd]", "", form).count("%") == 0, form


@pytest.mark.parametrize("language", LANGUAGES)
def test_plurals_have_all_their_forms(language: str) -> None:
    wanted = {"zh-hans": 1, "de": 2, "cs": 3, "ar": 6}[language]
    catalog = PAGES.read(language)
    assert catalog.num_plurals == wanted
    for message in catalog:
        if isinstance(message.id, tuple):
            assert len(forms_of(message)) == wanted, message.id


def read_by_programs(catalog: bytes) -> tuple[str, dict[Any, str]]:
    """How plurals are chosen, and the texts; not the version of the Babel that wrote them."""
    read: Any = gettext.GNUTranslations(BytesIO(catalog))
    return read.info()["plural-forms"], {key: read._catalog[key] for key in read._catalog if key}


@pytest.mark.parametrize(
    "texts", [PAGES, READERS_PAGES], ids=lambda each: each.folder or "annotators"
)
def test_compiled_catalogs_are_in_step(texts: Texts) -> None:
    for language in texts.languages:
        path = texts.path(language).with_suffix(".mo")
        stored, anew = path.read_bytes(), compiled(texts.read(language))
        assert read_by_programs(stored) == read_by_programs(anew), "run: manage.py messages"


@pytest.mark.parametrize("language", LANGUAGES)
def test_blanks_and_marks_at_the_ends_are_kept(language: str) -> None:
    for message in PAGES.read(language):
        text = name_of(message)
        if message.id and text[0] in " ,":
            assert forms_of(message)[0][0] in " ,،，", text
        if message.id and text[-1] in " …":
            assert forms_of(message)[0][-1] == text[-1], text


class Words(HTMLParser):
    """Words of a template that stand outside translation tags."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.inside: list[str] = []
        self.found: list[str] = []
        source = re.sub(r"\{% comment.*?endcomment %\}|\{#.*?#\}", "", source, flags=re.S)
        source = re.sub(r"\{% blocktrans.*?endblocktrans(late)? %\}", "", source, flags=re.S)
        source = re.sub(r"\{% block width %\}.*?\{% endblock %\}", "", source)
        source = re.sub(r"\{%.*?%\}|\{\{.*?\}\}", "", source, flags=re.S)
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside.append(tag)
        for name, value in attrs:
            is_sentence = name.startswith("data-") and re.search(r"[^\W\d_] [^\W\d_]", value or "")
            if name in READ_ALOUD or is_sentence:
                self.look(value or "")

    def handle_endtag(self, tag: str) -> None:
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        # A key with one letter is the same on every keyboard.
        is_key = self.inside[-1:] == ["kbd"] and len(data) == 1
        if not is_key and not {"script", "style"} & set(self.inside):
            self.look(data)

    def look(self, text: str) -> None:
        if re.search(r"[^\W\d_]", NAMES.sub("", text)):
            self.found.append(seen(text))


@pytest.mark.parametrize(
    "path", annotators_templates(), ids=lambda path: path.relative_to(ROOT).as_posix()
)
def test_templates_have_no_words_outside_tags(path: Path) -> None:
    assert Words(path.read_text(encoding="utf-8")).found == []


@pytest.mark.parametrize(
    "sample",
    [
        "<p>Submit</p>",
        "<p>{% if a %}Rated{% endif %}</p>",
        '<button aria-label="Close"></button>',
        '<div data-late="The server is late."></div>',
        "{% translate 'x' %} items",
    ],
)
def test_the_check_would_notice(sample: str) -> None:
    assert Words(sample).found


def visited(world: World, client: Client) -> Iterator[tuple[str, object]]:
    """Pages of an annotator in all their states."""
    add_annotators(campaign=world.campaign, users=world.annotators)
    open_campaign(campaign=world.campaign)
    slug = world.campaign.slug
    item = Assignment.objects.filter(annotator__user=world.annotators[0]).earliest("position")
    address = reverse("item", args=[item.public_id])
    yield "login", client.get(reverse("login"))
    client.force_login(world.annotators[0])
    yield "home", client.get("/")
    yield "item", client.get(address)
    yield "refused", client.post(address, {"score": "101"})
    yield "history", client.get(reverse("annotate-history", args=[slug]))
    yield "account", client.get(reverse("own-account"))
    yield "foreign", client.get("/item/00000000-0000-0000-0000-000000000000/")
    yield "forbidden", client.get(reverse("campaigns"))
    Assignment.objects.update(completed_at="2026-01-01T00:00:00Z")
    yield "done", client.get(reverse("annotate-done", args=[slug]))
    type(world.campaign).objects.update(status="closed")
    yield "closed", client.get(address)


def test_annotators_see_no_other_template(world: World, client: Client) -> None:
    folders = template_folders(ROOT)
    existing = {
        path.relative_to(folder).as_posix(): path
        for folder in folders
        for path in folder.rglob("*.html")
    }
    ours = {name for name, path in existing.items() if path in annotators_templates()}
    seen = {
        template.name
        for _, response in visited(world, client)
        for template in response.templates  # type: ignore[attr-defined]
        if template.name in existing
    }
    assert "annotation/item.html" in seen
    assert sorted(seen - ours) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_pages_declare_their_language(world: World, client: Client, language: str) -> None:
    client.cookies["django_language"] = language
    way = "rtl" if language == "ar" else "ltr"
    for name, response in visited(world, client):
        text = response.text  # type: ignore[attr-defined]
        assert f'<html lang="{language}" dir="{way}">' in seen(text), name


@pytest.mark.parametrize("language", LANGUAGES)
def test_numbers_in_fields_are_the_same_everywhere(
    world: World, client: Client, language: str
) -> None:
    def numbers(text: str) -> list[str]:
        names = "value|max|min|step|datetime|data-[a-z-]*"
        found = re.findall(rf'\s(?:{names})="([\d.,٠-٩]+)"', text)
        return [each for each in found if not re.fullmatch(r"\d{13,}.*", each)]

    pages = {}
    for code in ("en", language):
        client.cookies["django_language"] = code
        client.force_login(world.annotators[0])
        if code == "en":
            pages[code] = {name: numbers(page.text) for name, page in visited(world, client)}  # type: ignore[attr-defined]
            Assignment.objects.all().delete()
            Annotator.objects.all().delete()
            type(world.campaign).objects.update(status="draft")
            world.campaign.refresh_from_db()
            world.campaign.items.all().delete()
        else:
            pages[code] = {name: numbers(page.text) for name, page in visited(world, client)}  # type: ignore[attr-defined]
    assert pages[language] == pages["en"]
    assert any(pages["en"].values())


@pytest.mark.parametrize("language", ["de", "ar"])
def test_researchers_pages_and_files_do_not_change(
    world: World, client: Client, language: str
) -> None:
    campaign, test_set = world.campaign.slug, world.test_set.slug
    addresses = [
        reverse("campaign", args=[campaign]),
        reverse("campaigns"),
        f"{reverse('campaign-new')}?testset={test_set}",
        reverse("quality", args=[campaign]),
        reverse("quality-data", args=[campaign, "csv"]),
        reverse("quality-data", args=[campaign, "json"]),
        reverse("judgments-data", args=[campaign, "csv"]),
        reverse("correlations", args=[campaign]),
        "/api/campaigns/",
    ]
    client.force_login(world.admin)
    for address in addresses:
        texts = []
        for code in ("en", language):
            client.cookies["django_language"] = code
            response = client.get(address)
            assert response.status_code == 200, address
            texts.append(CHANGING.sub("", response.getvalue().decode()))
            assert response["Content-Language"] == "en"
        assert texts[0] == texts[1], address
        if "<html" in texts[1]:
            assert '<html lang="en" dir="ltr">' in seen(texts[1])


def choose(client: Client, language: str) -> None:
    response = client.post(reverse("set_language"), {"language": language, "next": "/login/"})
    assert (response.status_code, response.url) == (302, "/login/")  # type: ignore[attr-defined]


def test_the_choice_stays_in_the_browser(db: None, client: Client) -> None:
    choose(client, "cs")
    assert '<html lang="cs"' in client.get("/login/").text
    cookie = client.cookies["django_language"]
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")
    assert cookie["max-age"] > 300 * 24 * 3600


def test_the_choice_comes_back_with_the_account(world: World) -> None:
    add_annotators(campaign=world.campaign, users=world.annotators)
    first, second, other = Client(), Client(), Client()
    first.force_login(world.annotators[0])
    choose(first, "ar")
    second.post("/login/", {"username": "annotator-1", "password": PASSWORD})
    assert '<html lang="ar" dir="rtl">' in seen(second.get("/").text)
    other.post("/login/", {"username": "annotator-2", "password": PASSWORD})
    assert '<html lang="en" dir="ltr">' in seen(other.get("/").text)


@pytest.mark.parametrize("language", ["", "xx", "tlh", "../../etc"])
def test_an_unknown_language_is_ignored(world: World, client: Client, language: str) -> None:
    add_annotators(campaign=world.campaign, users=world.annotators)
    client.force_login(world.annotators[0])
    choose(client, language)
    assert '<html lang="en"' in client.get("/login/", follow=True).text
    assert set(Annotator.objects.values_list("language", flat=True)) == {""}


def test_the_way_back_stays_on_this_site(db: None, client: Client) -> None:
    sent = {"language": "de", "next": "https://evil.example/"}
    assert client.post(reverse("set_language"), sent).url == "/"  # type: ignore[attr-defined]
    assert client.get(reverse("set_language")).status_code == 405


@pytest.mark.parametrize(
    ("asked", "given"),
    [("de-AT,de;q=0.9,en;q=0.5", "de"), ("zh-CN", "zh-hans"), ("ar-EG", "ar"), ("fr", "en")],
)
def test_without_a_choice_the_browser_decides(
    db: None, client: Client, asked: str, given: str
) -> None:
    text = client.get("/login/", headers={"accept-language": asked}).text
    assert f'<html lang="{given}"' in text


def test_a_protocols_question_is_translated_and_an_admins_is_not(world: World) -> None:
    campaign = world.campaign
    english = campaign.question_text
    with translation.override("de"):
        assert campaign.question_text != english
        assert "80%" in campaign.question_text
        campaign.question = "How good is {percent} of it?"
        assert campaign.question_text == "How good is 80% of it?"
        campaign.question = ""
        assert campaign.question_text == ""


def test_only_annotators_addresses_are_translated() -> None:
    translated = (
        "/", "/login/", "/a/x/", "/annotate/x/", "/item/x/", "/account/", "/password/x/",
    )  # fmt: skip
    assert all(interface.is_translated(path) for path in translated)
    english = (
        "/campaigns/",
        "/api/",
        "/admin/",
        "/testsets/upload/",
        "/studies/",
        "/runs/",
        "/accounts/",
    )
    assert not any(interface.is_translated(path) for path in english)


def test_an_english_term_has_one_chinese_term() -> None:
    """The table in docs/translating.md names what must not stand for a term."""
    table = (ROOT / "docs/translating.md").read_text(encoding="utf-8").split("### Chinese terms")[1]
    rows = re.findall(r"^\| ([a-z ]+) \| \S+ \| (.+) \|$", table, re.MULTILINE)
    assert len(rows) > 10
    wrong = []
    for each in (message for texts in (PAGES, READERS_PAGES) for message in texts.read("zh-hans")):
        for term, others in rows if each.id else ():
            if re.search(rf"\b{term}s?\b", name_of(each), re.IGNORECASE):
                wrong += [
                    (term, other, forms_of(each)[0])
                    for other in others.split(", ")
                    if other in forms_of(each)[0]
                ]
    assert wrong == []


def test_a_reworded_text_keeps_its_translation_until_it_is_dropped() -> None:
    template = collect()
    (reworded, *_) = (message.id for message in template if message.id)
    template.delete(reworded)
    catalog = updated(PAGES, "de", template)
    (old,) = (message for message in catalog.obsolete.values() if message.id == reworded)
    assert old.string
    assert catalog.get(reworded) is None
