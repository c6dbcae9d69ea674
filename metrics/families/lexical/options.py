"""Lexical metrics that can be configured. Neither Django nor torch: web and workers read it."""

from metrics.base import MetricInfo, one_measure
from metrics.options import Family, Option, Options

TOKENIZER = Option(
    "tokenizer",
    "Words",
    "choice",
    "language",
    choices=("language", "13a", "characters", "whitespace"),
    help="How texts are cut: as BLEU cuts the language, always as mteval's 13a, into "
    "characters, or at blanks (tokenised text).",
)


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe WMT's sentBLEU."""
    return one_measure(
        name,
        label,
        needs_source=False,
        needs_reference=True,
        description="Sentence BLEU of the WMT metrics tasks: one added to every order; 0 to 1.",
        citation="Lin and Och 2004, ORANGE: a method for evaluating automatic evaluation metrics",
        family="sentbleu-wmt",
        options=tuple(options.items()),
    )


FAMILY = Family(
    key="sentbleu-wmt",
    label="sentBLEU (WMT)",
    description="Sentence BLEU of the WMT metrics tasks, with a choice of words and case.",
    scorer="metrics.families.lexical.sentbleu:WmtSentBleu",
    options=(
        TOKENIZER,
        Option("lowercase", "Lower-case first", "boolean", False),
    ),
    describe=describe,
)
