"""BERTScore on any encoder. Neither Django nor torch: web and workers read it."""

from extensions.neural.bertscore import baseline
from metrics.base import MetricError, MetricInfo
from metrics.families import references
from metrics.options import PRECISION, Family, Given, Option, Options, count_layers

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
    """Describe precision, recall and F1 of every hidden state, embeddings (layer 0) included."""
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
        description=f"Token similarity under {checkpoint}; all {layers} layers are kept, tables "
        "show the recommended one."
        + (" Pieces weigh by idf over the references of the test set." if chosen.get("idf") else "")
        + (f" Rescaled by {chosen['baseline']}." if chosen.get("baseline") else ""),
        citation=_ZHANG,
        checkpoint=checkpoint,
        shown=tuple(f"{name}-{measure}" for measure in shown),
        family="bertscore",
        depends_on_set=bool(chosen.get("idf")),
        options=given,
    )


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a configured one; the number of layers is read from the checkpoint."""
    checkpoint, layer = str(options["checkpoint"]), int(options["layer"])
    layers = count_layers(checkpoint)
    if layer >= layers:
        raise ValueError(f"Layer shown: {checkpoint} has layers 0 to {layers - 1}.")
    _check_baseline(checkpoint, str(options["baseline"]), layers)
    shown = (f"{layer}-{options['measure']}",)
    return make_info(name, label, checkpoint, layers=layers, shown=shown, given=options.items())


def _check_baseline(checkpoint: str, name: str, layers: int) -> None:
    """Raise ValueError for a file that is here and does not fit; others a worker checks."""
    try:
        path = baseline.locate(checkpoint, name) if name else None
    except MetricError:
        return
    if path is None or not path.exists():
        return
    try:
        baseline.read(path, layers)
    except MetricError as error:
        raise ValueError(f"{BASELINE.label}: {error.message}") from error


BASELINE = Option(
    "baseline",
    "Baselines for rescaling",
    "text",
    "",
    help="A file of bert-score with the columns LAYER,P,R,F: an absolute path, or a name in the "
    "checkpoint's folder. Without it values are not rescaled.",
)
FAMILY = Family(
    key="bertscore",
    label="BERTScore",
    description="Token similarity of output and reference under any encoder, all layers kept.",
    scorer="extensions.neural.bertscore.scorer:BertScore",
    options=(
        Option("checkpoint", "Encoder", "checkpoint", help="A hub's name or a local directory."),
        Option("layer", "Layer shown", "integer", minimum=0, help="0 is the embedding."),
        Option("measure", "Measure shown", "choice", "f", choices=("p", "r", "f")),
        Option(
            "idf",
            "Weigh by idf",
            "boolean",
            False,
            help="Inverse document frequency over all references of the test set, so that scores "
            "hang on the set.",
        ),
        BASELINE,
        references.option("best"),
        PRECISION,
    ),
    describe=describe,
)
