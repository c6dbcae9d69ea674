"""Metrics for tests of the machinery: they count, wait or fail; no production code knows them."""

import os
import signal
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from metaeval.messages import message
from metrics.base import MeanOfSegments, MetricError, MetricInfo, Scores, SegmentInput


def make_info(
    name: str, queue: str = "cpu", *, needs_reference: bool = False, family: str = ""
) -> MetricInfo:
    """The description of a fake with two measures: the length of the output and of the source."""
    return MetricInfo(
        name=name,
        label=name.title(),
        measures=(f"{name}-output", f"{name}-source"),
        measure_labels=("Output length", "Source length"),
        statistics=(),
        higher_is_better=True,
        needs_source=True,
        needs_reference=needs_reference,
        queue=queue,
        family=family,
    )


class Counting(MeanOfSegments):
    """Counts characters, and remembers every input it was given."""

    seen: list[SegmentInput] = []

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        self.info = info

    def signature(self) -> str:
        return f"{self.info.name}|version:1"

    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        self.seen.extend(inputs)
        return np.array([[len(i.hypothesis), len(i.source)] for i in inputs], dtype=np.float64)


class Ordered(Counting):
    """Counts pairs of neighbouring words in alphabetical order; minus itself as second value."""

    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        self.seen.extend(inputs)
        words = [each.hypothesis.split() for each in inputs]
        counts = [sum(a < b for a, b in pairwise(w)) for w in words]
        return np.array([[count, -count] for count in counts], dtype=np.float64)


class Gated(Counting):
    """Takes a token for each text; without one it waits as long as the gate of its site is shut."""

    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        gate = Path(os.environ["TOUCHSTONE_VAR"]) / "gate"
        for _ in inputs:
            while not may_pass(gate):
                time.sleep(0.02)
        return super().score(inputs)


def may_pass(gate: Path) -> bool:
    """Take a token, a file in the folder `gate`; without the folder everybody passes."""
    try:
        for token in gate.iterdir():
            token.unlink()
            return True
    except FileNotFoundError:  # no gate, or another process has taken the token
        return not gate.exists()
    return False


class Deadly(Counting):
    """Ends its process over the last text of its test set, as the kernel does out of memory."""

    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        if any(each.hypothesis.startswith("Sentence 99 by kaew") for each in inputs):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().score(inputs)


class Failing(Counting):
    """Raises what the test puts into `error`."""

    error: Exception = MetricError(message("test.problem", "no score"), permanent=True)

    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        raise self.error


class Acting(Counting):
    """Does what the test puts into `act` before it scores a chunk."""

    act = staticmethod(lambda: None)

    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        type(self).act()
        return super().score(inputs)


class Truncating(Acting):
    """Reads the first 40 characters of an output, and says of which there are more."""

    longest = 40

    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        rows = super().score([replace(i, hypothesis=i.hypothesis[: self.longest]) for i in inputs])
        self.truncated = [n for n, i in enumerate(inputs) if len(i.hypothesis) > self.longest]
        return rows


class Silent(Counting):
    """Does not say whether it truncates texts, as a plug-in of others."""


class Broken(Counting):
    """Returns what the test puts into `rows`."""

    rows: Scores = np.zeros((0, 2))

    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        return self.rows
