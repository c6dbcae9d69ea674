"""Scores of a table to whole numbers from 0 to 100: as they stand, or from a scale that is said."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from annotation.imports.judgments.rows import Row
from annotation.models.judgment import MAX_SCORE
from annotation.uploads.problems import Report

SMALL_SCALE = 10
ADVICE = (
    "If the scores are on another scale, state it, such as 0-6, and they are mapped linearly to "
    "0–100. z-scores and means are no judgments of one person: import them as published human "
    "scores."
)


@dataclass
class Scores:
    """Converts the scores of one campaign; `scale` is None for 0–100 as they stand."""

    scale: tuple[float, float] | None
    report: Report
    rounded: int = 0
    converted: int = 0

    def read(self, row: Row, value: float) -> int | None:
        """Return a score from 0 to 100, or None with the reason reported."""
        if self.scale is not None:
            return self._rescaled(row, value)
        if 0 <= value <= MAX_SCORE and value == int(value):
            return int(value)
        what = "is no whole number" if 0 <= value <= MAX_SCORE else "is not from 0 to 100"
        self.report.error(f"the score {value:g} {what}. {ADVICE}", row.at("score"))
        return None

    def _rescaled(self, row: Row, value: float) -> int | None:
        low, high = self.scale or (0.0, 100.0)
        if not low <= value <= high:
            message = f"the score {value:g} is outside the stated scale {low:g}–{high:g}"
            self.report.error(message, row.at("score"))
            return None
        exact = (value - low) / (high - low) * MAX_SCORE
        score = math.floor(exact + 0.5)
        self.converted += 1
        self.rounded += not math.isclose(exact, score, abs_tol=1e-9)
        return score

    def say(self, values: Sequence[float]) -> None:
        """Report what was done, and a scale that is probably another one."""
        if self.scale is not None:
            low, high = self.scale
            self.report.warn(
                f"{self.converted:,} scores were mapped from {low:g}–{high:g} to 0–100; "
                f"{self.rounded:,} of them had to be rounded to whole numbers"
            )
        elif values and max(values) <= SMALL_SCALE and len(set(values)) > 1:
            self.report.warn(
                f"all scores are from {min(values):g} to {max(values):g}. If that is their scale, "
                "state it; they are taken as scores from 0 to 100 otherwise"
            )
