"""Lines of templates are broken only where a reader sees no difference."""

import pytest
from django.template import Context, Engine

from tests.house.templates.layout import WIDTH, formatted

LONG = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
MESSAGE = f"{{% blocktranslate %}}{LONG}"


@pytest.mark.parametrize(
    "text",
    [
        f'<b class="text">{LONG} {LONG}</b>',
        f'<b lang="en"\n  class="text">{LONG} {LONG}</b>',
        f"<pre>{LONG} {LONG}</pre>",
        f"<textarea>{LONG} {LONG}</textarea>",
        "<b>{{ a }}</b>" * 20,
        "{% if a %}<b>{{ a }}</b>{% endif %}" * 9,
        f'<a href="{LONG.replace(" ", "-")}{LONG.replace(" ", "-")}">a</a>',
        f"{{% include a with b='{LONG}' c='{LONG}' %}}",
        f"{{% blocktranslate %}} {LONG} {LONG}{{% endblocktranslate %}}",
    ],
)
def test_what_a_blank_would_change_stays(text: str) -> None:
    assert formatted(text) == text


@pytest.mark.parametrize("name", ["td", 'div lang="en"\n  class="state"', 'p role="status"'])
def test_what_may_be_empty_gets_no_blank(name: str) -> None:
    element = name.split()[0]
    text = f'<{name} title="{LONG} {LONG}">{{{{ a }}}}</{element}>'
    assert formatted(text).endswith(f">{{{{ a }}}}</{element}>")


@pytest.mark.parametrize(
    "text",
    [
        "<table><tr>" + '<td class="num">{{ a }}</td>' * 9 + "</tr></table>",
        f'<input type="text" name="{LONG}" data-b="{{% if a %}}{LONG}{{% endif %}}" required>',
        f"<p>{LONG} {LONG} <b>{LONG}</b>, {{{{ a }}}}</p>",
        f'{{% load i18n %}}<p>{{% translate "{LONG} {LONG}" %}}</p>',
        f"{{% load i18n %}}<p>{MESSAGE} {{{{ a }}}} {LONG}{{% endblocktranslate %}}</p>",
        f'{{% load i18n %}}<i title="{MESSAGE}, {LONG}{{% endblocktranslate %}}"></i>',
    ],
)
def test_what_is_rendered_stays_the_same(text: str) -> None:
    broken = formatted(f"{text}\n")
    assert formatted(broken) == broken
    assert max(map(len, broken.splitlines())) <= WIDTH
    before, after = (_rendered(each) for each in (text, broken))
    assert after == before


def _rendered(text: str) -> str:
    """Render a template without the blanks that a browser drops beside blocks."""
    engine = Engine(libraries={"i18n": "django.templatetags.i18n"})
    words = " ".join(engine.from_string(text).render(Context({"a": "x"})).split())
    for edge in ("<table>", "<tr>", "</td>", "</tr>", "</table>", "<p>", '<td class="num">'):
        words = words.replace(f"{edge} ", edge)
    for edge in ("<td", "</tr>", "</table>", "</p>"):
        words = words.replace(f" {edge}", edge)
    return words.strip()
