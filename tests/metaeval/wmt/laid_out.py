"""WMT23's English-German scores as mt-metrics-eval folders, whole or as three language pairs."""

import csv
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from metaeval.files import EvalSet, EvalSetScores, write_evalset
from tests.metaeval.published import numbers, table

FIGURES = Path(__file__).with_name("mtme.tsv")
P_VALUES = Path(__file__).with_name("mtme_pvalues.json")
SET = "wmt23-meta/en-de/"
# A human translation of its own, and the outlier of the year's table.
HUMAN = {"AIRC": "refA", "refA": ""}
OUTLIER = {"Lan-BridgeMT": "synthetic_ref"}


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
) -> None:
    """Write the segments of some domains as a language pair, with systems renamed or excluded."""
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
        if is_whole:
            given = dict(zip(whole["system"], numbers(whole[column]), strict=True))
            means = {name: np.array([given[name]]) for name in means}
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
            human_scores={("mqm", level): each for level, each in levels("mqm").items()},
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
