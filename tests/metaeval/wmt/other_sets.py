"""Direct assessments of WMT17 and WMT21 with scores of metrics, as systems × segments."""

from collections.abc import Mapping

import numpy as np
from sacrebleu.metrics import BLEU, CHRF

from tests.metaeval.published import numbers, pivot, table

Scores = tuple[np.ndarray, Mapping[str, np.ndarray]]


def segments_of_2017(pair: str) -> Scores:
    """Human z-scores of 560 outputs, and the sentence BLEU that was published with them."""
    rows = table(f"wmt17/{pair}/seg-human.tsv")
    human, bleu = (
        pivot(rows["system"], rows["sid"], numbers(rows[name]))[0]
        for name in ("human_z", "repo_sentbleu")
    )
    return human, {"sentBLEU": bleu}


def systems_of_2017(pair: str) -> Scores:
    """Human z-scores of systems, with BLEU and chrF over the whole set."""
    rows = table(f"wmt17/{pair}/sys-human.tsv")
    metrics = {"BLEU": "check_bleu_full", "chrF": "check_chrf_full"}
    return numbers(rows["human_z"])[:, None], {
        name: numbers(rows[column])[:, None] for name, column in metrics.items()
    }


def segments_of_2021() -> Scores:
    """Published z-scores of the crowd's Russian-English outputs, and scores of sacreBLEU."""
    root = "raw-crowd-da/wmt21-ru-en/"
    segments, outputs = table(f"{root}segments.tsv"), table(f"{root}outputs.tsv")
    rows = table(f"{root}published-segment-scores.tsv")
    reference = dict(zip(segments["sid"], segments["reference_a"], strict=True))
    names = sorted(set(outputs["system"]))
    human = dict(zip(zip(rows["system"], rows["sid"], strict=True), numbers(rows["z_mean"]),
                     strict=True))  # fmt: skip
    keys = list(zip(outputs["system"], outputs["sid"], strict=True))
    values = {"human": np.array([human.get(key, np.nan) for key in keys])}
    for name, metric in (("BLEU", BLEU(effective_order=True)), ("chrF", CHRF())):
        scores = [
            metric.sentence_score(text, [reference[sid]]).score
            for text, sid in zip(outputs["output"], outputs["sid"], strict=True)
        ]
        values[name] = np.array(scores)
    grids = {name: pivot(*zip(*keys, strict=True), own) for name, own in values.items()}
    assert grids["human"][1] == names
    matrix = {name: found[0] for name, found in grids.items()}
    return matrix.pop("human"), matrix
