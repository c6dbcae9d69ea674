"""Read the manifest: protocol, languages, and the numbers of tasks, annotators and ratings."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.imports.jsonfiles import read_json, unexpected_type
from annotation.uploads.files import InputFile
from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.cells import OBJECT
from core import languages
from extensions.formats.appraise.keys import Keys
from extensions.formats.declared import APPRAISE
from metaeval.messages import Message, message, plural

DIRECT, DOCUMENT, PAIRWISE = "direct", "document", "pairwise"
PROTOCOLS = {DIRECT: "segment-da", DOCUMENT: "document-da", PAIRWISE: "side-by-side"}
# Options that change only the instructions or the layout.
HARMLESS = {"sqm", "staticcontext", "wmtlayout", "scale100"}
# How the option begins with which words marked in the source are rated, not the translation.
OTHER_TASK = "namedentit"


@dataclass(frozen=True)
class Pair:
    """One language pair: `tasks` tasks, shared by `annotators` annotators."""

    source: str
    target: str
    annotators: int
    tasks: int


@dataclass(frozen=True)
class Manifest:
    """A manifest: `layout` determines the keys of the items, `protocol` how they are judged."""

    name: str
    redundancy: int
    layout: str
    protocol: str
    pairs: Sequence[Pair]


def read_manifest(file: InputFile, report: Report) -> Manifest | None:
    """Return the manifest, or None with every problem reported."""
    before = len(report.errors)
    values = read_json(file, report, APPRAISE)
    if len(report.errors) > before:
        return None
    if not isinstance(values, dict):
        report.error(unexpected_type(values, OBJECT), Place(file.name))
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
    kind = keys.name("TASK_TYPE", required=False).lower()
    options = keys.get("TASK_OPTIONS", str, default="", required=False).lower()
    words = {word.strip() for word in options.replace(",", ";").split(";") if word.strip()}
    marking = next((name for name in ("esa", "mqm") if kind.endswith(name)), "")
    layout = kind.removesuffix(marking).rstrip("-_ +")
    marking = marking or next((name for name in ("esa", "mqm") if name in words), "")
    if not kind:
        keys.report.note(
            message(
                "appraise.no-task-type",
                "The manifest has no TASK_TYPE, so its tasks are read as Direct, as Appraise does.",
            ),
            keys.place("TASK_TYPE"),
        )
        layout = DIRECT
    if not layout:
        return DIRECT, PROTOCOLS[DIRECT]
    if any(word.startswith(OTHER_TASK) for word in words):
        keys.error(
            "TASK_OPTIONS",
            message(
                "appraise.other-task",
                "There is no protocol for ratings of named entities.",
            ),
        )
        return DIRECT, PROTOCOLS[DIRECT]
    if layout not in PROTOCOLS or (marking and layout == PAIRWISE):
        keys.error(
            "TASK_TYPE",
            message(
                "appraise.task-type",
                "There is no protocol for “{given}”. Supported are Direct, Document and Pairwise; "
                "Direct and Document also with ESA or MQM.",
                given=f"{keys.values['TASK_TYPE']} {options}".strip(),
            ),
        )
        return DIRECT, PROTOCOLS[DIRECT]
    if unknown := sorted(words - {"esa", "mqm"} - HARMLESS):
        keys.report.warn(
            message(
                "appraise.unused-options",
                "These options have no effect: {options}.",
                options=unknown,
            ),
            keys.place("TASK_OPTIONS"),
        )
    return layout, marking or PROTOCOLS[layout]


def _pairs(keys: Keys, redundancy: int) -> list[Pair]:
    rows = keys.get("TASKS_TO_ANNOTATORS", list, default=[])
    if "TASKS_TO_ANNOTATORS" in keys.values and not rows:
        keys.error(
            "TASKS_TO_ANNOTATORS",
            message("appraise.no-pairs", "There are no language pairs."),
        )
    pairs = [_pair(keys, number, row, redundancy) for number, row in enumerate(rows, 1)]
    return [pair for pair in pairs if pair]


def _pair(keys: Keys, number: int, row: object, redundancy: int) -> Pair | None:
    def wrong(problem: Message) -> None:
        keys.error(row_name, problem)

    row_name = message("appraise.row", "TASKS_TO_ANNOTATORS, row {number:d}", number=number)
    if not isinstance(row, list) or [type(cell) for cell in row] != [str, str, str, int, int]:
        wrong(
            message(
                "appraise.row-shape",
                'A row must be [source, target, "uniform", annotators, tasks].',
            )
        )
        return None
    source, target, mode, annotators, tasks = row
    try:
        source, target = (languages.normalise(code) for code in (source, target))
    except languages.LanguageError as error:
        wrong(error.message)
    if mode != "uniform":
        wrong(
            message(
                "appraise.assignment",
                "Tasks are assigned “{mode}”, but only “uniform” is supported.",
                mode=mode,
            )
        )
    if annotators < 1 or tasks < 1:
        wrong(
            message(
                "appraise.too-few",
                "There must be at least one annotator and one task, not {annotators} and {tasks}.",
                annotators=annotators,
                tasks=tasks,
            )
        )
    elif redundancy > annotators:
        wrong(
            plural(
                "appraise.redundancy",
                "{redundancy} ratings per task are not possible with {n} annotator.",
                "{redundancy} ratings per task are not possible with {n} annotators.",
                redundancy=redundancy,
                n=annotators,
            )
        )
    elif tasks * redundancy % annotators:
        wrong(
            message(
                "appraise.uneven",
                "{tasks} tasks with {redundancy} ratings each cannot be shared evenly among "
                "{annotators} annotators.",
                tasks=tasks,
                redundancy=redundancy,
                annotators=annotators,
            )
        )
    return Pair(source, target, annotators, tasks)
