"""Show tables as cards on a phone: add the name of its column to every cell."""

import re
from dataclasses import dataclass

from django import template
from django.template.base import Parser, Token
from django.template.context import Context
from django.utils.safestring import SafeString, mark_safe

from core import extensions

register = template.Library()

HEAD = re.compile(r"<thead>(.*?)</thead>", re.DOTALL)
ROW = re.compile(r"<tr\b.*?(?=<tr\b|$)", re.DOTALL)
NAMED = re.compile(r"<t([hd])\b([^>]*)>(.*?)(?=<t[hd]\b|</tr|$)", re.DOTALL)
CELL = re.compile(r"<(tr|th|td)\b([^>]*)>")
SPAN = re.compile(r'(col|row)span="?(\d+)')
# Definitions of terms, and other tags.
TAGS = re.compile(r'<span id="term-.*?</span>|<[^>]*>', re.DOTALL)
DEFINITION = re.compile(r'<span id="term-.*?</span>', re.DOTALL)
TERM = re.compile(
    r'<t[hd]\b[^>]*>((?:(?!</?t[hd]\b).)*?)(<button[^>]*class="term".*?</button>)', re.DOTALL
)
TABLE = re.compile(
    r'<table\b(?P<others>(?:(?! class=)[^>])*)(?: class="(?P<classes>[^"]*)")?(?P<rest>[^>]*)>'
)


@dataclass
class Cards(template.Node):
    """Render the nodes between the tags, with the names of columns in `data-of` of the cells."""

    nodes: template.NodeList

    def render(self, context: Context) -> SafeString:
        """Take the names from the table's own head."""
        # Rendered by templates, so escaped already; only names of the same markup are added.
        return mark_safe(named(self.nodes.render(context)))  # noqa: S308


@register.tag
def cards(parser: Parser, token: Token) -> Cards:
    """`{% cards %}<table>…</table>{% endcards %}`."""
    nodes = parser.parse(("endcards",))
    parser.delete_first_token()
    return Cards(nodes)


def named(markup: str) -> str:
    """Return the markup of one table whose cells name their column."""
    head = HEAD.search(markup)
    if head is None:
        return markup
    names, start = columns(head[1]), head.end()
    top = DEFINITION.sub("", markup[:start])
    return TABLE.sub(_as_cards, top, count=1) + _with_names(markup[start:], names) + _terms(head[1])


def _terms(head: str) -> str:
    """Return the definitions of the head after the table, because a phone hides the head."""
    buttons = TERM.findall(head)
    shown_terms = [f"<span>{_text(heading)} {button}</span>" for heading, button in buttons]
    shown = f'<p class="terms small muted">{" ".join(shown_terms)}</p>' if shown_terms else ""
    return shown + "".join(DEFINITION.findall(head))


def _as_cards(table: re.Match[str]) -> str:
    classes = " ".join(filter(None, ("cards", table["classes"])))
    return f'<table class="{classes}"{table["others"]}{table["rest"]}>'


def columns(head: str) -> list[str]:
    """Return the names of a head of one or two rows, those of two rows joined by a comma."""
    first, *rest = ROW.findall(head)
    below = [_text(text) for _, _, text in NAMED.findall("".join(rest))]
    names: list[str] = []
    for _, attributes, text in NAMED.findall(first):
        spans = {kind: int(size) for kind, size in SPAN.findall(attributes)}
        if rest and "row" not in spans:
            parts = [below.pop(0) for _ in range(spans.get("col", 1))]
            names += [", ".join(filter(None, (_text(text), part))) for part in parts]
        else:
            names += [_text(text)] * spans.get("col", 1)
    return names


def _text(markup: str) -> str:
    """Return the words of a heading, fit for an attribute, without definitions."""
    return " ".join(TAGS.sub(" ", markup).split()).replace('"', "&quot;")


def _with_names(body: str, names: list[str]) -> str:
    place = 0

    def name(found: re.Match[str]) -> str:
        nonlocal place
        tag, attributes = found.groups()
        if tag == "tr":
            place = 0
            return found[0]
        spans = {kind: int(size) for kind, size in SPAN.findall(attributes)}
        at, place = place, place + spans.get("col", 1)
        if tag == "th" or at >= len(names) or not names[at]:
            return found[0]
        return f'<td data-of="{names[at]}"{attributes}>'

    return CELL.sub(name, body)


@register.simple_tag(takes_context=True)
def fragments(context: template.Context, place: str) -> SafeString:
    """Render what extensions add at a place, with all that the page knows."""
    names = [each.fragments[place] for each in extensions.installed() if place in each.fragments]
    engine = template.Engine.get_default()
    found = [engine.get_template(name).render(context) for name in names]
    return mark_safe("".join(found))  # noqa: S308  rendered by templates, which escape
