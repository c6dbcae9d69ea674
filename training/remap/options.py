"""What can be set of a projection. Neither Django nor torch: pages and workers read it."""

from extensions.neural.xmoverscore.mapping import KINDS
from extensions.neural.xmoverscore.options import LANGUAGE_MODEL, VARIANTS
from metrics.options import Option

WORDS, SENTENCES = "words", "sentences"
# Shown open in the form; the others are folded.
MAIN = ("checkpoint", "layer", "projection", "units", "pairs")

OPTIONS = (
    Option("checkpoint", "Encoder", "checkpoint", help="A hub's name or a local directory."),
    Option(
        "layer",
        "Layer",
        "integer",
        -1,
        minimum=-1,
        help="The paper used 8 and 12 of multilingual BERT; −1 is the last.",
    ),
    Option(
        "projection",
        "Projection",
        "choice",
        "clp",
        choices=KINDS,
        help="CLP is orthogonal (Procrustes), or unconstrained; UMD removes one direction, from "
        "the source side as released or from both as in the paper.",
    ),
    Option(
        "units",
        "Fitted to",
        "choice",
        WORDS,
        choices=(WORDS, SENTENCES),
        help="Aligned words, or whole sentences by the mean of their words.",
    ),
    Option(
        "pairs",
        "Sentence pairs",
        "integer",
        2000,
        minimum=1,
        help="The first so many of the corpus with fewer than 100 words on both sides.",
    ),
    Option(
        "reverse",
        "Turn the corpus round",
        "boolean",
        default=False,
        help="Its target becomes the source: an en–zh corpus then serves zh–en test sets.",
    ),
    Option(
        "alignments",
        "File of word alignments",
        "file",
        "",
        help="On the worker: tokens of the source, tokens of the target and links i-j, "
        "separated by tabs. Empty: the words are aligned here.",
    ),
    Option(
        "curve",
        "Curve of held-out cosines",
        "boolean",
        default=False,
        help="Also fits to 100, 200, 500, 1,000 … 10,000 pairs and gives the cosines of held-out "
        "pairs for each; not their correlation with human scores, which figure 4 of the paper has.",
    ),
    Option(
        "definition",
        "Definition of XMoverScore",
        "choice",
        "release-2020",
        choices=tuple(VARIANTS),
        help="Of the metric that comes of it.",
    ),
    LANGUAGE_MODEL,
)
