"""YiSi's options. Neither Django nor torch: web and workers read it."""

from dataclasses import dataclass

from extensions.neural.xbertscore.options import COMPARE
from metrics.base import MetricInfo, one_measure
from metrics.families import references
from metrics.families.lexical.options import TOKENIZER
from metrics.options import PRECISION, Option, Options, check_layer, clean_all
from metrics.plugins import Plugin

_LO = "Lo 2019, YiSi: a unified semantic MT quality evaluation and estimation metric"

VECTORS = (
    Option(
        "vectors",
        "Vectors of the output's language",
        "file",
        help="A text file of word vectors (fastText's .vec).",
    ),
    Option(
        "source-vectors",
        "Vectors of the source's language",
        "file",
        "",
        help="Aligned with the other file; needed against the source.",
    ),
)
_MATCHING = (
    references.option(
        "best",
        more="The best is the largest precision with the largest recall. It matters only where "
        "references are compared.",
    ),
    Option("order", "n-gram size", "integer", 3, minimum=1, maximum=10),
    Option(
        "alpha",
        "Alpha",
        "number",
        0.8,
        minimum=0,
        maximum=1,
        help="Above 0.5 the score leans on recall.",
    ),
    Option(
        "weights",
        "Sentences for lexical weights",
        "file",
        "",
        help="One a line, of the side that outputs are compared with. Without it all weigh the "
        "same.",
    ),
    Option(
        "output-weights",
        "Sentences for the output's weights",
        "file",
        "",
        help="Against the source they are needed; against references the other file serves.",
    ),
)


@dataclass(frozen=True)
class _Kind:
    """What tells the three families apart in a description."""

    family: str
    units: str
    queue: str


def _make_info(name: str, label: str, options: Options, kind: _Kind) -> MetricInfo:
    compare = str(options.get("compare", "reference"))
    return one_measure(
        name,
        label,
        needs_source=compare == "source",
        needs_reference=compare == "reference",
        queue=kind.queue,
        description=f"Weighted {options['order']}-grams of {kind.units}, output against "
        f"{compare}, without semantic roles.",
        citation=_LO,
        checkpoint=str(options.get("checkpoint", "")),
        family=kind.family,
        options=tuple(options.items()),
    )


def _check_weights(options: Options) -> None:
    if options["output-weights"] and not options["weights"]:
        raise ValueError("Sentences for lexical weights: needed where the output has its own.")
    is_crossed = options.get("compare") == "source"
    if is_crossed and options["weights"] and not options["output-weights"]:
        raise ValueError("Sentences for the output's weights: needed against the source.")


def make_letters(name: str, label: str, options: Options) -> MetricInfo:
    """Describe YiSi-0."""
    _check_weights(options)
    kind = _Kind("yisi-0", "words, compared by their letters", "cpu")
    return _make_info(name, label, options, kind)


def make_contextual(name: str, label: str, options: Options) -> MetricInfo:
    """Describe YiSi-1 or YiSi-2 under an encoder."""
    _check_weights(options)
    units = f"pieces under {options['checkpoint']}, layer {options['layer']}"
    return _make_info(name, label, options, _Kind("yisi", units, "gpu"))


def make_static(name: str, label: str, options: Options) -> MetricInfo:
    """Describe YiSi-1 or YiSi-2 over word vectors."""
    _check_weights(options)
    check_vectors(options)
    return _make_info(name, label, options, _Kind("yisi-static", "words with vectors", "cpu"))


def check_vectors(options: Options) -> None:
    """Raise ValueError where vectors of the source are needed and not given."""
    if options.get("compare") == "source" and not options["source-vectors"]:
        raise ValueError("Vectors of the source's language: needed against the source.")


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a configured one; that the layer exists is read from the checkpoint."""
    check_layer(str(options["checkpoint"]), int(options["layer"]))
    return make_contextual(name, label, options)


PLUGIN = Plugin(
    label="YiSi",
    description="Weighted n-gram matching under an encoder: YiSi-1 against references, YiSi-2 "
    "against sources.",
    scorer="extensions.neural.yisi.contextual:YisiContextual",
    options=(
        Option("checkpoint", "Encoder", "checkpoint", "bert-base-multilingual-cased"),
        Option("layer", "Layer", "integer", 9, minimum=0, help="0 is the embedding."),
        COMPARE,
        *_MATCHING,
        PRECISION,
    ),
    describe=describe,
)
STATIC_PLUGIN = Plugin(
    label="YiSi over word vectors",
    description="YiSi-1 or YiSi-2 with a file of word vectors for each language.",
    scorer="extensions.neural.yisi.static:YisiStatic",
    options=(*VECTORS, COMPARE, TOKENIZER, *_MATCHING),
    describe=make_static,
)
LETTERS_PLUGIN = Plugin(
    label="YiSi-0",
    description="YiSi over words that are alike as far as they share letters.",
    scorer="extensions.neural.yisi.surface:Yisi0",
    options=(TOKENIZER, *_MATCHING),
    describe=make_letters,
)
KNOWN = (
    make_letters("yisi-0", "YiSi-0", clean_all(LETTERS_PLUGIN.options, {})),
    make_contextual("yisi-1", "YiSi-1", clean_all(PLUGIN.options, {"compare": "reference"})),
    make_contextual("yisi-2", "YiSi-2", clean_all(PLUGIN.options, {"compare": "source"})),
)
