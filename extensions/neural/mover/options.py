"""Define word mover's scores as data; describe XMoverScore. Imports neither Django nor torch."""

import string
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast

from extensions.neural.mover import mapping
from metaeval.messages import message
from metrics.base import MetricError, MetricInfo
from metrics.families import long_texts
from metrics.options import (
    ACROSS_LIMITS,
    CHECKPOINT_HELP,
    ENCODER_LABEL,
    LAYER_LABEL,
    PRECISION,
    Family,
    Option,
    OptionError,
    Options,
    count_layers,
)

Distance = Literal["euclidean", "squared"]
Form = Literal["difference", "inverse"]

# Distances between vectors of length one.
GREATEST: dict[Distance, float] = {"euclidean": 2.0, "squared": 4.0}
_PUNCTUATION = frozenset(string.punctuation)


@dataclass(frozen=True)
class Definition:
    """Hold one of the definitions in use.

    ``whole_words`` drops pieces that are one ASCII punctuation character or contain "##". ``form``
    is 1 − cost or 1/(1 + cost). ``dropout`` is the share of small flows that are dropped, 0 for
    none.
    """

    whole_words: bool
    distance: Distance
    form: Form
    dropout: float = 0.0

    def score(self, cost: float) -> float:
        """Turn a transport cost into a score, higher being better."""
        return 1 - cost if self.form == "difference" else 1 / (1 + cost)

    @property
    def worst(self) -> float:
        """Return the score of two texts at the largest distance of vectors."""
        return self.score(GREATEST[self.distance])

    def chosen(self, pieces: Sequence[str]) -> list[int]:
        """Return the positions of the pieces that are used."""
        if not self.whole_words:
            return list(range(len(pieces)))
        return [i for i, each in enumerate(pieces) if each not in _PUNCTUATION and "##" not in each]


SIZES = (1, 2)
CORPUS_HELP = message("mover.corpus-help", "One sentence per line; blank for equal weights.")
LANGUAGE_MODEL = Option(
    "language-model",
    message("option.language-model", "Language model"),
    "checkpoint",
    "",
    help=message(
        "option.language-model-help",
        "A causal language model of the target language, such as gpt2; blank for none.",
    ),
)
LM_WEIGHT = Option(
    "lm-weight",
    message("option.lm-weight", "Weight of the language model"),
    "number",
    0.1,
    minimum=0,
)
MAPPING_LABEL = message("option.mapping", "Mapping")
_ZHAO = (
    "Zhao et al. 2020, On the limitations of cross-lingual encoders as exposed by reference-free "
    "machine translation evaluation"
)


@dataclass(frozen=True)
class Variant:
    """Hold one of the definitions in use; ``layer`` None is the last layer."""

    definition: Definition
    layer: int | None
    lm_form: Literal["log-probability", "probability"]


# The paper does not define which pieces are used and how a distance becomes a score: both are
# taken from the release published with it.
VARIANTS: dict[str, Variant] = {
    "paper": Variant(Definition(True, "euclidean", "difference"), None, "log-probability"),
    "release-2020": Variant(Definition(True, "squared", "difference"), 12, "log-probability"),
    "head-2022": Variant(Definition(False, "euclidean", "inverse"), 8, "probability"),
}


def definition(options: Options) -> Definition:
    """Return the definition that the options name, with their changes."""
    chosen = VARIANTS[str(options["definition"])].definition
    if options["distance"] != "definition":
        chosen = replace(chosen, distance=cast(Distance, options["distance"]))
    return replace(chosen, dropout=float(options["flow-dropout"]))


def make_info(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a score for each n, alone and, with a language model, combined."""
    has_lm = bool(options["language-model"])
    keys = [str(n) for n in SIZES]
    if has_lm:
        keys += [*(f"{n}-lm" for n in SIZES), "lm"]
    shown = f"{options['n']}-lm" if has_lm else str(options["n"])
    return MetricInfo(
        name=name,
        label=label,
        measures=tuple(f"{name}-{key}" for key in keys),
        measure_labels=tuple(f"{label} {_LABELS[key]}" for key in keys),
        needs_source=True,
        needs_reference=False,
        queue="gpu",
        description=message(
            "xmoverscore.about",
            "Word mover's score of source and output under layer {layer} of {checkpoint}; no "
            "reference is needed.",
            layer=options["layer"],
            checkpoint=str(options["checkpoint"]),
        ),
        citation=_ZHAO,
        shown=(f"{name}-{shown}",),
        checkpoint=str(options["checkpoint"]),
        family="xmoverscore",
        options=tuple(options.items()),
    )


_LABELS = {
    "1": "unigrams",
    "2": "bigrams",
    "1-lm": "unigrams + LM",
    "2-lm": "bigrams + LM",
    "lm": "LM",
}


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a configured metric; raise OptionError for options that do not fit together."""
    checkpoint, layers = str(options["checkpoint"]), count_layers(str(options["checkpoint"]))
    layer = resolve_layer(options, layers)
    if layer >= layers:
        problem = message(
            "xmoverscore.no-such-layer",
            "{checkpoint} has layers 0 to {last}, but not layer {layer}.",
            checkpoint=checkpoint,
            last=layers - 1,
            layer=layer,
        )
        if int(options["layer"]) < 0:
            problem = message(
                "xmoverscore.no-layer-of-definition",
                "{checkpoint} has layers 0 to {last}, but not layer {layer} of {definition}. "
                "Choose a layer.",
                checkpoint=checkpoint,
                last=layers - 1,
                layer=layer,
                definition=str(options["definition"]),
            )
        raise OptionError(problem, "layer")
    if options["flow-dropout"] and (options["idf-source"] or options["idf-target"]):
        problem = message(
            "xmoverscore.dropout-with-idf",
            "Flow dropout is defined for equal weights only, not with idf.",
        )
        raise OptionError(problem, "flow-dropout")
    if options["mapping"]:
        _check_mapping(Path(str(options["mapping"])), layer)
    return make_info(name, label, {**options, "layer": layer})


def resolve_layer(options: Options, layers: int) -> int:
    """Return the layer of the options, by default that of the definition."""
    if int(options["layer"]) >= 0:
        return int(options["layer"])
    own = VARIANTS[str(options["definition"])].layer
    return layers - 1 if own is None else own


def _check_mapping(folder: Path, layer: int) -> None:
    try:
        about = mapping.read_about(folder)
    except MetricError as error:
        raise OptionError(error.message, "mapping") from error
    if about.layer != layer:
        problem = message(
            "xmoverscore.mapping-layer",
            "The mapping was fitted for layer {fitted}, not for layer {layer}.",
            fitted=about.layer,
            layer=layer,
        )
        raise OptionError(problem, "mapping")


FAMILY = Family(
    key="xmoverscore",
    label="XMoverScore",
    description=message(
        "xmoverscore.family",
        "Word mover's score of source and output under a multilingual encoder.",
    ),
    limits=ACROSS_LIMITS,
    scorer="extensions.neural.mover.xmoverscore:XMoverScore",
    options=(
        Option("checkpoint", ENCODER_LABEL, "checkpoint", help=CHECKPOINT_HELP),
        Option(
            "definition",
            message("xmoverscore.definition", "Definition"),
            "choice",
            "release-2020",
            choices=tuple(VARIANTS),
            help=message(
                "xmoverscore.definition-help",
                "Determines the layer, the pieces, the distance and the form of the score.",
            ),
        ),
        Option(
            "layer",
            LAYER_LABEL,
            "integer",
            -1,
            minimum=-1,
            help=message("xmoverscore.layer-help", "−1 means the layer of the definition."),
        ),
        Option(
            "n",
            message("option.n-grams-shown", "N-grams shown"),
            "choice",
            "2",
            choices=tuple(str(n) for n in SIZES),
        ),
        Option(
            "distance",
            message("xmoverscore.distance", "Distance"),
            "choice",
            "definition",
            choices=("definition", "euclidean", "squared"),
        ),
        Option(
            "mapping",
            MAPPING_LABEL,
            "file",
            "",
            help=message(
                "xmoverscore.mapping-help", "The folder of a fitted mapping; blank for none."
            ),
        ),
        Option(
            "idf-source",
            message("mover.idf-sources", "Corpus for idf of sources"),
            "file",
            "",
            help=CORPUS_HELP,
        ),
        Option(
            "idf-target",
            message("mover.idf-outputs", "Corpus for idf of outputs"),
            "file",
            "",
            help=CORPUS_HELP,
        ),
        Option(
            "flow-dropout",
            message("xmoverscore.flow-dropout", "Flow dropout"),
            "number",
            0.0,
            minimum=0,
            maximum=0.9,
            help="Share of small flows that is cut; 0.3 in the release of 2022, 0 is exact.",
        ),
        LANGUAGE_MODEL,
        Option("weight", "Weight of the similarity", "number", 1.0, minimum=0),
        LM_WEIGHT,
        long_texts.OPTION,
        PRECISION,
    ),
    describe=describe,
    packages=("ot",),
)
