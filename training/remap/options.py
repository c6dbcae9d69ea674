"""Settings of projections. Imports neither Django nor torch: pages and workers read this."""

from extensions.neural.mover.mapping import KINDS
from extensions.neural.mover.options import LANGUAGE_MODEL, VARIANTS
from metaeval.messages import message
from metrics.options import Option

WORDS, SENTENCES = "words", "sentences"
# Always shown in the form; the others are folded.
MAIN = ("checkpoint", "layer", "projection", "units", "pairs")

OPTIONS = (
    Option(
        "checkpoint",
        message("remap.checkpoint", "Encoder"),
        "checkpoint",
        help=message("remap.checkpoint-help", "A name on the Hugging Face hub, or a local folder."),
    ),
    Option(
        "layer",
        message("remap.layer", "Layer"),
        "integer",
        -1,
        minimum=-1,
        help=message(
            "remap.layer-help",
            "The paper used layers 8 and 12 of multilingual BERT; −1 is the last layer.",
        ),
    ),
    Option(
        "projection",
        message("remap.projection", "Projection"),
        "choice",
        "clp",
        choices=KINDS,
        help=message(
            "remap.projection-help",
            "CLP is an orthogonal map (Procrustes) or an unconstrained one. UMD removes one "
            "direction, from the source side as in the released code, or from both as in the "
            "paper.",
        ),
    ),
    Option(
        "units",
        message("remap.units", "Fitted on"),
        "choice",
        WORDS,
        choices=(WORDS, SENTENCES),
        help=message(
            "remap.units-help",
            "Vectors of aligned words, or of whole sentences: the mean of their words, or LASER’s.",
        ),
    ),
    Option(
        "pairs",
        message("remap.pairs", "Sentence pairs"),
        "integer",
        2000,
        minimum=1,
        help=message(
            "remap.pairs-help",
            "How many pairs are used: the first of the corpus with fewer than 100 words on both "
            "sides.",
        ),
    ),
    Option(
        "reverse",
        message("remap.reverse", "Reverse the corpus"),
        "boolean",
        default=False,
        help=message(
            "remap.reverse-help",
            "Swaps source and target: an en–zh corpus can then be used for zh–en test sets.",
        ),
    ),
    Option(
        "alignments",
        message("remap.alignments", "File of word alignments"),
        "file",
        "",
        help=message(
            "remap.alignments-help",
            "A file on the worker: source tokens, target tokens and links i-j, separated by tabs. "
            "If blank, words are aligned automatically.",
        ),
    ),
    Option(
        "curve",
        message("remap.curve", "Curve of held-out cosines"),
        "boolean",
        default=False,
        help=message(
            "remap.curve-help",
            "Also fits on 100, 200, 500, 1,000 … 10,000 pairs and reports the cosines of held-out "
            "pairs for each.",
        ),
    ),
    Option(
        "definition",
        message("remap.definition", "Definition of XMoverScore"),
        "choice",
        "release-2020",
        choices=tuple(VARIANTS),
        help=message("remap.definition-help", "The definition of the resulting metric."),
    ),
    LANGUAGE_MODEL,
)
