"""The manifest: which protocol, which languages, how many tasks, annotators and ratings a task."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.imports.jsonfiles import NAMES, Keys, read_json
from annotation.uploads.files import InputFile
from annotation.uploads.problems import Place, Report
from core import languages

DIRECT, DOCUMENT, PAIRWISE = "direct", "document", "pairwise"
PROTOCOLS = {DIRECT: "segment-da", DOCUMENT: "document-da", PAIRWISE: "side-by-side"}
KNOWN = "Direct, Document or Pairwise, the first two also with ESA or MQM"
# Instructions and layouts of the same slider.
HARMLESS = {"sqm", "staticcontext", "wmtlayout", "scale100"}


@dataclass(frozen=True)
class Pair:
    """What is asked for in one language pair: `tasks` tasks, shared by `annotators` people."""

    source: str
    target: str
    annotators: int
    tasks: int


@dataclass(frozen=True)
class Manifest:
    """`layout` says which keys the items have, `protocol` how they are judged here."""

    name: str
    redundancy: int
    layout: str
    protocol: str
    pairs: Sequence[Pair]


def read_manifest(file: InputFile, report: Report) -> Manifest | None:
    """Return the manifest, or None with every problem reported."""
    before = len(report.errors)
    values = read_json(file, report)
    if len(report.errors) > before:
        return None
    if not isinstance(values, dict):
        report.error(f"a manifest is an object, not {NAMES[type(values)]}", Place(file.name))
        return None
    keys = Keys(values, file.name, "", report)
    name = keys.name("CAMPAIGN_NAME")
    keys.get("CAMPAIGN_NO", int, str)
    layout, protocol = _protocol(keys)
    redundancy = keys.whole("REDUNDANCY", 1, 50)
    pairs = _pairs(keys, redundancy)
    if len(report.errors) > before:
        return None
    return Manifest(name, redundancy, layout, protocol, pairs)


def _protocol(keys: Keys) -> tuple[str, str]:
    kind = keys.name("TASK_TYPE").lower()
    options = keys.get("TASK_OPTIONS", str, default="", required=False).lower()
    words = {word.strip() for word in options.replace(",", ";").split(";") if word.strip()}
    marking = next((name for name in ("esa", "mqm") if kind.endswith(name)), "")
    layout = kind.removesuffix(marking).rstrip("-_ +")
    marking = marking or next((name for name in ("esa", "mqm") if name in words), "")
    if not kind:
        return DIRECT, PROTOCOLS[DIRECT]
    if layout not in PROTOCOLS or (marking and layout == PAIRWISE):
        both = f"{keys.values['TASK_TYPE']} {options}".strip()
        keys.error("TASK_TYPE", f"there is no protocol for “{both}” here; there is {KNOWN}")
        return DIRECT, PROTOCOLS[DIRECT]
    if unknown := sorted(words - {"esa", "mqm"} - HARMLESS):
        keys.report.warn(f"not used: {', '.join(unknown)}", keys.place("TASK_OPTIONS"))
    return layout, marking or PROTOCOLS[layout]


def _pairs(keys: Keys, redundancy: int) -> list[Pair]:
    rows = keys.get("TASKS_TO_ANNOTATORS", list, default=[])
    if "TASKS_TO_ANNOTATORS" in keys.values and not rows:
        keys.error("TASKS_TO_ANNOTATORS", "there is no language pair")
    pairs = [_pair(keys, number, row, redundancy) for number, row in enumerate(rows, 1)]
    return [pair for pair in pairs if pair]


def _pair(keys: Keys, number: int, row: object, redundancy: int) -> Pair | None:
    def wrong(message: str) -> None:
        keys.error(f"TASKS_TO_ANNOTATORS, row {number}", message)

    if not isinstance(row, list) or [type(cell) for cell in row] != [str, str, str, int, int]:
        wrong('a row is [source, target, "uniform", annotators, tasks]')
        return None
    source, target, mode, annotators, tasks = row
    try:
        source, target = (languages.normalise(code) for code in (source, target))
    except ValueError as error:
        wrong(str(error))
    if mode != "uniform":
        wrong(f"tasks are assigned “{mode}”; only “uniform” is known")
    if annotators < 1 or tasks < 1:
        wrong(f"{annotators} annotators and {tasks} tasks are too few")
    elif redundancy > annotators:
        wrong(f"{redundancy} ratings a task need more than {annotators} annotators")
    elif tasks * redundancy % annotators:
        wrong(
            f"{tasks} tasks with {redundancy} ratings each cannot be shared evenly among "
            f"{annotators} annotators"
        )
    return Pair(source, target, annotators, tasks)
