"""The lexical metrics as the registry lists them. Importing this imports no scorer."""

from itertools import product

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
    description: str,
    citation: str,
    statistics: tuple[str, ...] = (),
    *,
    higher_is_better: bool = True,
    expects_raw_text: bool = False,
) -> MetricInfo:
    return one_measure(
        name,
        label,
        statistics=statistics,
        higher_is_better=higher_is_better,
        expects_raw_text=expects_raw_text,
        needs_source=False,
        needs_reference=True,
        description=description,
        citation=citation,
    )


def _rouge(
    name: str, label: str, description: str, remarks: str, units: str = "", remark: str = ""
) -> MetricInfo:
    """Precision, recall and F1 of words, word pairs and the longest common subsequence."""
    cells = list(product("12L", (("P", "p"), ("R", "r"), ("F1", "f"))))
    return MetricInfo(
        name=name,
        label=label,
        measures=tuple(f"rouge{kind.lower()}{units}-{key}" for kind, (_, key) in cells),
        measure_labels=tuple(f"ROUGE{kind}-{word}{remark}" for kind, (word, _) in cells),
        needs_source=False,
        needs_reference=True,
        description=description,
        remarks=remarks,
        citation="Lin 2004, ROUGE: a package for automatic evaluation of summaries",
    )


_ENTRIES = (
    (
        _one(
            "bleu-star",
            "BLEU*",
            "BLEU without the brevity penalty: shorter outputs are not punished.",
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
            "Corpus BLEU from summed n-gram counts; by segment, sentence BLEU.",
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
            "Sentence BLEU with effective order, averaged over segments.",
            _PAPINENI,
            expects_raw_text=True,
        ),
        "bleu:SentBleu",
    ),
    (
        _one(
            "chrf",
            "chrF",
            "F-score of character n-grams, recall weighing twice.",
            "Popović 2015, chrF: character n-gram F-score for automatic MT evaluation",
            _CHARACTER_STATISTICS,
        ),
        "chrf:Chrf",
    ),
    (
        _one(
            "chrf++",
            "chrF++",
            "chrF with word unigrams and bigrams; prefer chrF for Chinese, Japanese.",
            "Popović 2017, chrF++: words helping character n-grams",
            _CHARACTER_STATISTICS + _WORD_STATISTICS,
        ),
        "chrf:ChrfPlusPlus",
    ),
    (
        _one(
            "ter",
            "TER",
            "Edits, block shifts included, per reference word; lower is better.",
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
            "Overlap of words, word pairs and longest common subsequence; over characters in "
            "Chinese and Japanese, without punctuation.",
            "Where the target language is English, the tokens are those of google's rouge-score "
            "without stemming: runs of a–z and 0–9, so that “Café” is caf. For every other "
            "language they differ: rouge-score drops all but a–z and 0–9, while here letters, "
            "marks and digits of every script are kept, and Chinese, Japanese, Thai, Lao, Khmer "
            "and Burmese are cut by character. Of “Über 3,5 GB – 我买了iPhone 15。” rouge-score "
            "keeps: ber 3 5 gb iphone 15; ROUGE here: über 3 5 gb 我 买 了 iphone 15. So scores of "
            "other languages cannot be compared with those of rouge-score. Nothing is stemmed.",
        ),
        "rouge:Rouge",
    ),
    (
        _rouge(
            "rouge-characters",
            "ROUGE (all characters)",
            "ROUGE over every character but white space, punctuation included.",
            "google's rouge-score has no such tokens: its scores cannot be compared with these.",
            "-characters",
            " (characters)",
        ),
        "rouge:RougeCharacters",
    ),
)
METRICS: dict[str, tuple[MetricInfo, str]] = {
    info.name: (info, f"metrics.families.lexical.{path}") for info, path in _ENTRIES
}
