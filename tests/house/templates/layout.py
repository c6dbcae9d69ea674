"""Break lines of templates at 120 columns.

A line is broken only where a reader sees no difference: between attributes, at a blank of a text,
beside a block such as a cell of a table, and in long messages, which become `trimmed` and keep
their ids. A line without such a place stays as it is, and nothing is joined. General formatters
double the number of lines, and leave most long ones.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

WIDTH, INDENT = 120, 2
# Longer messages may be broken.
MESSAGE = 80
DJANGO = r"\{%-?\s*(?P<verb>\w+).*?%\}"
TRANSLATED = (
    r"(?P<message>\{%\s*blocktranslate\b(?P<options>[^%]*)%\}(?P<body>.*?)"
    r"\{%\s*endblocktranslate\s*%\})"
)
HIDDEN = r"(?P<hidden>\{%\s*comment\b.*?endcomment\s*%\}|\{#.*?#\}|<!--.*?-->|<!doctype[^>]*>)"
TOKEN = re.compile(
    r"(?P<raw><(?P<name>pre|textarea|script|style)\b.*?</(?P=name)>)"
    rf"|{TRANSLATED}|{HIDDEN}|{DJANGO}"
    r"|(?P<value>\{\{.*?\}\})|</(?P<closed>[\w-]+)\s*>|<(?P<opened>[a-zA-Z][\w-]*)"
    r"|(?P<blank>\s+)|[^\s<{]+|.",
    re.DOTALL,
)
IN_TAG = re.compile(
    rf"{TRANSLATED}|\{{%.*?%\}}|\{{\{{.*?\}}\}}|\{{#.*?#\}}|(?P<quote>[\"'])|(?P<end>>)"
    r"|(?P<blank>\s+)|.",
    re.DOTALL,
)
IN_MESSAGE = re.compile(r"(?P<plural>\{%\s*plural\s*%\})|\{\{.*?\}\}|(?P<blank>\s+)|.", re.DOTALL)
BLOCKS = re.compile(
    r"article|body|caption|col|colgroup|d[dlt]|details|div|fieldset|figcaption|figure|footer|form"
    r"|h[1-4r]|head|header|html|legend|li|link|main|meta|nav|[ou]l|optgroup|option|p|script|section"
    r"|summary|table|tbody|t[dhr]|tfoot|thead"
)
VOID = frozenset(
    ("area", "br", "col", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
)
# Opening tags of what styles show in a line with its neighbours.
INLINE = re.compile(r'class="[^"]*\b(downloads|variants)\b')
INLINE_IN = {"summary": ("h2", "h3"), "dd": ("form",), "details": ("summary",)}
# Styles ask whether these are empty, which a blank would change.
MAYBE_EMPTY = re.compile(
    r'<(td|p|dd)\b|.*role="status"|.*class="[^"]*\b(state|problem)\b', re.DOTALL
)
# What may turn out to be nothing.
INSERTED = re.compile(r"\{\{|\{% include ")
# Blanks in these are seen.
KEPT = re.compile(r'.*class="[^"]*\b(text|marked|letter|gray|black)\b', re.DOTALL)
# Tags that show nothing themselves, so that what is before them meets what follows.
SILENT = re.compile(r"\{% (load|get_\w+ |url [^%]* as )")
# Blocks of templates that are rendered between blocks of the page.
BETWEEN = re.compile(r"\{% block (title|head|shell|controls|content|scripts|body|trail) ")
OPEN_ENDED = frozenset(("with", "alike", "cards", "autoescape"))
SPLITS = frozenset(("else", "elif", "empty"))


class Token(NamedTuple):
    """A part of a template.

    `kind` is open, close or void for elements, begin, split or finish for blocks of the template,
    silent for what shows nothing, blank, or out for what is shown.
    """

    kind: str
    name: str
    start: int
    end: int

    @property
    def closes(self) -> bool:
        """Whether it belongs a step further left than what is before it."""
        return self.kind in ("close", "split", "finish")


class Break(NamedTuple):
    """Where a line may end: what is dropped there, and whether all of this depth end together."""

    start: int
    end: int
    depth: int
    is_block: bool


class Template:
    """A template, the places where its lines may be broken, and how deep each place is."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.breaks: list[Break] = []
        self.depths: list[tuple[int, int]] = []
        self.tokens = list(self._tokens())
        self.partner = self._partners()
        self._find_breaks()
        self.breaks.sort()

    def formatted(self) -> str:
        """Return it with its long lines broken."""
        lines, start = [], 0
        for line in self.text.splitlines(keepends=True):
            body = line.rstrip("\n")
            first = start + len(body) - len(body.lstrip())
            if len(body) > WIDTH:
                laid = self._laid(first, start + len(body), first - start)
                lines.append("\n".join(laid) + line[len(body) :])
            else:
                lines.append(line)
            start += len(line)
        return "".join(lines)

    def _laid(self, start: int, end: int, column: int) -> Iterator[str]:
        """Yield the lines of a part that begins at a column."""
        possible = [each for each in self.breaks if start < each.start and each.end < end]
        if column + end - start <= WIDTH or not possible:
            yield " " * column + self.text[start:end]
            return
        depth = min(each.depth for each in possible)
        possible = [each for each in possible if each.depth == depth]
        if blocks := [each for each in possible if each.is_block]:
            possible = blocks
        level, at = self._level(start), start
        for number, each in enumerate(possible):
            left = max(0, column + INDENT * (self._level(at) - level))
            following = possible[number + 1].start if number + 1 < len(possible) else end
            if blocks or left + following - at > WIDTH:
                yield from self._laid(at, each.start, left)
                at = each.end
        yield from self._laid(at, end, max(0, column + INDENT * (self._level(at) - level)))

    def _level(self, offset: int) -> int:
        return self.depths[bisect_right(self.depths, (offset, 1 << 30)) - 1][1]

    def _tokens(self) -> Iterator[Token]:
        at = 0
        while found := TOKEN.match(self.text, at):
            end, verb = found.end(), found["verb"] or ""
            kind, name = "out", verb
            if found["opened"]:
                end = self._end_of_tag(end)
                name = found["opened"].lower()
                kind = "void" if name in VOID else "open"
            elif found["closed"]:
                kind, name = "close", found["closed"].lower()
            elif found["blank"]:
                kind = "blank"
            elif found["hidden"] or SILENT.match(found[0]):
                kind = "silent"
            elif found["name"] == "script":
                kind, name = "void", "script"
            elif verb in SPLITS:
                kind = "split"
            elif verb.startswith("end"):
                kind, name = "finish", verb.removeprefix("end")
            elif verb and re.search(rf"\{{%\s*end{verb}\b", self.text):
                kind = "begin"
            elif found["message"]:
                name = "message"
            yield Token(kind, name, at, end)
            at = end

    def _end_of_tag(self, at: int) -> int:
        quote = ""
        while found := IN_TAG.match(self.text, at):
            at = found.end()
            if found["quote"]:
                quote = "" if quote == found["quote"] else quote or found["quote"]
            elif found["end"] and not quote:
                break
        return at

    def _partners(self) -> dict[int, int]:
        """Map what opens to what closes it, and back; a split to what began it."""
        partner, stack = {}, list[int]()
        for number, token in enumerate(self.tokens):
            if token.kind in ("open", "begin"):
                stack.append(number)
            elif token.kind == "split":
                while stack and self.tokens[stack[-1]].kind != "begin":
                    stack.pop()
                if stack:
                    partner[number] = stack[-1]
            elif token.kind in ("close", "finish"):
                wanted = "open" if token.kind == "close" else "begin"
                for back, each in enumerate(reversed(stack)):
                    if self.tokens[each].kind == wanted and self.tokens[each].name == token.name:
                        partner[each], partner[number] = number, each
                        del stack[len(stack) - back - 1 :]
                        break
                    if wanted == "open" and self.tokens[each].kind == "begin":
                        break
        return partner

    def _source(self, token: Token) -> str:
        return self.text[token.start : token.end]

    def _find_breaks(self) -> None:
        stack: list[int] = []
        extends = self.text.lstrip().startswith("{% extends")
        for number, token in enumerate(self.tokens):
            opener = self.partner.get(number)
            depth = len(stack)
            elements = [self._source(self.tokens[each]) for each in stack]
            if token.kind in ("close", "finish", "split") and opener in stack:
                depth = stack.index(opener) + 1
                del stack[depth if token.kind == "split" else depth - 1 :]
            self.depths.append((token.start, depth - token.closes))
            is_kept = any(KEPT.match(each) for each in elements if each.startswith("<"))
            if not is_kept and number:
                if token.kind == "blank":
                    is_block = self._left(number - 1) or self._right(number + 1)
                    self.breaks.append(Break(token.start, token.end, depth, is_block))
                elif self.tokens[number - 1].kind != "blank" and (
                    (extends and not stack and token.kind != "finish")
                    or (
                        not self._keeps_empty(number)
                        and (self._left(number - 1) or self._right(number))
                    )
                ):
                    self.breaks.append(Break(token.start, token.start, depth, True))
            if token.kind in ("open", "void"):
                self._break_tag(token, depth + 1)
            elif token.kind == "silent" and self.text.startswith("{% comment", token.start):
                for found in re.finditer(r"\s+", self._source(token)[12:-14]):
                    start, end = (token.start + 12 + at for at in found.span())
                    self.breaks.append(Break(start, end, depth + 1, False))
                    self.depths.append((end, depth + 1))
            elif token.name == "message":
                self._break_message(token.start, depth + 1)
            if token.kind in ("open", "begin") and number in self.partner:
                stack.append(number)

    def _break_tag(self, token: Token, depth: int) -> None:
        # The first attribute stays beside the name.
        at, quote = token.start + len(token.name) + 1, ""
        at += len(self.text[at:]) - len(self.text[at:].lstrip())
        while at < token.end and (found := IN_TAG.match(self.text, at)):
            if found["quote"]:
                quote = "" if quote == found["quote"] else quote or found["quote"]
            elif found["message"]:
                self._break_message(at, depth + 1)
            elif found["blank"] and not quote:
                self.breaks.append(Break(at, found.end(), depth, False))
                self.depths.append((found.end(), depth))
            at = found.end()

    def _break_message(self, start: int, depth: int) -> None:
        found = re.compile(TRANSLATED, re.DOTALL).match(self.text, start)
        if found is None or not re.search(r"\btrimmed\b", found["options"]):
            return
        at, end = found.span("body")
        self.breaks += [Break(at, at, depth, True), Break(end, end, depth, True)]
        self.depths += [(at, depth), (end, depth - 1), (found.end(), depth - 1)]
        while at < end and (part := IN_MESSAGE.match(self.text, at, end)):
            if part["plural"]:
                self.breaks += [Break(each, each, depth, True) for each in part.span()]
            elif part["blank"]:
                self.breaks.append(Break(*part.span(), depth, False))
            at = part.end()

    def _is_block(self, number: int) -> bool:
        token = self.tokens[number]
        opening = self.partner.get(number, number) if token.kind == "close" else number
        if BLOCKS.fullmatch(token.name) is None or INLINE.search(
            self._source(self.tokens[opening])
        ):
            return False
        for outer in range(opening - 1, -1, -1):
            element = self.tokens[outer]
            if element.kind == "open" and self.partner.get(outer, -1) > opening:
                if token.name in INLINE_IN.get(element.name, ()):
                    is_inline = bool(INLINE.search(self._source(element)))
                    return element.name == "details" and not is_inline
                if element.name not in ("span", "a", "b"):
                    break
        return True

    def _is_between(self, number: int) -> bool:
        opening = self.tokens[self.partner.get(number, number)]
        return bool(BETWEEN.match(self.text, opening.start))

    def _keeps_empty(self, number: int) -> bool:
        """Whether a place is just inside an element that may be empty."""
        before, token = self.tokens[number - 1], self.tokens[number]
        if before.kind == "open":
            opening = number - 1
        elif token.kind == "close":
            opening = self.partner.get(number, number)
        else:
            return False
        closing, depth = self.partner.get(opening, opening), 0
        is_styled = bool(MAYBE_EMPTY.match(self._source(self.tokens[opening])))
        for each in self.tokens[opening + 1 : closing]:
            is_shown = each.kind in ("out", "open", "void")
            if is_shown and not depth and not (is_styled and INSERTED.match(self._source(each))):
                return False
            depth += (each.kind == "begin") - (each.kind == "finish")
        return is_styled or closing <= opening + 1

    def _left(self, number: int) -> bool:
        """Whether the end of a block, or a blank, is what is shown before a place."""
        while number >= 0:
            token = self.tokens[number]
            if token.kind in ("open", "close", "void"):
                return self._is_block(number)
            if token.kind == "blank" or self._is_between(number):
                return True
            if token.kind == "split":
                number = self.partner.get(number, 0)
                if self.tokens[number].name not in ("if", *OPEN_ENDED):
                    return False
            elif token.kind not in ("silent", "begin", "finish") or (
                token.name not in OPEN_ENDED
                and (token.kind, token.name) != ("begin", "if")
                and token.kind != "silent"
            ):
                return False
            number -= 1
        return False

    def _right(self, number: int) -> bool:
        """Whether the beginning of a block, or a blank, is what is shown after a place."""
        while number < len(self.tokens):
            token = self.tokens[number]
            if token.kind in ("open", "close", "void"):
                return self._is_block(number)
            if token.kind == "blank" or self._is_between(number):
                return True
            if token.kind == "split":
                number = self.partner.get(self.partner.get(number, -1), len(self.tokens))
                if number < len(self.tokens) and self.tokens[number].name != "if":
                    return False
            elif token.kind != "silent" and not (
                (token.kind in ("begin", "finish") and token.name in OPEN_ENDED)
                or (token.kind, token.name) == ("finish", "if")
            ):
                return False
            number += 1
        return False


def with_trimmed(text: str) -> str:
    """Return it with the long messages of long lines `trimmed`, where their ids stay."""
    return "".join(
        _trim_line(line) if len(line) > WIDTH + 1 else line for line in text.splitlines(True)
    )


def _trim_line(line: str) -> str:
    line = re.sub(
        rf'\{{% translate "([^"\\%{{}}]{{{MESSAGE},}})" %\}}',
        r"{% blocktranslate trimmed %}\1{% endblocktranslate %}",
        line,
    )

    def trimmed(found: re.Match[str]) -> str:
        parts = re.split(r"\{%\s*plural\s*%\}", found["body"])
        is_same = all(part and part == " ".join(part.split()) for part in parts)
        if not is_same or len(found[0]) <= MESSAGE or "trimmed" in found["options"]:
            return found[0]
        return found[0].replace("blocktranslate", "blocktranslate trimmed", 1)

    return re.sub(TRANSLATED, trimmed, line)


def formatted(text: str) -> str:
    """Return a template with its long lines broken."""
    return Template(with_trimmed(text)).formatted()
