"""Pairs of pieces for training and for measures, and their batches."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import Dataset, Sampler

from metaeval.messages import message
from training.contract import Corpus, JobError
from training.translation.learning.vocabulary import length_token
from training.translation.options import LENGTH_TOKEN

IGNORED = -100
# Batches over which pairs of similar length are collected.
POOL = 50
Text = tuple[str, str]


@dataclass(frozen=True)
class Split:
    """Training texts and held-out texts; no source is in both."""

    train: list[Text]
    held_out: list[Text]


def split(corpora: Sequence[Corpus], options: Mapping[str, Any]) -> Split:
    """Hold out sources by the seed; JobError if there are too few."""
    texts = [pair for corpus in corpora for pair in corpus.pairs]
    if options["reverse"]:
        texts = [(target, source) for source, target in texts]
    sources = sorted({source for source, _ in texts})
    n_held = min(int(options["held_out"]), len(sources) // 5)
    if not n_held:
        raise JobError(
            message(
                "mt.too-few-sources",
                "{n} different sources are too few to train a translation model.",
                n=len(sources),
            )
        )
    held = set(random.Random(options["seed"]).sample(sources, n_held))
    return Split(*([pair for pair in texts if (pair[0] in held) == is_held] for is_held in (0, 1)))


def languages(corpora: Sequence[Corpus], options: Mapping[str, Any]) -> tuple[str, str]:
    """Return source and target language of all corpora; JobError if they differ."""
    pairs = {(corpus.source_language, corpus.target_language) for corpus in corpora}
    if len(pairs) != 1:
        raise JobError(
            message(
                "mt.languages-differ",
                "The corpora have different languages. Choose corpora of one language pair.",
            )
        )
    source, target = pairs.pop()
    return (target, source) if options["reverse"] else (source, target)


class Pairs(Dataset[dict[str, Any]]):
    """Pairs as pieces. `counts` has the number of pairs, then of excluded ones by reason."""

    def __init__(self, texts: Sequence[Text], tokenizer: Any, options: Mapping[str, Any]) -> None:
        self.rows: list[tuple[list[int], list[int]]] = []
        self.texts: list[Text] = []
        longest, imbalance = options["longest"], options["imbalance"]
        self.counts = {"pairs": len(texts), "too_long": 0}
        self.counts |= {"too_uneven": 0} if imbalance else {}
        for text in texts:
            source = tokenizer(text[0]).input_ids
            target = tokenizer(text_target=text[1]).input_ids
            n, m = len(source) - 1, len(target) - 1
            if max(n, m) > longest:
                self.counts["too_long"] += 1
            elif imbalance and max(n, m) > imbalance * min(n, m):
                self.counts["too_uneven"] += 1
            else:
                self.rows.append((source, target))
                self.texts.append(text)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: int) -> dict[str, Any]:
        source, target = self.rows[place]
        return {"input_ids": source, "labels": target, "length": len(target) - 1}


class Collator:
    """Make a batch: sources, labels, decoder inputs and target lengths."""

    def __init__(self, tokenizer: Any, start: int, control: Mapping[str, Any]) -> None:
        self.padding, self.start = tokenizer.pad_token_id, start
        self.cap, self.control = control["cap"], control["control"]
        self.tokens = [
            tokenizer.convert_tokens_to_ids(length_token(n + 1)) for n in range(self.cap)
        ] if self.control == LENGTH_TOKEN else []  # fmt: skip

    def __call__(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, Tensor]:
        labels = [self._labels(row) for row in rows]
        sources = _fill([row["input_ids"] for row in rows], self.padding)
        batch = {
            "input_ids": sources,
            "attention_mask": (sources != self.padding).long(),
            "labels": _fill(labels, IGNORED),
            "decoder_input_ids": _fill([[self.start, *each[:-1]] for each in labels], self.padding),
        }
        if self.control not in ("plain", LENGTH_TOKEN):
            batch["wanted_lengths"] = torch.tensor([row["length"] for row in rows])
        return batch

    def _labels(self, row: Mapping[str, Any]) -> list[int]:
        labels: list[int] = row["labels"]
        return (
            [self.tokens[max(1, min(row["length"], self.cap)) - 1], *labels]
            if self.tokens
            else labels
        )


def _fill(rows: Sequence[Sequence[int]], padding: int) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[padding] * (longest - len(row))] for row in rows])


class Batches(Sampler[int]):
    """The order of an epoch: pairs of similar length together, batches in random order.

    It depends on seed and epoch only, so that a resumed training reads the same pairs.
    """

    def __init__(self, lengths: Sequence[int], size: int, seed: int) -> None:
        self.lengths, self.size, self.seed, self.epoch = lengths, size, seed, 0

    def set_epoch(self, epoch: int) -> None:
        """Set the current epoch."""
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self.lengths)

    def __iter__(self) -> Iterator[int]:
        drawn = random.Random(f"{self.seed} {self.epoch}")
        order = drawn.sample(range(len(self.lengths)), len(self.lengths))
        pool = self.size * POOL
        batches: list[list[int]] = []
        for start in range(0, len(order), pool):
            near = sorted(order[start : start + pool], key=lambda n: self.lengths[n])
            batches += [near[n : n + self.size] for n in range(0, len(near), self.size)]
        # A short batch comes last: the loader cuts the order into batches of one size.
        short = [batch for batch in batches if len(batch) < self.size]
        full = [batch for batch in batches if len(batch) == self.size]
        drawn.shuffle(full)
        for batch in (*full, *short):
            yield from batch
