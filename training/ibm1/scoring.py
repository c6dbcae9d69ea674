"""Score outputs by IBM model 1: the mean over units of ln Σ_i t(y_j | x_i) / (m + 1)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from metaeval.messages import message
from metrics.base import (
    MeanOfSegments,
    MetricError,
    MetricInfo,
    Scores,
    SegmentInput,
    check_inputs,
    format_signature,
)
from metrics.checkpoints import hashes
from metrics.options import OptionError
from training.ibm1.learning import units_of
from training.ibm1.options import load

REVISION = 1
# The least probability of a unit.
FLOOR = 1e-12


class Ibm1(MeanOfSegments):
    """Score with a table; raise a permanent :class:`MetricError` for another language pair."""

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        self.info, path = info, str(info.option("table"))
        try:
            table = load(path)
        except OptionError as error:
            raise MetricError(error.problem, permanent=True) from error
        self.about = table.about
        wanted = table.about.source_language, table.about.target_language
        if any(
            own.partition("-")[0] != other.partition("-")[0]
            for own, other in zip(wanted, (source_language, target_language), strict=True)
        ):
            problem = message(
                "ibm1.other-languages",
                "{metric} was learned for {learned} and cannot score {wanted}.",
                metric=info.label,
                learned="→".join(wanted),
                wanted=f"{source_language}→{target_language}",
            )
            raise MetricError(problem, permanent=True)
        self.digest = hashes.of_file(Path(path))[:12]
        self.sources = {unit: number for number, unit in enumerate(table.sources)}
        self.targets = {unit: number for number, unit in enumerate(table.targets)}
        keys = table.rows * len(table.targets) + table.columns
        order = np.argsort(keys)
        self.keys, self.values = keys[order], table.values[order]

    def signature(self) -> str:
        """Return everything that changes a value."""
        about = self.about
        return format_signature(
            self.info.name,
            {"units": about.units, "n": about.n, "table": self.digest, "floor": f"{FLOOR:g}",
             "revision": REVISION},
        )  # fmt: skip

    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return mean log probabilities, (n, 1); an output without units gets that of one unit."""
        check_inputs(self.info, inputs)
        return np.array([[self._likelihood(each)] for each in inputs]).reshape(-1, 1)

    def _likelihood(self, text: SegmentInput) -> float:
        about = self.about
        source = units_of(text.source, about, about.source_language)
        output = units_of(text.hypothesis, about, about.target_language)
        rows = [0, *(self.sources[unit] for unit in source if unit in self.sources)]
        columns = [self.targets[unit] for unit in output if unit in self.targets]
        wanted = np.array(rows)[None, :] * len(self.targets) + np.array(columns, int)[:, None]
        places = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        found = np.where(self.keys[places] == wanted, self.values[places], 0.0).sum(axis=1)
        unknown = [FLOOR] * max(1 if not output else 0, len(output) - len(columns))
        known = np.maximum(found / (len(source) + 1), FLOOR)
        return float(np.log([*known, *unknown]).mean())
