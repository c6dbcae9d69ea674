"""What is measured: every family that has a model, with the package that it is compared with."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import benchmarks.neural  # noqa: F401  registers families
from benchmarks.gpu.checkpoints import Size
from metrics import registry
from metrics.base import Metric
from training.translation import options as likelihood

registry.FAMILIES["likelihood"] = "training.translation.options:LIKELIHOOD"
registry.METRICS.update(likelihood.KNOWN_LIKELIHOODS)


@dataclass(frozen=True)
class Case:
    """A metric by its family and options; ``models`` are options that name a built checkpoint.

    ``peer`` is a function of :mod:`benchmarks.gpu.peers`, and ``columns`` are ours that it gives.
    """

    name: str
    family: str
    models: Mapping[str, str]
    options: Mapping[str, Any] = field(default_factory=dict)
    peer: str = ""
    columns: tuple[int, ...] = (0,)


def cases(size: Size) -> list[Case]:
    """All of them, for checkpoints of a size."""
    layer, last = {"layer": size.layer}, tuple(range(3 * size.layer, 3 * size.layer + 3))
    bert, xlmr = {"checkpoint": "bert"}, {"checkpoint": "xlmr"}
    source, triple = {"compare": "source"}, (0, 1, 2)
    return [
        Case("BERTScore", "bertscore", bert, layer, "against_references", last),
        *(
            Case(name, "comet", {"checkpoint": key}, {"reference": reads}, "comet")
            for name, key, reads in (
                ("COMET, with reference", "comet", True),
                ("COMET, without", "comet-qe", False),
                ("CometKiwi", "cometkiwi", False),
                ("xCOMET", "xcomet", True),
            )
        ),
        Case("Sentinel", "sentinel", {"checkpoint": "sentinel"}),
        Case("Sentinel trained here", "trained-sentinel", {**xlmr, "sentinel": "sentinel.json"}),
        Case("MetricX-24", "metricx", {"checkpoint": "metricx", "tokenizer": "mt5"}),
        Case("Likelihood", "likelihood", {"checkpoint": "bart"}),
        Case("BLEURT", "bleurt", {"checkpoint": "bleurt"}, {}, "bleurt"),
        Case("XBERTScore", "xbertscore", xlmr, layer, "against_sources", triple),
        Case("ReFreeEval", "refreeeval", {"checkpoint": "trained"}, {}, "against_sources", triple),
        Case("ReFreeEval with a head", "refreeeval-head", {**xlmr, "head": "head.json"}),
        Case("Cosine", "cosine", bert, source, "sentences"),
        Case("SentSim", "sentsim", {**bert, "encoder": "xlmr"}, layer, "sentsim", (0, 1)),
        Case("YiSi-2", "yisi", xlmr, layer | source),
        Case("MoverScore", "moverscore", bert, {"version": "v2"}),
        Case("XMoverScore", "xmoverscore", {**xlmr, "language-model": "gpt2"}, layer),
    ]


def make(case: Case, folder: Path, precision: str) -> Metric:
    """The metric as an admin would configure it."""
    models = {option: str(folder / name) for option, name in case.models.items()}
    given = {**case.options, **models, "precision": precision}
    info = registry.configure(case.family, "bench", case.name, given)
    scorer = registry.get_family(case.family).scorer
    return registry.build(info, scorer, source_language="de", target_language="en")
