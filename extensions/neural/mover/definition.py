"""Define the variants of word mover's scores as data. Imports neither Django nor torch."""

import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Distance = Literal["euclidean", "squared"]
Form = Literal["difference", "inverse"]

# Distances between vectors of length one.
GREATEST: dict[Distance, float] = {"euclidean": 2.0, "squared": 4.0}
_PUNCTUATION = frozenset(string.punctuation)


@dataclass(frozen=True)
class Definition:
    """Hold one of the definitions in use.

    ``whole_words`` drops pieces that are one ASCII punctuation character or contain "##". ``form``
    is 1 − cost or 1/(1 + cost). ``dropout`` is the share of small flows that are dropped, 0 for
    none.
    """

    whole_words: bool
    distance: Distance
    form: Form
    dropout: float = 0.0

    def score(self, cost: float) -> float:
        """Turn a transport cost into a score, higher being better."""
        return 1 - cost if self.form == "difference" else 1 / (1 + cost)

    @property
    def worst(self) -> float:
        """Return the score of two texts at the largest distance of vectors."""
        return self.score(GREATEST[self.distance])

    def chosen(self, pieces: Sequence[str]) -> list[int]:
        """Return the positions of the pieces that are used."""
        if not self.whole_words:
            return list(range(len(pieces)))
        return [i for i, each in enumerate(pieces) if each not in _PUNCTUATION and "##" not in each]
