"""Describe YiSi's options. Imports neither Django nor torch: web and workers read it."""

from dataclasses import dataclass

from extensions.neural.bertscore.options import COMPARE, COMPARED
from metaeval.messages import Message, message
from metrics.base import MetricInfo, one_measure
from metrics.families import long_texts, references
from metrics.families.lexical.options import TOKENIZER
from metrics.options import (
    ENCODER_LABEL,
    ENCODER_LIMITS,
    LAYER_HELP,
    LAYER_LABEL,
    PRECISION,
    Option,
    OptionError,
    Options,
    check_layer,
    clean_all,
)
from metrics.plugins import Plugin

_LO = "Lo 2019, YiSi: a unified semantic MT quality evaluation and estimation metric"

N_GRAM_SIZE = message("option.n-gram-size", "N-gram size")
VECTORS_LIMITS = message(
    "limits.word-vectors",
    "Needs a file of word vectors for each language, aligned across languages if it compares with "
    "sources. Each word has one vector in all contexts, and word order counts within n-grams only.",
)
VECTORS = (
    Option(
        "vectors",
        message("option.vectors", "Vectors of the output's language"),
        "file",
        help=message("option.vectors-help", "A text file of word vectors (fastText's .vec)."),
    ),
    Option(
        "source-vectors",
        message("option.source-vectors", "Vectors of the source's language"),
        "file",
        "",
        help=message(
            "option.source-vectors-help",
            "Aligned with the other file. Required if outputs are compared with the source.",
        ),
    ),
)
_MATCHING = (
    references.option("best"),
    Option("order", N_GRAM_SIZE, "integer", 3, minimum=1, maximum=10),
    Option(
        "alpha",
        message("yisi.alpha", "Alpha"),
        "number",
        0.8,
        minimum=0,
        maximum=1,
        help=message("yisi.alpha-help", "Above 0.5, recall has more weight than precision."),
    ),
    Option(
        "weights",
        message("yisi.weights", "Sentences for lexical weights"),
        "file",
        "",
        help=message(
            "yisi.weights-help",
            "One sentence per line, of the side that outputs are compared with. Leave blank for "
            "equal weights.",
        ),
    ),
    Option(
        "output-weights",
        message("yisi.output-weights", "Sentences for the weights of outputs"),
        "file",
        "",
        help=message(
            "yisi.output-weights-help",
            "Required if outputs are compared with the source. Otherwise the other file is used.",
        ),
    ),
)


@dataclass(frozen=True)
class _Kind:
    """Hold the differences between the three families in a description."""

    family: str
    units: Message
    queue: str


def _make_info(name: str, label: str, options: Options, kind: _Kind) -> MetricInfo:
    compare = str(options.get("compare", "reference"))
    return one_measure(
        name,
        label,
        needs_source=compare == "source",
        needs_reference=compare == "reference",
        queue=kind.queue,
        description=message(
            "yisi.about",
            "Weighted {order}-grams of {units}, output against {compared}, without semantic roles.",
            order=options["order"],
            units=kind.units,
            compared=COMPARED[compare],
        ),
        citation=_LO,
        checkpoint=str(options.get("checkpoint", "")),
        family=kind.family,
        options=tuple(options.items()),
    )


_NEEDED = message(
    "yisi.needed-for-sources", "This file is required if outputs are compared with the source."
)


def _check_weights(options: Options) -> None:
    if options["output-weights"] and not options["weights"]:
        problem = message(
            "yisi.weights-needed", "This file is required if there is a file for outputs."
        )
        raise OptionError(problem, "weights")
    is_crossed = options.get("compare") == "source"
    if is_crossed and options["weights"] and not options["output-weights"]:
        raise OptionError(_NEEDED, "output-weights")


def make_letters(name: str, label: str, options: Options) -> MetricInfo:
    """Describe YiSi-0."""
    _check_weights(options)
    units = message("yisi.units-letters", "words, compared by their letters")
    kind = _Kind("yisi-0", units, "cpu")
    return _make_info(name, label, options, kind)


def make_contextual(name: str, label: str, options: Options) -> MetricInfo:
    """Describe YiSi-1 or YiSi-2 under an encoder."""
    _check_weights(options)
    units = message(
        "yisi.units-pieces",
        "pieces under {checkpoint}, layer {layer}",
        checkpoint=str(options["checkpoint"]),
        layer=options["layer"],
    )
    return _make_info(name, label, options, _Kind("yisi", units, "gpu"))


def make_static(name: str, label: str, options: Options) -> MetricInfo:
    """Describe YiSi-1 or YiSi-2 over word vectors."""
    _check_weights(options)
    check_vectors(options)
    units = message("yisi.units-vectors", "words with vectors")
    return _make_info(name, label, options, _Kind("yisi-static", units, "cpu"))


def check_vectors(options: Options) -> None:
    """Raise OptionError if vectors of the source are required and missing."""
    if options.get("compare") == "source" and not options["source-vectors"]:
        raise OptionError(_NEEDED, "source-vectors")


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a configured metric; the checkpoint must have the layer."""
    check_layer(str(options["checkpoint"]), int(options["layer"]))
    return make_contextual(name, label, options)


PLUGIN = Plugin(
    label="YiSi",
    description=message(
        "yisi.family",
        "Weighted n-gram matching under an encoder: YiSi-1 against references, YiSi-2 against "
        "sources.",
    ),
    limits=ENCODER_LIMITS,
    scorer="extensions.neural.yisi.contextual:YisiContextual",
    options=(
        Option("checkpoint", ENCODER_LABEL, "checkpoint", "bert-base-multilingual-cased"),
        Option("layer", LAYER_LABEL, "integer", 9, minimum=0, help=LAYER_HELP),
        COMPARE,
        *_MATCHING,
        long_texts.OPTION,
        PRECISION,
    ),
    describe=describe,
)
STATIC_PLUGIN = Plugin(
    label=message("yisi.family-vectors", "YiSi over word vectors"),
    description=message(
        "yisi.family-vectors-about",
        "YiSi-1 or YiSi-2 with a file of word vectors for each language.",
    ),
    limits=VECTORS_LIMITS,
    scorer="extensions.neural.yisi.words:YisiStatic",
    options=(*VECTORS, COMPARE, TOKENIZER, *_MATCHING),
    describe=make_static,
)
LETTERS_PLUGIN = Plugin(
    label="YiSi-0",
    description=message(
        "yisi.family-letters", "YiSi over words; two words are similar if they share letters."
    ),
    limits=message(
        "limits.letters",
        "Needs no model. Words are alike if they share letters, so synonyms score as errors do, "
        "and the language needs an alphabet.",
    ),
    scorer="extensions.neural.yisi.words:Yisi0",
    options=(TOKENIZER, *_MATCHING),
    describe=make_letters,
)
KNOWN = (
    make_letters("yisi-0", "YiSi-0", clean_all(LETTERS_PLUGIN.options, {})),
    make_contextual("yisi-1", "YiSi-1", clean_all(PLUGIN.options, {"compare": "reference"})),
    make_contextual("yisi-2", "YiSi-2", clean_all(PLUGIN.options, {"compare": "source"})),
)
