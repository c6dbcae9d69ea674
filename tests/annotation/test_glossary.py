"""Terms are explained in place, from one source."""

import re
from pathlib import Path

from django.test import Client, RequestFactory

from annotation.glossary import TERMS, all_terms
from annotation.templatetags.shell import term
from core.extensions import template_folders
from tests.world import World

ROOT = Path(__file__).parents[2]


def test_every_term_has_a_key_of_its_own_and_a_sentence() -> None:
    terms = list(all_terms())
    assert len(terms) == len(TERMS)
    assert [each.key for each in terms if not each.text.endswith(".")] == []


def test_templates_ask_for_terms_that_there_are() -> None:
    asked = {
        key
        for folder in template_folders(ROOT)
        for path in folder.rglob("*.html")
        for key in re.findall(r'\{% term "([^"]+)" %\}', path.read_text(encoding="utf-8"))
    }
    assert len(asked) > 5
    assert asked <= TERMS.keys()


def test_a_definition_comes_with_the_first_button_of_a_page() -> None:
    context = {"request": RequestFactory().get("/")}
    first, second = term(context, "alpha"), term(context, "alpha")
    assert first.startswith(second)
    assert first.count("popover>") == 1
    assert "popover>" not in second
    assert term(context, "nothing") == term({}, "alpha") == ""


def test_the_page_has_them_all(as_researcher: Client, world: World) -> None:
    page = as_researcher.get("/glossary/").text
    assert [key for key in TERMS if f'<dt id="{key}">' not in page] == []
