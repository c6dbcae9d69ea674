"""Texts that every lexical metric must score, by target language: ordinary, odd and hostile."""

from collections.abc import Sequence

import numpy as np

from metrics.base import Metric, Scores, SegmentInput

_LONG = " ".join(f"word{number % 977}" for number in range(10_000))

_ODD: list[tuple[str, tuple[str, ...]]] = [
    ("", ("a reference",)),
    ("", ("",)),
    ("a hypothesis", ("",)),
    ("   \t ", ("a reference",)),
    ("?!...,;:", ("Well, no.",)),
    ("Well, no.", ("?!",)),
    ("😀👩‍👩‍👧 🎉", ("😀 🎉🎉",)),
    ("❤️", ("❤️",)),
    ("\x01\x02 bell\x07 a\x1fb\u2028c\u200bd", ("bell ab cd",)),
    ("one\ntwo\r\nthree", ("one two three",)),
    ("&quot; x &amp; y &lt; z &quot;", ('" x & y < z "',)),
    ("<skipped> end-\nof-line", ("end-of-line",)),
    ("word", ("word",)),
    ("two words", ("two words",)),
    ("the the the the the the the", ("The cat is on the mat", "There is a cat on the mat")),
    ("a b c d", ("a b c d", "a b c d", "")),
    ("a b c d e f", ("d e f a b c", "a b", "a b c d e f g h i")),
]

_BY_LANGUAGE: dict[str, list[tuple[str, tuple[str, ...]]]] = {
    "en": [
        ("The dog bit the man.", ("The dog bit the man.", "The dog had bit the man.")),
        ("It wasn't surprising.", ("It was not unexpected.", "No one was surprised.")),
        ("The man had just bitten him.", ("The man bit him first.", "The man had bitten the dog.")),
        ("A café in Zürich costs 3.50 €.", ("The café in Zurich costs 3.5 euros.",)),
    ],
    "de": [("Über 3,5 Mio. Größen-Änderungen.", ("Mehr als 3,5 Mio. Änderungen der Größe.",))],
    "zh": [
        ("我买了一部iPhone 15手机，花了8999元。", ("我花8,999元买了iPhone 15。", "他买了手机。")),
        (
            "近日刚搬至旧金山的厨师被发现死于楼梯间。",
            ("近日搬到旧金山的一位厨师死于商场的楼梯间。",),
        ),
        ("“你好”——他说：《３Ｄ》", ("他说：“你好”",)),
        ("。，！", ("。",)),
    ],
    "ja": [
        ("これは日本語のテストです。", ("これは日本語の試験です。", "日本語のテスト。")),
        ("コーヒーを2杯飲んだ。ABC!", ("珈琲を２杯飲みました。",)),
        ("人々〇ー", ("人々",)),
    ],
    "ko": [
        ("나는 어제 학교에 갔다.", ("어제 나는 학교에 갔습니다.", "학교에 갔다.")),
        ("iPhone 15를 8,999원에 샀다!", ("그는 휴대폰을 샀다.",)),
    ],
    "ru": [("Мама мыла раму, а папа — нет.", ("Мама мыла раму; папа не мыл.",))],
    "ar": [("ذهب الولد إلى المدرسة؟", ("ذهب الولدُ إلى المدرسةِ.",))],
    "hi": [("मैं हिन्दी बोलता हूँ।", ("मैं हिंदी बोलती हूँ।",))],
    "th": [("ฉันรักภาษาไทย 100%", ("ฉันชอบภาษาไทย",))],
}

LANGUAGES = tuple(_BY_LANGUAGE)
LONG = SegmentInput("", f"{_LONG} end", ("word1 word2 a short reference word976 word0 end",))


def inputs(language: str, *, n_references: int | None = None) -> list[SegmentInput]:
    """All examples of a target language; with ``n_references``, that many each, by repetition."""
    pairs = _BY_LANGUAGE[language] + _ODD
    return [
        SegmentInput("", hypothesis, _resize(references, n_references))
        for hypothesis, references in pairs
    ]


def _resize(references: tuple[str, ...], size: int | None) -> tuple[str, ...]:
    return references if size is None else (references * size)[:size]


def streams(segments: Sequence[SegmentInput]) -> list[list[str | None]]:
    """References as sacrebleu's ``corpus_score`` wants them: one stream each, padded with None."""
    longest = max(len(segment.references) for segment in segments)
    padded = [(*s.references, *[None] * (longest - len(s.references))) for s in segments]
    return [list(stream) for stream in zip(*padded, strict=True)]


def corpus_score(metric: Metric, scores: Scores) -> float:
    """The corpus score of one system from the rows of :meth:`Metric.score`."""
    summed = scores[:, len(metric.info.measures) :].sum(axis=0, keepdims=True)
    return float(np.squeeze(metric.corpus(summed)))
