"""What tells the definitions of word mover's scores apart, as data. Neither Django nor torch."""

import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Distance = Literal["euclidean", "squared"]
Form = Literal["difference", "inverse"]

# Between vectors of length one.
GREATEST: dict[Distance, float] = {"euclidean": 2.0, "squared": 4.0}
_PUNCTUATION = frozenset(string.punctuation)


@dataclass(frozen=True)
class Definition:
    """One of the definitions in circulation.

    ``whole_words`` drops pieces that are one ASCII punctuation character or hold "##". ``form``
    is 1 − cost or 1/(1 + cost). ``dropout`` is the share of small flows that is cut, 0 for none.
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
        """The score of two texts as far apart as vectors can be."""
        return self.score(GREATEST[self.distance])

    def chosen(self, pieces: Sequence[str]) -> list[int]:
        """Return the places of the pieces that take part."""
        if not self.whole_words:
            return list(range(len(pieces)))
        return [i for i, each in enumerate(pieces) if each not in _PUNCTUATION and "##" not in each]
