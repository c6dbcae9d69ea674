"""Describe BERTScore on any encoder. Imports neither Django nor torch: web and workers read it."""

from extensions.neural.bertscore import baseline
from metaeval.messages import Message, message
from metrics.base import MetricError, MetricInfo
from metrics.families import references
from metrics.options import (
    CHECKPOINT_HELP,
    ENCODER_LABEL,
    LAYER_HELP,
    PRECISION,
    Family,
    Given,
    Option,
    OptionError,
    Options,
    check_layer,
)

_SIDES = (("p", "P"), ("r", "R"), ("f", "F1"))
_ZHANG = "Zhang et al. 2020, BERTScore: evaluating text generation with BERT"


def make_info(
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


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a configured metric; read the number of layers from the checkpoint."""
    checkpoint, layer = str(options["checkpoint"]), int(options["layer"])
    layers = check_layer(checkpoint, layer)
    _check_baseline(checkpoint, str(options["baseline"]), layers)
    shown = (f"{layer}-{options['measure']}",)
    return make_info(name, label, checkpoint, layers=layers, shown=shown, given=options.items())


def _check_baseline(checkpoint: str, name: str, layers: int) -> None:
    """Raise OptionError for an unsuitable file on this machine; workers check other files."""
    try:
        path = baseline.locate(checkpoint, name) if name else None
    except MetricError:
        return
    if path is None or not path.exists():
        return
    try:
        baseline.read(path, layers)
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
FAMILY = Family(
    key="bertscore",
    label="BERTScore",
    description=message(
        "bertscore.family",
        "Token similarity of output and reference under any encoder. All layers are stored.",
    ),
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
        PRECISION,
    ),
    describe=describe,
)
