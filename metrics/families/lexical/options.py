"""Describe lexical metrics, also configured ones. Imports neither Django, torch nor a scorer."""

from dataclasses import replace
from itertools import product

from metaeval.messages import Message, message
from metrics.base import READING_WORDS, MetricInfo, OptionValue, one_measure
from metrics.families import references
from metrics.options import Family, Option, OptionError, Options

_BLEU_STATISTICS = (
    *("hypothesis-length", "reference-length"),
    *("correct-1", "correct-2", "correct-3", "correct-4"),
    *("total-1", "total-2", "total-3", "total-4"),
)
_CHARACTER_STATISTICS = tuple(
    f"character-{order}-{side}"
    for order in range(1, 7)
    for side in ("hypothesis", "reference", "match")
)
_WORD_STATISTICS = tuple(
    f"word-{order}-{side}" for order in (1, 2) for side in ("hypothesis", "reference", "match")
)
_PAPINENI = "Papineni et al. 2002, BLEU: a method for automatic evaluation of machine translation"


def _one(
    name: str,
    label: str,
    description: Message,
    citation: str,
    statistics: tuple[str, ...] = (),
    *,
    higher_is_better: bool = True,
    expects_raw_text: bool = False,
    same_segments_as: str = "",
) -> MetricInfo:
    return one_measure(
        name,
        label,
        statistics=statistics,
        higher_is_better=higher_is_better,
        expects_raw_text=expects_raw_text,
        same_segments_as=same_segments_as,
        needs_source=False,
        needs_reference=True,
        description=description,
        citation=citation,
    )


def _rouge(
    name: str,
    label: str,
    description: Message,
    notes: Message,
    units: str = "",
    label_suffix: str = "",
    variant_of: str = "",
) -> MetricInfo:
    """Return the measures: precision, recall and F1 of words, word pairs and LCS.

    ROUGE-L F1 leads: it is the variant of Lin 2004 that papers on translation report.
    """
    cells = list(product("12L", (("P", "p"), ("R", "r"), ("F1", "f"))))
    return MetricInfo(
        name=name,
        label=label,
        measures=tuple(f"rouge{kind.lower()}{units}-{key}" for kind, (_, key) in cells),
        measure_labels=tuple(f"ROUGE{kind}-{word}{label_suffix}" for kind, (word, _) in cells),
        needs_source=False,
        leading=f"rougel{units}-f",
        variant_of=variant_of,
        needs_reference=True,
        description=description,
        notes=notes,
        citation="Lin 2004, ROUGE: a package for automatic evaluation of summaries",
    )


_ENTRIES = (
    (
        _one(
            "bleu-star",
            "BLEU*",
            message(
                "lexical.bleu-star",
                "BLEU without the brevity penalty, so that short outputs are not penalised.",
            ),
            "Cheng et al. 2023, Evaluating the efficacy of length-controllable machine translation",
            _BLEU_STATISTICS,
            expects_raw_text=True,
        ),
        "bleu:BleuStar",
    ),
    (
        _one(
            "bleu",
            "BLEU",
            message(
                "lexical.bleu",
                "Corpus BLEU from summed n-gram counts; sentence BLEU for segments.",
            ),
            _PAPINENI,
            _BLEU_STATISTICS,
            expects_raw_text=True,
        ),
        "bleu:Bleu",
    ),
    (
        _one(
            "sentbleu",
            "sentBLEU",
            message(
                "lexical.sentbleu", "Sentence BLEU with effective order, averaged over segments."
            ),
            _PAPINENI,
            expects_raw_text=True,
            same_segments_as="bleu",
        ),
        "bleu:SentBleu",
    ),
    (
        _one(
            "chrf",
            "chrF",
            message("lexical.chrf", "F-score of character n-grams; recall has twice the weight."),
            "Popović 2015, chrF: character n-gram F-score for automatic MT evaluation",
            _CHARACTER_STATISTICS,
        ),
        "chrf:Chrf",
    ),
    (
        _one(
            "chrf++",
            "chrF++",
            message(
                "lexical.chrf-plus-plus",
                "chrF with word unigrams and bigrams. Where words are not separated by blanks, as "
                "in Chinese, prefer chrF.",
            ),
            "Popović 2017, chrF++: words helping character n-grams",
            _CHARACTER_STATISTICS + _WORD_STATISTICS,
        ),
        "chrf:ChrfPlusPlus",
    ),
    (
        _one(
            "ter",
            "TER",
            message(
                "lexical.ter",
                "Edits, including block shifts, per reference word; lower is better.",
            ),
            "Snover et al. 2006, A study of translation edit rate with targeted human annotation",
            ("edits", "reference-length"),
            higher_is_better=False,
        ),
        "ter:Ter",
    ),
    (
        _rouge(
            "rouge",
            "ROUGE",
            message(
                "lexical.rouge",
                "Overlap of words, word pairs and the longest common subsequence, without "
                "punctuation; of characters in Chinese and Japanese.",
            ),
            message(
                "lexical.rouge-notes",
                "Words are not stemmed. If the target language is English, the tokens are those of "
                "google's rouge-score: runs of a–z and 0–9, so that “Café” becomes caf. For every "
                "other language they differ, so scores cannot be compared with those of "
                "rouge-score: rouge-score drops everything except a–z and 0–9, whereas ROUGE here "
                "keeps letters, marks and digits of every script, and splits Chinese, Japanese, "
                "Thai, Lao, Khmer and Burmese into characters. Of “Über 3,5 GB – 我买了iPhone "
                "15。” "
                "rouge-score keeps: ber 3 5 gb iphone 15; ROUGE here keeps: über 3 5 gb 我 买 了 "
                "iphone 15.",
            ),
        ),
        "rouge:Rouge",
    ),
    (
        _rouge(
            "rouge-characters",
            "ROUGE (all characters)",
            message(
                "lexical.rouge-characters",
                "ROUGE over all characters except white space, including punctuation.",
            ),
            message(
                "lexical.rouge-characters-notes",
                "google's rouge-score has no such tokens, so its scores cannot be compared with "
                "these.",
            ),
            "-characters",
            " (characters)",
            variant_of="rouge",
        ),
        "rouge:RougeCharacters",
    ),
)
METRICS: dict[str, tuple[MetricInfo, str]] = {
    info.name: (info, f"metrics.families.lexical.{path}") for info, path in _ENTRIES
}


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


_LIMITS = message(
    "limits.n-grams",
    "Needs no model. Correct translations in other words score low, and small differences between "
    "systems say little (Mathur et al. 2020). The tokenizer must fit the language.",
)
LEXICAL = Family(
    key="lexical",
    label=message("lexical.family-with-options", "BLEU, chrF, TER or ROUGE with options"),
    description=message(
        "lexical.family-with-options-about",
        "sacreBLEU's tokenizers, lower case and effective order, and other rules for several "
        "references.",
    ),
    limits=_LIMITS,
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
    limits=_LIMITS,
    scorer="metrics.families.lexical.bleu:WmtSentBleu",
    options=(
        *_TOKENIZERS,
        references.option("all", with_all=True),
    ),
    describe=describe,
)
