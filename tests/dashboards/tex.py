"""What LaTeX would refuse in our tables, found without LaTeX: a strict reading of the source."""

import re
from collections.abc import Iterator

# Everything that our tables use, with the number of arguments; else it is somebody's text.
COMMANDS = {
    **dict.fromkeys(("centering", "footnotesize", "scriptsize", "tabcolsep"), 0),
    **dict.fromkeys(("toprule", "midrule", "bottomrule"), 0),
    **dict.fromkeys(("addlinespace", "leq", "geq", "neq", "pm", "times", "infty", "chi"), 0),
    **dict.fromkeys(("tau", "rho", "alpha", "Delta", "dagger", "ddagger", "downarrow"), 0),
    **dict.fromkeys(("uparrow", "rightarrow", "textbackslash", "textasciitilde"), 0),
    **dict.fromkeys(("textasciicircum", "textless", "textgreater", "textbar"), 0),
    **dict.fromkeys(("textasciigrave",), 0),
    **dict.fromkeys(("caption", "label", "textbf", "begin", "end", "cmidrule"), 1),
    "multicolumn": 3,
    "setlength": 2,
}
MATH = {
    *("leq", "geq", "neq", "pm", "times", "infty", "chi", "tau", "rho", "alpha", "Delta"),
    *("dagger", "ddagger", "downarrow", "uparrow", "rightarrow"),
}
TOKEN = re.compile(r"\\([A-Za-z]+)|\\(.)|(%)|([{}$^_#&~])|([^\\%{}$^_#&~]+)", re.DOTALL)
SPANNING = re.compile(r"\\multicolumn\{(\d+)\}\{([lcr])\}")


def problems(source: str) -> list[str]:
    """Return what is wrong, in words; nothing for a file that LaTeX takes."""
    lines = [line for line in source.splitlines() if not line.startswith("%")]
    body = "\n".join(lines)
    return [*_tokens(body), *(fault for table in _tables(body) for fault in _shape(table))]


def _tokens(body: str) -> Iterator[str]:
    depth, is_math, open_environments = 0, False, list[str]()
    for found in TOKEN.finditer(body):
        command, escaped, comment, special, _ = found.groups()
        place = body[max(0, found.start() - 20) : found.end() + 20]
        if command is not None:
            yield from _command(body, found, command, is_math, open_environments)
        elif escaped is not None and escaped not in "\\&%$#_{},":
            yield f"\\{escaped} in {place!r}"
        elif comment:
            yield f"a comment begins in {place!r}"
        elif special == "$":
            is_math = not is_math
        elif special in ("{", "}"):
            depth += 1 if special == "{" else -1
            if depth < 0:
                yield f"a brace is closed in {place!r}"
        elif special in ("^", "_", "#") and not (is_math and special == "^"):
            yield f"{special} in {place!r}"
    if depth or is_math or open_environments:
        yield f"left open: {depth} braces, math {is_math}, {open_environments}"


def _command(
    body: str, found: re.Match[str], command: str, is_math: bool, environments: list[str]
) -> Iterator[str]:
    if command not in COMMANDS:
        yield f"\\{command} is none of ours"
        return
    if is_math != (command in MATH):
        yield f"\\{command} in the wrong mode"
    rest = body[found.end() :]
    if COMMANDS[command] and not re.match(r"(\(lr\))?\{", rest):
        yield f"\\{command} without its argument"
    if not COMMANDS[command] and command.startswith("text") and not rest.startswith("{}"):
        yield f"\\{command} swallows the blank behind it"
    name = re.match(r"\{(\w+)\}", rest)
    if command == "begin" and name:
        environments.append(name[1])
    if command == "end" and name and (not environments or environments.pop() != name[1]):
        yield f"{name[1]} is ended and was not begun"


def _tables(body: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the column specification and the lines of every tabular."""
    for found in re.finditer(
        r"\\begin\{tabular\}\{((?:[lcr]|p\{\d+pt\})*)\}\n(.*?)\n\\end\{tabular\}", body, re.DOTALL
    ):
        yield re.sub(r"p\{\d+pt\}", "l", found[1]), found[2].split("\n")


def _shape(table: tuple[str, list[str]]) -> Iterator[str]:
    columns, lines = table
    if not re.fullmatch("[lcr]+", columns):
        yield f"columns {columns!r}"
    if [lines[0], lines[-1]] != [r"\toprule", r"\bottomrule"] or lines.count(r"\midrule") != 1:
        yield "the rules of booktabs are missing"
    for before, line in zip(["", *lines], lines, strict=False):
        if line.startswith("\\cmidrule"):
            yield from _rules(line, before, len(columns))
        elif not re.fullmatch(r"\\(toprule|midrule|bottomrule|addlinespace)", line):
            yield from _row(line, len(columns))


def _row(line: str, n: int) -> Iterator[str]:
    if not line.endswith(r" \\"):
        yield f"no end of line: {line!r}"
    if line[0] in "[*(":
        yield f"an argument of the line before: {line!r}"
    cells = re.split(r"(?<!\\)&", line)
    # A heading alone in its line may leave the other columns out.
    width = sum(int(found[1]) if (found := SPANNING.search(cell)) else 1 for cell in cells)
    if width != n:
        yield f"{width} columns of {n}: {line!r}"


def _rules(line: str, head: str, n: int) -> Iterator[str]:
    spans, at = set(), 1
    for cell in re.split(r"(?<!\\)&", head):
        width = int(found[1]) if (found := SPANNING.search(cell)) else 1
        if width > 1:
            spans.add((at, at + width - 1))
        at += width
    ends = re.findall(r"\\cmidrule\(lr\)\{(\d+)-(\d+)\}", line)
    drawn = {(int(first), int(last)) for first, last in ends}
    if drawn != spans or any(last > n for _, last in drawn):
        yield f"rules {sorted(drawn)} under spans {sorted(spans)}"
