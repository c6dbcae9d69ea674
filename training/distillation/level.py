"""The loss of multilingual distillation, and how well vectors of translations match.

A text's vector is the mean of the last layer over all its pieces, special ones included, as in
sentence-transformers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn.functional import mse_loss, normalize

from extensions.neural.encoding.encoders import moved
from training.distillation.options import Recipe
from training.refreeeval.data import Pair, Vectors, order
from training.refreeeval.levels import Parts, Validation
from training.refreeeval.student import Student

Tensor = torch.Tensor
# Texts that are encoded at a time without gradients.
SLICE = 64


def pooled(student: Student, texts: Sequence[str]) -> Tensor:
    """Return (texts, width) means over pieces, with gradients."""
    encoded = student.encode(student.ids(texts))
    mask = encoded.mask[:, :, None]
    return (encoded.states * mask).sum(dim=1) / mask.sum(dim=1)


@dataclass(frozen=True)
class Matched(Validation):
    """How a student does on pairs that it does not learn from.

    ``loss`` is the sum of both mean squared errors. ``into`` says for each text of the teacher's
    language whether its translation has the nearest vector of all, by cosine, ``back`` the same
    for each translation; ``found`` has both.
    """

    into: list[bool]
    back: list[bool]

    @property
    def rank(self) -> tuple[float, float]:
        """What checkpoints are chosen by: the error, as in the paper."""
        return -self.loss, self.accuracy


class Distillation:
    """mean[(M(s) − M′(s))² + (M(s) − M′(t))²] for a teacher M, a student M′ and pairs (s, t)."""

    name = "distilled"
    clip: float | None = 1.0

    def __init__(
        self,
        student: Student,
        recipe: Recipe,
        train: Sequence[Pair],
        taught: Vectors,
        held_out: Sequence[Pair],
        held_taught: Vectors,
    ) -> None:
        self.student, self.recipe, self.train, self.taught = student, recipe, train, taught
        self.held_out, self.held_taught = held_out, held_taught
        self.batch, self.rate, self.warmup = recipe.batch, recipe.rate, recipe.warmup
        self.lengths = [len(ids) for ids in student.ids([pair.target for pair in train])]

    def batches(self, epoch: int) -> list[list[int]]:
        """Return batches of translations of like length."""
        return order(self.lengths, self.batch, self.recipe.seed, epoch)

    def cut_ahead(self, places: Sequence[int]) -> None:
        """Cut both sides of some pairs."""
        self.student.ids(self._texts(places))

    def _texts(self, places: Sequence[int]) -> list[str]:
        pairs = [self.train[place] for place in places]
        return [pair.source for pair in pairs] + [pair.target for pair in pairs]

    def loss(self, places: Sequence[int]) -> tuple[Tensor, Parts]:
        """Return the loss and both parts of it."""
        vectors = pooled(self.student, self._texts(places))
        source, target = vectors.tensor_split(2)
        goal = moved(torch.from_numpy(self.taught[list(places)]), source.device)
        own, translated = mse_loss(source, goal), mse_loss(target, goal)
        parts = {"teacher_language": own.detach(), "translations": translated.detach()}
        return own + translated, parts

    def validate(self) -> Validation:
        """Measure on held-out pairs."""
        return match(self.student, self.held_out, self.held_taught)


@torch.no_grad()
def match(student: Student, pairs: Sequence[Pair], taught: Vectors) -> Matched:
    """Measure a student on pairs whose texts are distinct, dropout off."""
    was_training = student.model.training
    student.model.eval()
    sides = [[pair.source for pair in pairs], [pair.target for pair in pairs]]
    source, target = (_vectors(student, texts) for texts in sides)
    student.model.train(was_training)
    goal = torch.from_numpy(np.asarray(taught))
    cosines = normalize(source, dim=1) @ normalize(target, dim=1).T
    own = torch.arange(len(pairs))
    into = (cosines.argmax(dim=1) == own).tolist()
    back = (cosines.argmax(dim=0) == own).tolist()
    loss = mse_loss(source, goal) + mse_loss(target, goal)
    return Matched(loss.item(), into + back, into, back)


def _vectors(student: Student, texts: Sequence[str]) -> Tensor:
    parts = [texts[start : start + SLICE] for start in range(0, len(texts), SLICE)]
    return torch.cat([pooled(student, part).cpu() for part in parts])
