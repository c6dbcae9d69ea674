"""Describe BERTScore on any encoder. Imports neither Django nor torch: web and workers read it."""

import csv
import hashlib
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from metaeval.messages import Message, message
from metaeval.reasons import reason_of
from metrics.base import MetricError, MetricInfo, Scores
from metrics.checkpoints import places
from metrics.families import long_texts, passages, references
from metrics.options import (
    ACROSS_LIMITS,
    CHECKPOINT_HELP,
    ENCODER_LABEL,
    ENCODER_LIMITS,
    LAYER_HELP,
    LAYER_LABEL,
    PRECISION,
    Family,
    Given,
    Option,
    OptionError,
    Options,
    check_layer,
)

# Read baselines of BERTScore in bert-score's format, and rescale scores by them. The baseline b is
# the score of unrelated sentences of a language. A value x is rescaled to (x - b) / (1 - b), which
# changes no rank within a column (Zhang et al. 2020, section "Rescaling" of their package). A file
# has the columns LAYER, P, R, F.


_COLUMNS = ("LAYER", "P", "R", "F")


@dataclass(frozen=True, eq=False)
class Baseline:
    """Hold ``values`` (layers, 3) for P, R and F; ``digest`` identifies the file in signatures."""

    values: Scores
    digest: str

    def rescale(self, scores: Scores) -> Scores:
        """Return rescaled scores, (n, 3 × layers)."""
        below = self.values.reshape(-1)
        return np.asarray((scores - below) / (1 - below))


def locate_baseline(checkpoint: str, name: str) -> Path:
    """Return the path of an absolute name, or of one in the folder of a checkpoint.

    Raises :class:`MetricError` where that checkpoint is not on this machine.
    """
    return Path(name) if Path(name).is_absolute() else Path(places.find(checkpoint)) / name


def read_baseline(path: Path, layers: int) -> Baseline:
    """Read the baselines of layers 0 to ``layers`` - 1.

    Raises a permanent :class:`MetricError` that names file, line and field, or the missing layer.
    """
    try:
        raw = path.read_bytes()
        lines = raw.decode("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        problem = message(
            "file.unreadable",
            "{path} cannot be read: {error}.",
            path=str(path),
            error=reason_of(error),
        )
        raise _error(problem) from error
    separator = "\t" if lines and "\t" in lines[0] else ","
    head, *rows = csv.reader(lines, delimiter=separator) if lines else [[]]
    if [name.strip().upper() for name in head] != list(_COLUMNS):
        problem = message(
            "baseline-file.columns",
            "{path}, line 1: expected the columns {columns}.",
            path=str(path),
            columns=",".join(_COLUMNS),
        )
        raise _error(problem)
    found = dict(_row(path, number, row) for number, row in enumerate(rows, start=2) if row)
    for layer in range(layers):
        if layer not in found:
            problem = message(
                "baseline-file.no-layer",
                "{path} has no baseline for layer {layer}; expected layers 0 to {last}.",
                path=str(path),
                layer=layer,
                last=layers - 1,
            )
            raise _error(problem)
    values = np.array([found[layer] for layer in range(layers)])
    return Baseline(values, hashlib.sha256(raw).hexdigest()[:12])


def _row(path: Path, number: int, row: list[str]) -> tuple[int, list[float]]:
    if len(row) != len(_COLUMNS):
        problem = message(
            "baseline-file.fields",
            "{path}, line {line}: expected {expected} fields, but there are {actual}.",
            path=str(path),
            line=number,
            expected=len(_COLUMNS),
            actual=len(row),
        )
        raise _error(problem)
    values = [_number(path, number, *cell) for cell in zip(_COLUMNS, row, strict=True)]
    return int(values[0]), values[1:]


def _number(path: Path, number: int, column: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    is_right = value.is_integer() if column == "LAYER" and value == value else value < 1
    if not is_right:
        place = {"path": str(path), "line": number, "column": column, "value": text}
        if column == "LAYER":
            problem = message(
                "baseline-file.layer",
                "{path}, line {line}, {column}: “{value}” is not a layer.",
                **place,
            )
        else:
            problem = message(
                "baseline-file.value",
                "{path}, line {line}, {column}: “{value}” is not a number below 1.",
                **place,
            )
        raise _error(problem)
    return value


def _error(problem: Message) -> MetricError:
    return MetricError(problem, permanent=True)


_SIDES = (("p", "P"), ("r", "R"), ("f", "F1"))
_ZHANG = "Zhang et al. 2020, BERTScore: evaluating text generation with BERT"


def bertscore_info(
    name: str,
    label: str,
    checkpoint: str,
    *,
    layers: int,
    shown: tuple[str, ...],
    given: Given = (),
) -> MetricInfo:
    """Describe precision, recall and F1 of every hidden state; layer 0 is the embedding."""
    given = tuple(given)
    chosen = dict(given)
    return MetricInfo(
        name=name,
        label=label,
        measures=tuple(f"{name}-{layer}-{key}" for layer in range(layers) for key, _ in _SIDES),
        measure_labels=tuple(
            f"{label} {layer}-{word}" for layer in range(layers) for _, word in _SIDES
        ),
        needs_source=False,
        needs_reference=True,
        queue="gpu",
        description=_description(checkpoint, layers, chosen),
        citation=_ZHANG,
        checkpoint=checkpoint,
        shown=tuple(f"{name}-{measure}" for measure in shown),
        family="bertscore",
        depends_on_set=bool(chosen.get("idf")),
        options=given,
    )


def _description(checkpoint: str, layers: int, chosen: Options) -> Message:
    given = {"checkpoint": checkpoint, "layers": layers, "baseline": str(chosen.get("baseline"))}
    match bool(chosen.get("idf")), bool(chosen.get("baseline")):
        case True, True:
            return message(
                "bertscore.about-idf-rescaled",
                "Token similarity under {checkpoint}, with idf weights over the references of the "
                "test set, rescaled by {baseline}. All {layers} layers are stored; tables show the "
                "recommended one.",
                **given,
            )
        case True, False:
            return message(
                "bertscore.about-idf",
                "Token similarity under {checkpoint}, with idf weights over the references of the "
                "test set. All {layers} layers are stored; tables show the recommended one.",
                **given,
            )
        case False, True:
            return message(
                "bertscore.about-rescaled",
                "Token similarity under {checkpoint}, rescaled by {baseline}. All {layers} layers "
                "are stored; tables show the recommended one.",
                **given,
            )
    return message(
        "bertscore.about",
        "Token similarity under {checkpoint}. All {layers} layers are stored; tables show the "
        "recommended one.",
        **given,
    )


def describe_bertscore(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a configured metric; read the number of layers from the checkpoint."""
    checkpoint, layer = str(options["checkpoint"]), int(options["layer"])
    layers = check_layer(checkpoint, layer)
    _check_baseline(checkpoint, str(options["baseline"]), layers)
    shown = (f"{layer}-{options['measure']}",)
    return bertscore_info(
        name, label, checkpoint, layers=layers, shown=shown, given=options.items()
    )


def _check_baseline(checkpoint: str, name: str, layers: int) -> None:
    """Raise OptionError for an unsuitable file on this machine; workers check other files."""
    try:
        path = locate_baseline(checkpoint, name) if name else None
    except MetricError:
        return
    if path is None or not path.exists():
        return
    try:
        read_baseline(path, layers)
    except MetricError as error:
        raise OptionError(error.message, BASELINE.name) from error


MEASURE_LABEL = message("option.measure", "Measure shown")
BASELINE = Option(
    "baseline",
    message("bertscore.baseline", "Baselines for rescaling"),
    "text",
    "",
    help=message(
        "bertscore.baseline-help",
        "A file of bert-score with the columns LAYER,P,R,F: an absolute path, or a name in the "
        "checkpoint's folder. Leave blank to store scores without rescaling.",
    ),
)
BERTSCORE = Family(
    key="bertscore",
    label="BERTScore",
    description=message(
        "bertscore.family",
        "Token similarity of output and reference under any encoder. All layers are stored.",
    ),
    limits=ENCODER_LIMITS,
    scorer="extensions.neural.bertscore.scorer:BertScore",
    options=(
        Option("checkpoint", ENCODER_LABEL, "checkpoint", help=CHECKPOINT_HELP),
        Option(
            "layer",
            message("bertscore.layer", "Layer shown"),
            "integer",
            minimum=0,
            help=LAYER_HELP,
        ),
        Option("measure", MEASURE_LABEL, "choice", "f", choices=("p", "r", "f")),
        Option(
            "idf",
            message("bertscore.idf", "Use idf weights"),
            "boolean",
            False,
            help=message(
                "bertscore.idf-help",
                "Inverse document frequency over all references of the test set. Scores then "
                "depend on the test set.",
            ),
        ),
        BASELINE,
        references.option("best"),
        *passages.OPTIONS,
        long_texts.OPTION,
        PRECISION,
    ),
    describe=describe_bertscore,
)


SCORER = "extensions.neural.bertscore.xbertscore:XBertScore"
_SHOWN = Option(
    "measure", message("option.measure", "Measure shown"), "choice", "f", choices=("p", "r", "f")
)
# The text that the output is compared with.
COMPARED = {
    "source": message("compare.source", "source"),
    "reference": message("compare.reference", "reference"),
}
COMPARE = Option(
    "compare",
    message("option.compare", "Compare the output with"),
    "choice",
    "source",
    choices=("source", "reference"),
)
REFERENCES = references.option("best")
IDF = Option(
    "idf",
    message("xbertscore.idf", "Sentences for idf weights"),
    "file",
    "",
    help=message(
        "xbertscore.idf-help",
        "A file with one sentence per line: the texts that outputs are compared with, such as all "
        "sources of the test set. Leave blank for equal weights.",
    ),
)


def xbertscore_info(
    name: str,
    label: str,
    options: Options,
    *,
    family: str = "xbertscore",
    description: Message | None = None,
    citation: str = "Zhang et al. 2020, BERTScore: evaluating text generation with BERT",
) -> MetricInfo:
    """Describe precision, recall and F1 at one layer."""
    compare, checkpoint = str(options["compare"]), str(options["checkpoint"])
    return MetricInfo(
        name=name,
        label=label,
        measures=tuple(f"{name}-{key}" for key, _ in _SIDES),
        measure_labels=tuple(f"{label} {word}" for _, word in _SIDES),
        needs_source=compare == "source",
        needs_reference=compare == "reference",
        queue="gpu",
        description=description
        or message(
            "xbertscore.about",
            "Token similarity of output and {compared} under {checkpoint}, layer {layer}.",
            compared=COMPARED[compare],
            checkpoint=checkpoint,
            layer=options["layer"],
        ),
        citation=citation,
        shown=(f"{name}-{options['measure']}",),
        checkpoint=checkpoint,
        family=family,
        options=tuple(options.items()),
    )


def describe_xbertscore(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a configured metric; the checkpoint must have the layer."""
    check_layer(str(options["checkpoint"]), int(options["layer"]))
    return xbertscore_info(name, label, options)


XBERTSCORE = Family(
    key="xbertscore",
    label="XBERTScore",
    description=message(
        "xbertscore.family",
        "Token similarity of output and source under any multilingual encoder.",
    ),
    limits=ACROSS_LIMITS,
    scorer=SCORER,
    options=(
        Option(
            "checkpoint",
            ENCODER_LABEL,
            "checkpoint",
            "xlm-roberta-base",
            help=CHECKPOINT_HELP,
        ),
        Option("layer", LAYER_LABEL, "integer", 9, minimum=0, help=LAYER_HELP),
        COMPARE,
        REFERENCES,
        _SHOWN,
        IDF,
        long_texts.OPTION,
        PRECISION,
    ),
    describe=describe_xbertscore,
)
