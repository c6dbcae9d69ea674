"""Describe lexical metrics that can be configured. Imports neither Django nor torch."""

from dataclasses import replace

from metaeval.messages import message
from metrics.base import READING_WORDS, MetricInfo, OptionValue, one_measure
from metrics.families import references
from metrics.families.lexical.infos import METRICS
from metrics.options import Family, Option, OptionError, Options

TOKENIZER = Option(
    "tokenizer",
    message("option.tokenizer", "Tokenizer"),
    "choice",
    "language",
    choices=("language", "13a", "intl", "characters", "whitespace", "zh", "ja-mecab", "ko-mecab"),
    help=message(
        "option.tokenizers-help",
        "How texts are split into words: by BLEU's tokenizer of the language, by one of "
        "sacreBLEU's, into characters, or at white space (for tokenised text).",
    ),
)
_TOKENIZERS = (
    replace(TOKENIZER, choices=(*TOKENIZER.choices, "flores200")),
    Option(
        "tokenizer-model",
        message("option.tokenizer-model", "Model of flores200"),
        "file",
        "",
        help=message(
            "option.tokenizer-model-help",
            "The path of flores200_sacrebleu_tokenizer_spm.model on workers, for the tokenizer "
            "flores200.",
        ),
        is_rare=True,
    ),
    Option("lowercase", message("option.lowercase", "Convert to lower case"), "boolean", False),
)
_EFFECTIVE_ORDER = Option(
    "effective-order",
    message("option.effective-order", "Effective order"),
    "choice",
    "segments",
    choices=("segments", "yes", "no"),
    help=message(
        "option.effective-order-help",
        "Orders of n-grams that a text is too short for do not count: in segments only, as in "
        "sacreBLEU, also in the scores of systems, or nowhere.",
    ),
    is_rare=True,
)
# The options of each metric besides its references; the other metrics have none.
_OF_BLEU = ("tokenizer", "tokenizer-model", "lowercase", "effective-order")
_OWN = {
    **dict.fromkeys(("bleu", "bleu-star", "sentbleu"), _OF_BLEU),
    **dict.fromkeys(("chrf", "chrf++"), ("lowercase",)),
}


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe WMT's sentBLEU."""
    _check_model(options)
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


def _check_model(options: Options) -> None:
    if (options["tokenizer"] == "flores200") != bool(options["tokenizer-model"]):
        problem = message(
            "lexical.model-of-flores200",
            "The tokenizer flores200 needs the path of its model. The other tokenizers take no "
            "path.",
        )
        raise OptionError(problem, "tokenizer-model")


def _applicable(own: MetricInfo, options: Options) -> dict[str, OptionValue]:
    """Return the options that a metric has; OptionError if another was changed."""
    names = ("metric", "references", *_OWN.get(own.name, ()))
    for each in LEXICAL.options:
        if each.name not in names and options[each.name] != each.default:
            problem = message(
                "lexical.option-of-others", "{metric} has no such option.", metric=own.label
            )
            raise OptionError(problem, each.name)
    _check_model(options)
    return {name: options[name] for name in names}


def describe_lexical(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a metric of the registry with options.

    Raises OptionError for options that the metric does not have.
    """
    own = METRICS[str(options["metric"])][0]
    applicable = _applicable(own, options)
    is_one = len(own.measures) == 1
    chosen = str(options["references"])
    reading = READING_WORDS[own.references if chosen == "all" else chosen]
    is_whole = chosen in ("all", "first")
    return replace(
        own,
        name=name,
        label=label,
        measures=(name,) if is_one else tuple(f"{name}-{each}" for each in own.measures),
        measure_labels=(label,) if is_one else tuple(f"{label} {w}" for w in own.measure_labels),
        leading=f"{name}-{own.leading}" if own.leading else "",
        variant_of="",
        same_segments_as="",
        statistics=own.statistics if is_whole else (),
        description=message(
            "lexical.one-by-one-first",
            "{metric}. Of several references, {reading}.",
            metric=own.label,
            reading=reading,
        )
        if is_whole
        else message(
            "lexical.one-by-one",
            "{metric}. Of several references, {reading}. The score of a system is the mean of its "
            "segments.",
            metric=own.label,
            reading=reading,
        ),
        family="lexical",
        expects_raw_text=own.expects_raw_text and options["tokenizer"] != "whitespace",
        options=tuple(applicable.items()),
    )


LEXICAL = Family(
    key="lexical",
    label=message("lexical.family-with-options", "BLEU, chrF, TER or ROUGE with options"),
    description=message(
        "lexical.family-with-options-about",
        "sacreBLEU's tokenizers, lower case and effective order, and other rules for several "
        "references.",
    ),
    scorer="metrics.families.lexical.one_by_one:OneByOne",
    options=(
        Option("metric", message("option.metric", "Metric"), "choice", choices=tuple(METRICS)),
        *_TOKENIZERS,
        _EFFECTIVE_ORDER,
        references.option("all", with_all=True),
    ),
    describe=describe_lexical,
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
        *_TOKENIZERS,
        references.option("all", with_all=True),
    ),
    describe=describe,
)
