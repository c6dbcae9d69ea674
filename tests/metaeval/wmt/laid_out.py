"""Published scores as mt-metrics-eval folders: those of WMT23, en-de, and MQM on TED talks."""

import csv
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import numpy as np
from sacrebleu.metrics import BLEU, CHRF

from metaeval.files import EvalSet, EvalSetScores, write_evalset
from tests.metaeval.published import numbers, table

FIGURES = Path(__file__).with_name("mtme.tsv")
P_VALUES = Path(__file__).with_name("mtme_pvalues.json")
SET = "wmt23-meta/en-de/"
# A human translation of its own, and the outlier of the year's table.
HUMAN = {"AIRC": "refA", "refA": ""}
OUTLIER = {"Lan-BridgeMT": "synthetic_ref"}
TED = "mqm-ted/zh-en/"


def figures(name: str) -> dict[str, dict[str, float]]:
    """Return task -> metric -> value that mt-metrics-eval gives for a set."""
    lines = (line for line in FIGURES.read_text().splitlines() if not line.startswith("#"))
    found: dict[str, dict[str, float]] = {}
    for row in csv.DictReader(lines, delimiter="\t"):
        if row["set"] == name:
            found.setdefault(row["task"], {})[row["metric"]] = float(row["value"])
    return found


def lay_out(
    folder: Path,
    pair: str,
    in_domain: Callable[[str], bool] = lambda _: True,
    reference: str = "refA",
    names: Mapping[str, str] | None = None,
    gold: tuple[str, str] = ("mqm", "mqm"),
) -> None:
    """Write the segments of some domains as a language pair, with systems renamed or excluded.

    ``gold`` is the column of human scores and the name that they get.
    """
    documents, whole, rows = (
        table(f"{SET}{name}.tsv") for name in ("documents", "system-scores", "segment-scores")
    )
    keys = zip(documents["domain"], documents["document"], strict=True)
    places = [place for place, (domain, _) in enumerate(keys) if in_domain(domain)]
    domains = sorted({documents["domain"][place] for place in places})
    renamed = {name: (names or {}).get(name, name) for name in whole["system"]}
    systems = {name: new for name, new in renamed.items() if new}
    n, is_whole = len(places), len(places) == len(documents["seg"])

    def levels(column: str) -> dict[str, EvalSetScores]:
        own = numbers(rows[column])
        by_system = {
            new: own[[r == name for r in rows["system"]]][places] for name, new in systems.items()
        }
        by_system = {name: each for name, each in by_system.items() if not np.isnan(each).all()}
        labels = np.array([documents["domain"][place] for place in places])
        means = {name: np.array([np.nanmean(each)]) for name, each in by_system.items()}
        if is_whole and column in whole:
            given = dict(zip(whole["system"], numbers(whole[column]), strict=True))
            of_new = {new: given[name] for name, new in systems.items()}
            means = {name: np.array([of_new[name]]) for name in means}
        of_domains = {
            name: np.array([np.nanmean(each[labels == domain]) for domain in domains])
            for name, each in by_system.items()
        }
        return {
            "seg": EvalSetScores(by_system),
            "sys": EvalSetScores(means),
            "domain": EvalSetScores(of_domains, tuple(domains)),
        }

    metrics = [name for name in whole if name not in ("system", "mqm", "da_sqm")]
    references = {reference: ("r",) * n}
    if "refA" in systems.values():
        references |= {"refA": ("r",) * n}
    write_evalset(
        EvalSet(
            name=folder.name,
            language_pair=pair,
            sources=("s",) * n,
            documents=tuple(
                (documents["domain"][place], documents["document"][place]) for place in places
            ),
            references=references,
            outputs=dict.fromkeys(systems.values(), ("o",) * n),
            human_scores={(gold[1], level): each for level, each in levels(gold[0]).items()},
            metric_scores={
                (name.replace("refA", reference), level): each
                for name in metrics
                for level, each in levels(name).items()
            },
        ),
        folder,
    )


def lay_out_three(folder: Path) -> None:
    """Write the domains of the pair as three language pairs."""
    lay_out(folder, "en-de", lambda name: name in ("news", "social"), names=OUTLIER)
    lay_out(folder, "he-en", lambda name: name == "speech", "refB", HUMAN)
    lay_out(folder, "zh-en", lambda name: name == "user_review", names=OUTLIER)


@cache
def scores_of_ted() -> dict[str, dict[str, np.ndarray]]:
    """Return sentence BLEU, chrF and a length score of the outputs by metric and system."""
    rows = table(f"{TED}outputs.tsv")
    texts: dict[str, list[str]] = {}
    for system, text in zip(rows["system"], rows["output"], strict=True):
        texts.setdefault(system, []).append(text)
    bleu, chrf, reference = BLEU(effective_order=True), CHRF(), texts.pop("ref")
    families = {
        "BLEU-refA": lambda text, ref: bleu.sentence_score(text, [ref]).score,
        "chrF-refA": lambda text, ref: chrf.sentence_score(text, [ref]).score,
        "YiSi-1-refA": lambda text, ref: -abs(len(text) - len(ref)),
    }
    return {
        name: {each: np.array([*map(family, own, reference)], float) for each, own in texts.items()}
        for name, family in families.items()
    }


def lay_out_ted(folder: Path, pair: str, outlier: str) -> None:
    """Write MQM on TED talks as a language pair, with sentence scores of sacreBLEU's metrics.

    The metrics read refA, which is also a judged system, as refB is; DIDI-NLP gets another name,
    such as that of an outlier.
    """
    segments, outputs, rows = (
        table(f"{TED}{n}.tsv") for n in ("segments", "outputs", "seg-scores")
    )
    places = {key: place for place, key in enumerate(segments["seg_id"])}
    names = {"ref": "refA", "DIDI-NLP": outlier}
    systems = list(dict.fromkeys(names.get(each, each) for each in outputs["system"]))
    texts = {each: [""] * len(places) for each in systems}
    for key, system, text in zip(
        outputs["seg_id"], outputs["system"], outputs["output"], strict=True
    ):
        texts[names.get(system, system)][places[key]] = text
    human = {each: np.full(len(places), np.nan) for each in systems}
    for key, system, score in zip(
        rows["seg_id"], rows["system"], numbers(rows["mqm"]), strict=True
    ):
        human[names.get(system, system)][places[key]] = score

    def levels(values: Mapping[str, np.ndarray]) -> dict[str, EvalSetScores]:
        means = {each: np.array([np.nanmean(row)]) for each, row in values.items()}
        return {
            "seg": EvalSetScores(dict(values)),
            "sys": EvalSetScores(means),
            "domain": EvalSetScores(means, ("ted",)),
        }

    scores = {
        name: {names.get(each, each): row for each, row in values.items()}
        for name, values in scores_of_ted().items()
    }
    write_evalset(
        EvalSet(
            name=folder.name,
            language_pair=pair,
            sources=tuple(segments["source"]),
            documents=tuple(("ted", each) for each in segments["doc"]),
            references={each: tuple(texts[each]) for each in ("refA", "refB")},
            outputs={each: tuple(text) for each, text in texts.items()},
            human_scores={("mqm", level): each for level, each in levels(human).items()},
            metric_scores={
                (name, level): each
                for name, values in scores.items()
                for level, each in levels(values).items()
            },
        ),
        folder,
    )


def lay_out_years(folder: Path) -> None:
    """Write a folder per year, whose pairs have MQM of two language pairs, DA+SQM and ESA."""
    mslc = dict.fromkeys(OUTLIER, "MSLC")
    lay_out(folder / "wmt23", "en-de", names=OUTLIER)
    lay_out_ted(folder / "wmt23", "zh-en", "synthetic_ref")
    lay_out(folder / "wmt24", "en-de", reference="refB", names=HUMAN | mslc)
    lay_out(folder / "wmt24", "en-es", names=mslc, gold=("da_sqm", "mqm"))
    lay_out_ted(folder / "wmt24", "ja-zh", "MSLC")
    lay_out(folder / "wmt25", "en-cs_CZ", gold=("esa_1", "esa-human1"))
    lay_out(folder / "wmt25", "en-it_IT", gold=("esa_2", "esa-human1"))
    lay_out_ted(folder / "wmt25", "ja-zh_CN", "DIDI-NLP")
