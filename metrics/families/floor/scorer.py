"""Compute baselines: random numbers and lengths (sentinels; Perrella et al. 2024)."""

from collections.abc import Callable, Sequence
from hashlib import blake2b

import numpy as np

from metrics.base import (
    MeanOfSegments,
    MetricInfo,
    Scores,
    SegmentInput,
    check_inputs,
    format_signature,
)
from metrics.families.floor.options import OUTPUT, RANDOM, RATIO, SOURCE

REVISION = 1


class Floor(MeanOfSegments):
    """Return one number per output, by the kind of the description, for any languages."""

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        self.info, self.kind, self.seed = info, str(info.option("kind")), int(info.option("seed"))

    def signature(self) -> str:
        """Return everything that changes a value."""
        fields: dict[str, str | int] = {"kind": self.kind}
        fields |= {"seed": self.seed} if self.kind == RANDOM else {}
        return format_signature(self.info.name, fields | {"revision": REVISION})

    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return (n, 1)."""
        check_inputs(self.info, inputs)
        give: Callable[[SegmentInput], float] = {
            RANDOM: self._draw,
            OUTPUT: lambda each: float(len(each.hypothesis)),
            SOURCE: lambda each: -float(len(each.source)),
            RATIO: lambda each: len(each.hypothesis) / max(1, len(each.source)),
        }[self.kind]
        return np.array([give(each) for each in inputs], dtype=np.float64).reshape(-1, 1)

    def _draw(self, segment: SegmentInput) -> float:
        """Return a uniform number in [0, 1) that depends only on the texts and the seed."""
        text = "\0".join((str(self.seed), segment.source, segment.hypothesis))
        digest = blake2b(text.encode(), digest_size=8).digest()
        return int.from_bytes(digest, "little") / 2**64
