"""The metrics tasks of WMT 2023 to 2025 as data.

Sources: the task definitions and the descriptions of the test sets in mt-metrics-eval. The set of
2025 lists its baselines separately from its primary metrics; here every year ranks both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from metaeval.correlation.measure import Measure
from metaeval.messages import Message, MessageError, message

SYS, SEG = "sys", "seg"


class TaskError(MessageError, ValueError):
    """A year, language pair or folder does not fit the declared tasks."""


@dataclass(frozen=True)
class Pair:
    """How one language pair is evaluated.

    Attributes
    ----------
    gold
        Name of the human scores.
    reference
        The reference that metrics may use; as a system it is never compared.
    outliers
        Systems that are not compared.
    with_human
        Compare human translations other than the reference.
    """

    gold: str
    reference: str = "refA"
    outliers: tuple[str, ...] = ()
    with_human: bool = False


@dataclass(frozen=True)
class Statistic:
    """One statistic of a year.

    Attributes
    ----------
    name
        Short name in tables.
    level
        The scores that it reads: ``sys`` or ``seg``.
    measure
        What is computed from them.
    is_pooled
        One task over all pairs, with the weight of one task per pair.
    is_correlation
        Values are in [-1, 1] and enter averages as (value + 1) / 2.
    """

    name: str
    level: str
    measure: Measure
    is_pooled: bool = False
    is_correlation: bool = False


ACCURACY = Statistic("accuracy", SYS, Measure("pairwise_accuracy"), is_pooled=True)
SYSTEM_PEARSON = Statistic("sys-pearson", SYS, Measure("pearson"), is_correlation=True)
SEGMENT_PEARSON = Statistic("seg-pearson", SEG, Measure("pearson"), is_correlation=True)
ACC_EQ = Statistic("acc-eq", SEG, Measure("acc_eq"))
# The p-values of the values come from mt-metrics-eval's 1,000 sign flips, those of the tests from
# the limit of infinitely many.
SPA = Statistic("spa", SEG, Measure("soft_pairwise_accuracy"))


@dataclass(frozen=True)
class Year:
    """The tasks of one year: every statistic for every pair."""

    test_set: str
    pairs: Mapping[str, Pair]
    statistics: tuple[Statistic, ...]
    metrics: frozenset[str]
    baselines: frozenset[str]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MQM, _ESA = Pair("mqm"), Pair("esa-human1")

_BASELINES_2023 = _names(
    "BERTscore BLEU BLEURT-20 chrF COMET CometKiwi docWMT22CometDA docWMT22CometKiwiDA f200spBLEU "
    "MS-COMET-QE-22 prismRef prismSrc Random-sysname YiSi-1"
)
_BASELINES_2024 = _names(
    "BERTScore BLEU BLEURT-20 chrF COMET-22 CometKiwi PrismRefMedium PrismRefSmall spBLEU YiSi-1 "
    "sentinel-cand-mqm sentinel-ref-mqm sentinel-src-mqm"
)

YEARS: Mapping[int, Year] = {
    2023: Year(
        test_set="wmt23",
        pairs={
            "en-de": replace(_MQM, outliers=("synthetic_ref",)),
            "he-en": replace(_MQM, reference="refB", with_human=True),
            "zh-en": replace(_MQM, outliers=("synthetic_ref",)),
        },
        statistics=(ACCURACY, SYSTEM_PEARSON, SEGMENT_PEARSON, ACC_EQ),
        metrics=_names(
            "Calibri-COMET22 Calibri-COMET22-QE cometoid22-wmt22 eBLEU embed_llama GEMBA-MQM "
            "KG-BERTScore MaTESe MEE4 MetricX-23 MetricX-23-QE mre-score-labse-regular "
            "mbr-metricx-qe sescoreX tokengram_F XCOMET-Ensemble XCOMET-QE-Ensemble XLsim"
        ),
        baselines=_BASELINES_2023,
    ),
    2024: Year(
        test_set="wmt24",
        pairs={
            "en-de": Pair("mqm", "refB", ("MSLC",), with_human=True),
            "en-es": replace(_MQM, outliers=("MSLC",)),
            "ja-zh": replace(_MQM, outliers=("MSLC",)),
        },
        statistics=(SPA, ACC_EQ),
        metrics=_names(
            "BLCOM_1 bright-qe chrfS damonmonli gemba_esa MEE4 metametrics_mt_mqm_hybrid_kendall "
            "metametrics_mt_mqm_qe_kendall.seg.s MetricX-24-Hybrid MetricX-24-Hybrid-QE XCOMET "
            "XCOMET-QE XLsimMqm"
        ),
        baselines=_BASELINES_2024,
    ),
    2025: Year(
        test_set="wmt25",
        pairs={
            "cs-de_DE": _ESA,
            "cs-uk_UA": _ESA,
            "en-ar_EG": _ESA,
            "en-bho_IN": _ESA,
            "en-cs_CZ": _ESA,
            "en-et_EE": _ESA,
            "en-is_IS": _ESA,
            "en-it_IT": _ESA,
            "en-ja_JP": _ESA,
            "en-ko_KR": _MQM,
            "en-mas_KE": _ESA,
            "en-ru_RU": _ESA,
            "en-sr_Cyrl_RS": _ESA,
            "en-uk_UA": _ESA,
            "en-zh_CN": _ESA,
            "ja-zh_CN": _MQM,
        },
        statistics=(SPA, ACC_EQ),
        metrics=_names(
            "EnsembleSlick GEMBA-v2 MetricX-25 Polycand-2 Q_Relative-MQM SEGALE-QE TASER-No-Ref "
            "UvA-MT comet-multi hw-tsc mr7_2_1 rankedCOMET"
        ),
        baselines=_names("BERTScore BLEU COMET22 COMETKiwi22 YiSi-1 chrF sentinel-cand spBLEU"),
    ),
}


@dataclass(frozen=True)
class Task:
    """One statistic on one language pair, or pooled over several, and its share of the average."""

    pairs: Mapping[str, Pair]
    statistic: Statistic
    weight: float

    @property
    def name(self) -> str:
        """The statistic and, unless it is pooled, the language pair."""
        pairs = "all" if self.statistic.is_pooled else next(iter(self.pairs))
        return f"{pairs} {self.statistic.name}"


def tasks_of(year: int, pairs: Iterable[str], *, human: str = "") -> Sequence[Task]:
    """Return the tasks of a year on some of its language pairs; weights sum to 1.

    Parameters
    ----------
    pairs
        Language pairs of the year.
    human
        Name of other human scores to use as gold.

    Raises
    ------
    TaskError
        For a year or a pair without tasks.

    Examples
    --------
    >>> [(task.name, task.weight) for task in tasks_of(2024, ["en-es"])]
    [('en-es spa', 0.5), ('en-es acc-eq', 0.5)]
    >>> tasks_of(2023, ["en-de", "he-en", "zh-en"])[0].weight
    0.25
    """
    if year not in YEARS:
        raise TaskError(_unknown(str(year), map(str, YEARS)))
    declared = YEARS[year]
    chosen: dict[str, Pair] = {}
    for name in sorted(pairs):
        if name not in declared.pairs:
            raise TaskError(_unknown(name, declared.pairs))
        pair = declared.pairs[name]
        chosen[name] = replace(pair, gold=human) if human else pair
    if not chosen:
        raise TaskError(
            message("wmt.no-pairs", "There is no language pair of {year}.", year=str(year))
        )
    return tasks_over(declared.statistics, chosen)


def tasks_over(statistics: Iterable[Statistic], pairs: Mapping[str, Pair]) -> Sequence[Task]:
    """Return every statistic of every pair as a task; weights sum to 1.

    A pooled statistic is one task, which comes first and weighs as much as one task per pair.
    """
    statistics = list(statistics)
    # The pooled task compares human translations where any pair does.
    has_human = any(pair.with_human for pair in pairs.values())
    pooled = {name: replace(pair, with_human=has_human) for name, pair in pairs.items()}
    found = [Task(pooled, each, len(pairs)) for each in statistics if each.is_pooled]
    found += [
        Task({name: pair}, each, 1)
        for name, pair in pairs.items()
        for each in statistics
        if not each.is_pooled
    ]
    total = sum(task.weight for task in found)
    return [replace(task, weight=task.weight / total) for task in found]


def _unknown(name: str, known: Iterable[str]) -> Message:
    return message(
        "wmt.unknown", "There are no tasks of {name}. There are tasks of {known}.",
        name=name, known=list(known),
    )  # fmt: skip
