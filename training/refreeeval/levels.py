"""The two levels of training: what a batch is, its loss, and how well the encoder does on texts
that it does not learn from."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch.nn.functional import normalize

from extensions.neural.encoding.encoders import moved
from training.refreeeval import losses
from training.refreeeval.data import Example, Pair, TeacherCosines, order
from training.refreeeval.recipe import Recipe
from training.refreeeval.student import Encoded, Student, WordIds

Tensor = torch.Tensor
# Not numbers yet: a GPU would be waited for before it computes the gradient.
Parts = dict[str, Tensor]


@dataclass(frozen=True)
class Validation:
    """On held-out texts: the loss, and for each example whether the genuine text was found."""

    loss: float
    found: list[bool]

    @property
    def accuracy(self) -> float:
        """Share of examples whose genuine text scores highest."""
        return sum(self.found) / len(self.found) if self.found else float("nan")

    @property
    def rank(self) -> tuple[float, float]:
        """What checkpoints are chosen by: of equal accuracies, the lower loss is better."""
        return self.accuracy, -self.loss


class Level(Protocol):
    """What the loop trains."""

    name: str
    batch: int
    rate: float
    warmup: int
    clip: float | None

    def batches(self, epoch: int) -> list[list[int]]:
        """Return the batches of a pass, as places of examples."""
        ...

    def cut_ahead(self, places: Sequence[int]) -> None:
        """Cut the texts of some examples into pieces, before their update."""
        ...

    def loss(self, places: Sequence[int]) -> tuple[Tensor, Parts]:
        """Return the mean loss over some examples, and its parts by name."""
        ...

    def validate(self) -> Validation:
        """Measure on held-out texts."""
        ...


class SentenceLevel:
    """L_sent = L_fl + α L_fa [9], or one of the two."""

    name = "sentence"
    clip: float | None = None

    def __init__(
        self,
        student: Student,
        recipe: Recipe,
        train: Sequence[Example],
        held_out: Sequence[Example],
        teacher: TeacherCosines | None,
    ) -> None:
        self.student, self.recipe, self.train, self.held_out = student, recipe, train, held_out
        self.teacher = None if teacher is None else torch.from_numpy(np.asarray(teacher))
        self.batch, self.rate, self.warmup = recipe.batch, recipe.rate, recipe.warmup
        targets = [each.candidates[each.label] for each in train]
        self.lengths = [len(ids) for ids in student.ids(targets)]

    def batches(self, epoch: int) -> list[list[int]]:
        """Return batches of targets of like length."""
        return order(self.lengths, self.batch, self.recipe.seed, epoch)

    def cut_ahead(self, places: Sequence[int]) -> None:
        """Cut the sources and candidates of some examples."""
        self.student.ids(_texts([self.train[place] for place in places]))

    def loss(self, places: Sequence[int]) -> tuple[Tensor, Parts]:
        """Return L_sent and its parts."""
        chosen = [self.train[place] for place in places]
        scores = score_candidates(self.student, chosen)
        labels = moved(torch.tensor([each.label for each in chosen]), scores.device)
        parts: Parts = {}
        total = scores.new_zeros(())
        if self.recipe.has_fluency:
            fluency = losses.fluency(scores, labels)
            total, parts["fluency"] = total + fluency, fluency.detach()
        if self.teacher is not None:
            taught = moved(self.teacher[list(places)], scores.device)
            distilled = losses.distillation(scores, taught)
            total = total + self.recipe.alpha * distilled
            parts["distillation"] = distilled.detach()
        return total, parts

    def validate(self) -> Validation:
        """Return L_fl and what was found among the k + 1 candidates."""
        return find_genuine(self.student, self.held_out)


class WordLevel:
    """L_word [4–6], guided by the encoder itself."""

    name = "word"
    clip: float | None = 1.0

    def __init__(
        self,
        student: Student,
        recipe: Recipe,
        train: Sequence[Pair],
        held_out: Sequence[Example],
    ) -> None:
        self.student, self.recipe, self.train, self.held_out = student, recipe, train, held_out
        self.batch, self.rate, self.warmup = recipe.word_batch, recipe.word_rate, recipe.word_warmup
        self.lengths = [len(ids) for ids in student.ids([pair.target for pair in train])]

    def batches(self, epoch: int) -> list[list[int]]:
        """Return batches of targets of like length."""
        return order(self.lengths, self.batch, self.recipe.seed, epoch)

    def cut_ahead(self, places: Sequence[int]) -> None:
        """Cut both sides of some pairs."""
        self._cut(places)

    def _cut(self, places: Sequence[int]) -> tuple[list[WordIds], list[WordIds]]:
        chosen = [self.train[place] for place in places]
        sources = self.student.word_ids([(each.source, each.source_language) for each in chosen])
        targets = self.student.word_ids([(each.target, each.target_language) for each in chosen])
        return sources, targets

    def loss(self, places: Sequence[int]) -> tuple[Tensor, Parts]:
        """Return L_word and the share of piece pairs that were taken as aligned."""
        sources, targets = self._cut(places)
        aligned, allowed = self._guide(sources, targets)
        source, target = self._encode(sources, targets)
        loss = losses.alignment(
            source.states,
            target.states,
            source.counts,
            target.counts,
            aligned,
            allowed,
            every=self.recipe.c2 == 0,
        )
        pairs = source.counts.sum(1) * target.counts.sum(1)
        return loss, {"word": loss.detach(), "aligned": aligned.sum() / pairs.sum()}

    def _encode(
        self, sources: Sequence[WordIds], targets: Sequence[WordIds]
    ) -> tuple[Encoded, Encoded]:
        """Encode both sides together: in fewer and fuller groups."""
        sides = [[ids for ids, _ in each] for each in (sources, targets)]
        encoded, n = self.student.encode([ids for side in sides for ids in side]), len(sources)
        longest = [max(map(len, side)) for side in sides]
        return encoded.part(slice(n), longest[0]), encoded.part(slice(n, None), longest[1])

    @torch.no_grad()
    def _guide(
        self, sources: Sequence[WordIds], targets: Sequence[WordIds]
    ) -> tuple[Tensor, Tensor]:
        """Compute the masks A and B with the current encoder, without dropout."""
        self.student.model.eval()
        source, target = self._encode(sources, targets)
        self.student.model.train()
        aligned, allowed = losses.guide(
            source.states,
            target.states,
            source.counts,
            target.counts,
            self.recipe.c1,
            self.recipe.c2,
        )
        if self.recipe.expand_words:
            left, right = (_padded([words for _, words in each]) for each in (sources, targets))
            n_words = 1 + int(max(left.max(), right.max()))
            left, right = (moved(each, aligned.device) for each in (left, right))
            aligned = losses.expand_words(aligned, left, right, n_words)
        return aligned, allowed

    def validate(self) -> Validation:
        """Return the same measure as the sentence level, so that both can be compared."""
        return find_genuine(self.student, self.held_out)


def score_candidates(student: Student, chosen: Sequence[Example]) -> Tensor:
    """Return (examples, k + 1) F1 of source and candidates; distinct texts are encoded once."""
    texts = _texts(chosen)
    encoded = student.encode(student.ids(texts))
    place = {text: row for row, text in enumerate(texts)}
    width = len(chosen[0].candidates)
    rows = (
        [place[each.source] for each in chosen for _ in range(width)],
        [place[text] for each in chosen for text in each.candidates],
    )
    sources, candidates = moved(torch.tensor(rows), encoded.states.device)
    weights, unit = encoded.counts.float(), normalize(encoded.states, dim=-1)
    scores = losses.greedy_f1(
        unit[sources],
        unit[candidates],
        encoded.mask[sources],
        encoded.mask[candidates],
        (weights[sources], weights[candidates]),
    )
    return scores.view(len(chosen), width)


def _texts(chosen: Sequence[Example]) -> list[str]:
    return list(dict.fromkeys(text for each in chosen for text in (each.source, *each.candidates)))


@torch.no_grad()
def find_genuine(student: Student, held_out: Sequence[Example]) -> Validation:
    """Return L_fl and whether the genuine text scores highest, dropout off."""
    was_training = student.model.training
    student.model.eval()
    scores = torch.cat([score_candidates(student, part).cpu() for part in _parts(held_out, 16)])
    student.model.train(was_training)
    labels = torch.tensor([each.label for each in held_out])
    loss = losses.fluency(scores, labels).item()
    return Validation(loss, (scores.argmax(dim=1) == labels).tolist())


def _parts(found: Sequence[Example], size: int) -> Iterator[Sequence[Example]]:
    for start in range(0, len(found), size):
        yield found[start : start + size]


def _padded(rows: Sequence[Sequence[int]]) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[-1] * (longest - len(row))] for row in rows])
