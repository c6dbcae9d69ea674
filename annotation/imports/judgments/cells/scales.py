"""Convert scores to whole numbers from 0 to 100, unchanged or from a stated scale."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from annotation.imports.judgments.rows import Row
from annotation.models.judgment import MAX_SCORE
from annotation.uploads.problems import Report
from metaeval.messages import message

SMALL_SCALE = 10


@dataclass
class Scores:
    """Converts the scores of one campaign; `scale` is None for unchanged scores of 0–100."""

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
        refusal = message(
            "judgments.score-outside",
            "The score {score} is not a whole number from 0 to {highest}. If the scores are on "
            "another scale, state it, such as 0-6, and they are mapped linearly to 0–100. Import "
            "z-scores and means as published human scores: they are not judgments of one "
            "annotator.",
            score=value,
            highest=MAX_SCORE,
        )
        self.report.error(refusal, row.at("score"))
        return None

    def _rescaled(self, row: Row, value: float) -> int | None:
        low, high = self.scale or (0.0, 100.0)
        if not low <= value <= high:
            refusal = message(
                "judgments.score-outside-scale",
                "The score {score} is outside the stated scale {low}–{high}.",
                score=value,
                low=low,
                high=high,
            )
            self.report.error(refusal, row.at("score"))
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
                message(
                    "judgments.scores-mapped",
                    "Mapped {n} scores from {low}–{high} to 0–100; {rounded} of them were rounded "
                    "to whole numbers.",
                    n=self.converted,
                    low=low,
                    high=high,
                    rounded=self.rounded,
                )
            )
        elif values and max(values) <= SMALL_SCALE and len(set(values)) > 1:
            self.report.warn(
                message(
                    "judgments.scores-on-small-scale",
                    "All scores are between {low} and {high}. If that is their scale, state it. "
                    "Otherwise they are read as scores from 0 to 100.",
                    low=min(values),
                    high=max(values),
                )
            )
