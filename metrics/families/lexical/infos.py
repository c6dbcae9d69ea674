"""The lexical metrics as the registry lists them. Importing this imports no scorer."""

from metrics.base import MetricInfo

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

METRICS: dict[str, tuple[MetricInfo, str]] = {
    "bleu-star": (
        MetricInfo(
            name="bleu-star",
            label="BLEU*",
            measures=("bleu-star",),
            measure_labels=("BLEU*",),
            statistics=_BLEU_STATISTICS,
            higher_is_better=True,
            needs_source=False,
            needs_reference=True,
            description="BLEU without the brevity penalty: shorter outputs are not punished.",
            citation="Cheng et al. 2023, Evaluating the efficacy of length-controllable machine "
            "translation",
        ),
        "metrics.families.lexical.bleu:BleuStar",
    ),
    "bleu": (
        MetricInfo(
            name="bleu",
            label="BLEU",
            measures=("bleu",),
            measure_labels=("BLEU",),
            statistics=_BLEU_STATISTICS,
            higher_is_better=True,
            needs_source=False,
            needs_reference=True,
            description="Corpus BLEU from summed n-gram counts; by segment, sentence BLEU.",
            citation=_PAPINENI,
        ),
        "metrics.families.lexical.bleu:Bleu",
    ),
    "sentbleu": (
        MetricInfo(
            name="sentbleu",
            label="sentBLEU",
            measures=("sentbleu",),
            measure_labels=("sentBLEU",),
            statistics=(),
            higher_is_better=True,
            needs_source=False,
            needs_reference=True,
            description="Sentence BLEU with effective order, averaged over segments.",
            citation=_PAPINENI,
        ),
        "metrics.families.lexical.bleu:SentBleu",
    ),
    "chrf": (
        MetricInfo(
            name="chrf",
            label="chrF",
            measures=("chrf",),
            measure_labels=("chrF",),
            statistics=_CHARACTER_STATISTICS,
            higher_is_better=True,
            needs_source=False,
            needs_reference=True,
            description="F-score of character n-grams, recall weighing twice.",
            citation="Popović 2015, chrF: character n-gram F-score for automatic MT evaluation",
        ),
        "metrics.families.lexical.chrf:Chrf",
    ),
    "chrf++": (
        MetricInfo(
            name="chrf++",
            label="chrF++",
            measures=("chrf++",),
            measure_labels=("chrF++",),
            statistics=_CHARACTER_STATISTICS + _WORD_STATISTICS,
            higher_is_better=True,
            needs_source=False,
            needs_reference=True,
            description="chrF with word unigrams and bigrams; prefer chrF for Chinese, Japanese.",
            citation="Popović 2017, chrF++: words helping character n-grams",
        ),
        "metrics.families.lexical.chrf:ChrfPlusPlus",
    ),
    "ter": (
        MetricInfo(
            name="ter",
            label="TER",
            measures=("ter",),
            measure_labels=("TER",),
            statistics=("edits", "reference-length"),
            higher_is_better=False,
            needs_source=False,
            needs_reference=True,
            description="Edits, block shifts included, per reference word; lower is better.",
            citation="Snover et al. 2006, A study of translation edit rate with targeted human "
            "annotation",
        ),
        "metrics.families.lexical.ter:Ter",
    ),
    "rouge": (
        MetricInfo(
            name="rouge",
            label="ROUGE",
            measures=(
                *("rouge1-p", "rouge1-r", "rouge1-f"),
                *("rouge2-p", "rouge2-r", "rouge2-f"),
                *("rougel-p", "rougel-r", "rougel-f"),
            ),
            measure_labels=(
                *("ROUGE1-P", "ROUGE1-R", "ROUGE1-F1"),
                *("ROUGE2-P", "ROUGE2-R", "ROUGE2-F1"),
                *("ROUGEL-P", "ROUGEL-R", "ROUGEL-F1"),
            ),
            statistics=(),
            higher_is_better=True,
            needs_source=False,
            needs_reference=True,
            description="Overlap of words, word pairs and longest common subsequence; over "
            "characters in Chinese and Japanese, without punctuation.",
            citation="Lin 2004, ROUGE: a package for automatic evaluation of summaries",
        ),
        "metrics.families.lexical.rouge:Rouge",
    ),
    "rouge-characters": (
        MetricInfo(
            name="rouge-characters",
            label="ROUGE (all characters)",
            measures=(
                *("rouge1-characters-p", "rouge1-characters-r", "rouge1-characters-f"),
                *("rouge2-characters-p", "rouge2-characters-r", "rouge2-characters-f"),
                *("rougel-characters-p", "rougel-characters-r", "rougel-characters-f"),
            ),
            measure_labels=(
                *("ROUGE1-P (characters)", "ROUGE1-R (characters)", "ROUGE1-F1 (characters)"),
                *("ROUGE2-P (characters)", "ROUGE2-R (characters)", "ROUGE2-F1 (characters)"),
                *("ROUGEL-P (characters)", "ROUGEL-R (characters)", "ROUGEL-F1 (characters)"),
            ),
            statistics=(),
            higher_is_better=True,
            needs_source=False,
            needs_reference=True,
            description="ROUGE over every character but white space, punctuation included.",
            citation="Lin 2004, ROUGE: a package for automatic evaluation of summaries",
        ),
        "metrics.families.lexical.rouge:RougeCharacters",
    ),
}
