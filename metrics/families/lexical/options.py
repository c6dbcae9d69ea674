"""Lexical metrics that can be configured. Neither Django nor torch: web and workers read it."""

from dataclasses import replace

from metrics.base import READING_WORDS, MetricInfo, one_measure
from metrics.families import references
from metrics.families.lexical.infos import METRICS
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
        expects_raw_text=options["tokenizer"] != "whitespace",
        options=tuple(options.items()),
    )


def describe_one_by_one(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a metric of the registry that reads references one by one."""
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
        statistics=own.statistics if first else (),
        description=f"{own.label}; of several references {reading}."
        + ("" if first else " A system's score is the mean of its segments'."),
        family="lexical",
        options=tuple(options.items()),
    )


LEXICAL = Family(
    key="lexical",
    label="BLEU, chrF, TER or ROUGE, references one by one",
    description="For test sets with several references, where the metric's own rule is not wanted.",
    scorer="metrics.families.lexical.one_by_one:OneByOne",
    options=(
        Option("metric", "Metric", "choice", choices=tuple(METRICS)),
        references.option("first"),
    ),
    describe=describe_one_by_one,
)
FAMILY = Family(
    key="sentbleu-wmt",
    label="sentBLEU (WMT)",
    description="Sentence BLEU of the WMT metrics tasks, with a choice of words and case.",
    scorer="metrics.families.lexical.sentbleu:WmtSentBleu",
    options=(
        TOKENIZER,
        Option("lowercase", "Lower-case first", "boolean", False),
        references.option(
            "all",
            choices=("all", *references.CHOICES),
            more="all reads them at once, as BLEU does: an n-gram counts in any of them.",
        ),
    ),
    describe=describe,
)
