"""List the lexical metrics for the registry, without importing a scorer."""

from itertools import product

from metaeval.messages import Message, message
from metrics.base import MetricInfo, one_measure

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
