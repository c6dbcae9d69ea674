"""Compute baselines: random numbers and lengths (sentinels; Perrella et al. 2024)."""

from collections.abc import Callable, Sequence
from hashlib import blake2b

import numpy as np

from metaeval.messages import message
from metrics.base import (
    MeanOfSegments,
    MetricInfo,
    Scores,
    SegmentInput,
    check_inputs,
    format_signature,
    one_measure,
)
from metrics.options import BASELINE_LIMITS, Family, Option, Options

KEY = "floor"
RANDOM = "random"
OUTPUT, SOURCE, RATIO = "output-length", "source-length", "length-ratio"
DESCRIPTIONS = {
    RANDOM: message(
        "baseline.random-about",
        "A random number per content; equal texts get equal numbers. A metric that is not better "
        "than this baseline does not measure quality.",
    ),
    OUTPUT: message(
        "baseline.output-length-about",
        "The number of characters of the output. A metric that is not better than this baseline "
        "does not measure quality.",
    ),
    SOURCE: message(
        "baseline.source-length-about",
        "Minus the number of characters of the source, because short sources are easy to "
        "translate. A metric that is not better than this baseline does not measure quality.",
    ),
    RATIO: message(
        "baseline.length-ratio-about",
        "Characters of the output divided by characters of the source. A metric that is not better "
        "than this baseline does not measure quality.",
    ),
}


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a baseline; none of them reads a reference."""
    kind = str(options["kind"])
    return one_measure(
        name,
        label,
        needs_source=kind in (SOURCE, RATIO, RANDOM),
        needs_reference=False,
        description=DESCRIPTIONS[kind],
        citation="Perrella et al. 2024, Guardians of the machine translation meta-evaluation",
        family=KEY,
        options=tuple(options.items()),
    )


FAMILY = Family(
    key=KEY,
    label=message("baseline.family", "Baseline: random numbers or lengths"),
    description=message(
        "baseline.family-about",
        "Scores that do not depend on the quality of a translation. A useful metric must be better "
        "than each of them.",
    ),
    limits=BASELINE_LIMITS,
    scorer="metrics.families.floor:Floor",
    options=(
        Option(
            "kind",
            message("baseline.kind", "Kind of baseline"),
            "choice",
            choices=tuple(DESCRIPTIONS),
        ),
        Option(
            "seed",
            message("option.seed", "Seed"),
            "integer",
            1,
            minimum=0,
            help=message("baseline.seed-help", "The seed of random numbers."),
            is_rare=True,
        ),
    ),
    describe=describe,
)


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
