"""Describe lexical metrics that can be configured. Imports neither Django nor torch."""

from dataclasses import replace

from metaeval.messages import message
from metrics.base import READING_WORDS, MetricInfo, one_measure
from metrics.families import references
from metrics.families.lexical.infos import METRICS
from metrics.options import Family, Option, Options

TOKENIZER = Option(
    "tokenizer",
    message("option.tokenizer", "Tokenizer"),
    "choice",
    "language",
    choices=("language", "13a", "characters", "whitespace"),
    help=message(
        "option.tokenizer-help",
        "How texts are split into words: by BLEU's tokenizer of the language, by mteval's 13a, "
        "into characters, or at white space (for tokenised text).",
    ),
)


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe WMT's sentBLEU."""
    return one_measure(
        name,
        label,
        needs_source=False,
        needs_reference=True,
        description=message(
            "sentbleu.about",
            "Sentence BLEU of the WMT metrics tasks, with add-one smoothing of every order; from 0 "
            "to 1.",
        ),
        citation="Lin and Och 2004, ORANGE: a method for evaluating automatic evaluation metrics",
        family="sentbleu-wmt",
        expects_raw_text=options["tokenizer"] != "whitespace",
        options=tuple(options.items()),
    )


def describe_one_by_one(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a metric of the registry that uses references one by one."""
    own = METRICS[str(options["metric"])][0]
    is_one = len(own.measures) == 1
    reading = READING_WORDS[str(options["references"])]
    first = options["references"] == "first"
    return replace(
        own,
        name=name,
        label=label,
        measures=(name,) if is_one else tuple(f"{name}-{each}" for each in own.measures),
        measure_labels=(label,) if is_one else tuple(f"{label} {w}" for w in own.measure_labels),
        leading=f"{name}-{own.leading}" if own.leading else "",
        variant_of="",
        same_segments_as="",
        statistics=own.statistics if first else (),
        description=message(
            "lexical.one-by-one-first",
            "{metric}. Of several references, {reading}.",
            metric=own.label,
            reading=reading,
        )
        if first
        else message(
            "lexical.one-by-one",
            "{metric}. Of several references, {reading}. The score of a system is the mean of its "
            "segments.",
            metric=own.label,
            reading=reading,
        ),
        family="lexical",
        options=tuple(options.items()),
    )


LEXICAL = Family(
    key="lexical",
    label=message("lexical.family", "BLEU, chrF, TER or ROUGE, references one by one"),
    description=message(
        "lexical.family-about",
        "For test sets with several references, if the metric's own rule for them is not suitable.",
    ),
    scorer="metrics.families.lexical.one_by_one:OneByOne",
    options=(
        Option("metric", message("option.metric", "Metric"), "choice", choices=tuple(METRICS)),
        references.option("first"),
    ),
    describe=describe_one_by_one,
)
FAMILY = Family(
    key="sentbleu-wmt",
    label="sentBLEU (WMT)",
    description=message(
        "sentbleu.family-about",
        "Sentence BLEU of the WMT metrics tasks, with a choice of tokenizer and case.",
    ),
    scorer="metrics.families.lexical.sentbleu:WmtSentBleu",
    options=(
        TOKENIZER,
        Option("lowercase", message("option.lowercase", "Convert to lower case"), "boolean", False),
        references.option("all", with_all=True),
    ),
    describe=describe,
)
