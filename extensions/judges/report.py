"""Describe the verdicts of a judge without human scores.

Judges rarely find no error, overuse "major", penalise length and favour related models (2510.22028,
2509.26600, Rubric-MQM at ACL 2025), and readers of their scores should see how much. Workers
compute the report during the run and at its end; pages show the stored one.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from django.db.models import Count

from annotation.models import Output
from extensions.judges import prompts, templates
from extensions.judges.options import KEY
from metaeval.correlation import correlate
from metrics.base import MetricInfo, Scores
from metrics.models import JudgeReply, JudgeSpending, MetricRun, MetricSignature
from metrics.scores import load_scores
from metrics.spans.stored import read_rows

FIFTHS = 5
# Names that makers give models of several kinds: a judge and a system of one maker are kin. Where a
# maker has one name for all, the names themselves share it.
KIN = {
    "OpenAI": ("gpt", "openai", "chatgpt", "davinci", "o1", "o3", "o4"),
    "Google": ("gemini", "gemma", "palm", "bard"),
    "Meta": ("llama", "nllb", "alpaca", "vicuna"),
    "Mistral": ("mistral", "mixtral", "ministral"),
    "Alibaba": ("qwen", "qwq"),
    "DeepSeek": ("deepseek",),
    "Cohere": ("aya", "command", "cohere", "commanda"),
    "Unbabel": ("tower", "towerllm", "towerinstruct"),
    "UTTER": ("eurollm",),
    "Microsoft": ("phi",),
    "Zhipu": ("glm", "chatglm"),
}


# Words in names of models that say nothing of who made them.
COMMON = frozenset((
    "base", "chat", "flash", "fine", "instruct", "large", "latest", "llm", "mini", "model", "nano",
    "preview", "pro", "small", "system", "the", "turbo",
))  # fmt: skip


def makers_of(name: str) -> set[str]:
    """Return the makers whose models a name points at."""
    words = _words(name)
    return {maker for maker, names in KIN.items() if words & set(names)}


def _words(name: str) -> set[str]:
    return set(re.findall(r"o[134]|[a-z]+", name.lower()))


def _shared(name: str, other: str) -> bool:
    """Whether two names have a word in common that may be a maker's or a model's."""
    return any(len(word) > 2 for word in _words(name) & _words(other) - COMMON)


def kin(model: str, systems: Iterable[str]) -> list[str]:
    """Return the systems that are by the maker of a judge's model, as far as names tell."""
    makers = makers_of(model)
    return sorted({name for name in systems if makers & makers_of(name) or _shared(model, name)})


def update(run: MetricRun, signature: MetricSignature) -> None:
    """Say what there is to say of a run's scores so far; nothing where it is no judge's."""
    info = run.info
    if info is not None and info.family == KEY:
        JudgeSpending.objects.filter(run=run).update(report=_report(run, info, signature))


def _report(run: MetricRun, info: MetricInfo, signature: MetricSignature) -> dict[str, Any]:
    systems = list(run.systems.all())
    outputs = list(
        Output.objects.filter(system__in=systems)
        .order_by("segment", "system")
        .values_list("content_key", "text", "segment_id")
    )
    # A text that several systems share counts once.
    distinct = list({key: (key, text, segment) for key, text, segment in outputs}.values())
    rows = load_scores(signature, systems, [key for key, _, _ in distinct])
    scored = np.isfinite(rows).all(axis=1)
    kind = templates.get(str(info.option("template"))).kind
    kind = prompts.SPANS if kind in prompts.ERRORS else kind
    lengths = np.array([len(text) for _, text, _ in distinct], dtype=np.float64)[scored]
    segments = np.array([segment for _, _, segment in distinct], dtype=np.int64)[scored]
    columns = dict(zip(info.measures, rows[scored].T, strict=True))
    found = describe(info.name, kind, columns, lengths, segments)
    found["kin"] = kin(str(info.option("model")), (system.name for system in systems))
    found["served"] = _served(run)
    if kind in prompts.WITH_SPANS:
        spans = read_rows(signature, systems).values()
        found["n_spans"] = sum(map(len, spans))
        found["n_unplaced"] = sum(span[2] == 0 for each in spans for span in each)
    return found


def describe(
    name: str, kind: str, columns: dict[str, Scores], lengths: Scores, segments: Any
) -> dict[str, Any]:
    """Describe the verdicts of a judge.

    `columns` are its measures by name, each of (n,) texts, `lengths` their characters, `segments`
    the segments that they translate. What has no value is None.
    """
    scores = columns[name]
    found: dict[str, Any] = {"n": len(scores), "kind": kind}
    if not len(scores):
        return found
    perfect = _PERFECT.get(kind)
    found["flawless"] = None if perfect is None else float(np.mean(scores == perfect))
    found["mean"] = float(scores.mean())
    found["length_correlation"] = _correlation(scores, lengths)
    found["lengths"] = by_length(scores, lengths)
    found["ties"] = ties(scores, segments)
    for key in ("spread", "swayed"):
        if (column := columns.get(f"{name}-{key}")) is not None:
            found[key] = float(column.mean())
    if kind in prompts.WITH_SPANS:
        means = {each: float(columns[f"{name}-{each}"].mean()) for each in _SEVERITIES}
        total = sum(means.values())
        found["severities"] = [
            {"severity": each, "mean": mean, "share": mean / total if total else None}
            for each, mean in means.items()
        ]
    return found


_PERFECT = {prompts.SCORE: 100.0, prompts.ESA: 100.0, prompts.SPANS: 0.0, prompts.STARS: 5.0}
_SEVERITIES = ("minor", "major", "critical")


def _correlation(scores: Scores, lengths: Scores) -> float | None:
    """Spearman's ρ of score and length; None where either is constant."""
    if min(len(np.unique(scores)), len(np.unique(lengths))) < 2:
        return None
    return float(correlate(scores, lengths, "spearman", has_interval=False).statistic)


def by_length(scores: Scores, lengths: Scores) -> list[dict[str, float]]:
    """Return the mean score of each fifth of the texts, the shortest first."""
    order = np.argsort(lengths, kind="stable")
    return [
        {
            "least": float(lengths[part].min()),
            "most": float(lengths[part].max()),
            "n": len(part),
            "mean": float(scores[part].mean()),
        }
        for part in np.array_split(order, FIFTHS)
        if len(part)
    ]


def ties(scores: Scores, segments: Any) -> float | None:
    """Return the share of pairs of outputs of one segment with the same score; None without one."""
    n_pairs, n_ties = 0, 0
    order = np.lexsort((scores, segments))
    cuts = np.flatnonzero(np.diff(segments[order])) + 1
    for group in np.split(scores[order], cuts):
        n_pairs += len(group) * (len(group) - 1) // 2
        counts = np.unique(group, return_counts=True)[1]
        n_ties += int((counts * (counts - 1) // 2).sum())
    return n_ties / n_pairs if n_pairs else None


def _served(run: MetricRun) -> Sequence[tuple[str, int]]:
    """Which models the replies to a run name, and how many of them each."""
    rows = JudgeReply.objects.filter(run=run).exclude(served="").order_by()
    return list(rows.values_list("served").annotate(n=Count("pk")).order_by("-n", "served"))
