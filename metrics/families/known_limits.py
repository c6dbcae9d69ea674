"""State for each family of metrics its size, its languages, and how it fails, with sources."""

from metaeval.messages import Message, message
from metrics.base import IMPORTED

_ENCODER = message(
    "limits.encoder",
    "Its size and languages are those of the encoder, such as 178 million weights and 104 "
    "languages of multilingual BERT. Errors in few words change the score little if the texts are "
    "alike otherwise (Hanna and Bojar 2021). Texts that share few words score low (Kaster et al. "
    "2021).",
)
_ACROSS = message(
    "limits.across-languages",
    "Its size and languages are those of the encoder. Encoders place languages apart and prefer "
    "literal translations, so that scores may rank word-by-word translations above good ones (Zhao "
    "et al. 2020).",
)
_VECTORS = message(
    "limits.word-vectors",
    "Needs a file of word vectors for each language, aligned across languages if it compares with "
    "sources. Each word has one vector in all contexts, and word order counts within n-grams only.",
)
_BASELINE = message(
    "limits.baseline",
    "A baseline, which does not measure quality: use it to see what a metric is worth (Perrella et "
    "al. 2024).",
)
_N_GRAMS = message(
    "limits.n-grams",
    "Needs no model. Correct translations in other words score low, and small differences between "
    "systems say little (Mathur et al. 2020). The tokenizer must fit the language.",
)
_TRAINED = message(
    "limits.trained-here",
    "Knows only the languages and the kind of text that it was trained on. Its own page shows its "
    "results on held-out texts.",
)
LIMITS: dict[str, Message] = {
    "lexical": _N_GRAMS,
    "sentbleu-wmt": _N_GRAMS,
    "floor": _BASELINE,
    "sentinel": _BASELINE,
    "trained-sentinel": _BASELINE,
    "bertscore": _ENCODER,
    "moverscore": _ENCODER,
    "xbertscore": _ACROSS,
    "xmoverscore": _ACROSS,
    "cosine": _ACROSS,
    "sentsim": _ACROSS,
    "yisi": _ENCODER,
    "yisi-static": _VECTORS,
    "wmd": _VECTORS,
    "yisi-0": message(
        "limits.letters",
        "Needs no model. Words are alike if they share letters, so synonyms score as errors do, "
        "and the language needs an alphabet.",
    ),
    "comet": message(
        "limits.comet",
        "COMET-22 has 580 million weights, xCOMET-XL 3.5 and XXL 10.7 billion, for about 100 "
        "languages of XLM-R. Wrong numbers and names change the score little (Amrhein and Sennrich "
        "2022). Empty outputs and outputs in another language may score well, and scores of "
        "language pairs cannot be compared (Zouhar et al. 2024).",
    ),
    "bleurt": message(
        "limits.bleurt",
        "BLEURT-20 has 579 million weights and was tested on 13 languages (Pu et al. 2021). Some "
        "fixed texts score well against any reference (Yan et al. 2023).",
    ),
    "metricx": message(
        "limits.metricx",
        "Large, XL and XXL have 1.2, 3.7 and 13 billion weights, for 101 languages of mT5. "
        "MetricX-23 misses omissions, missing punctuation and fluent texts that are unrelated to "
        "the source (Juraska et al. 2024).",
    ),
    "likelihood": message(
        "limits.likelihood",
        "Its size and languages are those of the model. Some fixed texts score well against any "
        "reference (Yan et al. 2023), and outputs of the same model score better than those of "
        "others (Liu et al. 2024).",
    ),
    "judge": message(
        "limits.judge",
        "Costs money or a large model for each text. Scores fall on few values (Kocmi and "
        "Federmann 2023), depend on prompt and version, and models prefer their own outputs "
        "(Panickssery et al. 2024).",
    ),
    "refreeeval": _TRAINED,
    "refreeeval-head": _TRAINED,
    "ibm1": message(
        "limits.ibm1",
        "Knows the words of its parallel text only, and ignores word order: a shuffled output "
        "scores the same.",
    ),
    IMPORTED: message(
        "limits.imported", "Its limits are those of the program that computed the scores."
    ),
}


def limits_of(family: str) -> Message | None:
    """Return what is known of a family; None for plug-ins. Metrics without a family are lexical."""
    return LIMITS.get(family or "lexical")
