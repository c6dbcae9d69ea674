"""Load encoders, and compute in batches of similar length within a budget of tokens.

Batches become smaller when memory is full. Imports torch: workers only.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import torch

from extensions.neural.encoding import memory
from extensions.neural.encoding.ahead import ahead
from extensions.neural.encoding.memory import ModelSpec, placed
from extensions.neural.encoding.pieces import Pieces
from extensions.neural.encoding.precision import check, computing
from metaeval.messages import Message, MessageError, message
from metaeval.reasons import reason_of
from metrics.base import MetricError
from metrics.checkpoints import places

# Padded tokens of one forward pass: they fill the device, and all layers fit in memory. Larger
# batches are slower on a CPU, because they exceed its caches.
TOKENS_PER_BATCH = {"cpu": 1_024, "cuda": 32_768}
# An item larger than this many budgets is split, although its parts then repeat shared texts.
OVERSIZE = 4
# Padded tokens of a batch beside those of its items.
MOST_PADDED = 1.2
NO_LIMIT = 10**6
# Files of vocabularies; byte-level tokenizers have none.
VOCABULARIES = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class EncoderSpec:
    """Identify an encoder in memory.

    ``precision`` is one of :mod:`.precision`, ``weights`` the fingerprint of the checkpoint's
    files, and ``layers`` the number of transformer layers that are loaded, None for all.
    """

    checkpoint: str
    precision: str
    device: str
    weights: str = ""
    layers: int | None = None


class Encoder:
    """Hold a checkpoint on a device; ``pieces`` cuts texts as its tokenizer does.

    ``n_layers`` counts the hidden states, embeddings included. ``budget`` is the number of padded
    tokens of a batch.
    """

    def __init__(self, spec: EncoderSpec, tokenizer: Any, model: Any) -> None:
        self.spec, self.tokenizer, self.model = spec, tokenizer, model
        self.pieces = Pieces(tokenizer)
        self.budget = tokens_per_batch(spec.device)
        self.n_layers = int(model.config.num_hidden_layers) + 1

    def pad(self, ids: Sequence[Sequence[int]]) -> Any:
        """Return what :meth:`compute` takes for some texts; no work of the device."""
        return padded(ids, self.padding)

    @torch.inference_mode()
    def compute(self, given: Any) -> tuple[list[torch.Tensor], Any]:
        """Return the states of every layer and the mask of real tokens.

        States are (texts, longest, width) in float32; the mask is (texts, longest).
        """
        tokens, mask = (moved(each, self.spec.device) for each in given)
        with computing(self.spec.device, self.spec.precision):
            states = self.model(tokens, attention_mask=mask.long(), output_hidden_states=True)
        return [layer.float() for layer in states.hidden_states], mask

    def hidden_states(self, ids: Sequence[Sequence[int]]) -> tuple[list[torch.Tensor], Any]:
        """Return what :meth:`compute` does for some texts."""
        return self.compute(self.pad(ids))

    @property
    def padding(self) -> int:
        """Return the id of the padding token; any id if the tokenizer has none."""
        return int(self.tokenizer.pad_token_id or 0)


def moved(tensor: torch.Tensor, device: Any) -> torch.Tensor:
    """Copy a tensor to a device without waiting until a GPU has done what came before.

    Only pinned memory is copied so.
    """
    if torch.device(device).type == "cuda" and not tensor.is_cuda:
        tensor = tensor.pin_memory()
    return tensor.to(device, non_blocking=True)


def padded(ids: Sequence[Sequence[int]], padding: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the ids of texts and the mask of real ones, both (texts, longest)."""
    lengths = np.fromiter(map(len, ids), int, len(ids))
    mask = np.arange(lengths.max()) < lengths[:, None]
    tokens = np.full(mask.shape, padding)
    tokens[mask] = np.fromiter(chain.from_iterable(ids), int, lengths.sum())
    return torch.from_numpy(tokens), torch.from_numpy(mask)


def get(
    checkpoint: str,
    *,
    precision: str = "float32",
    device: str | None = None,
    layers: int | None = None,
) -> Encoder:
    """Return the resident encoder; load it if needed, in place of the least used models.

    With ``layers`` only the first ``layers`` transformer layers are loaded. Raises a permanent
    :class:`MetricError` if the checkpoint is missing, damaged or of another class, and a temporary
    one if the device cannot compute in the precision.
    """
    device = device or best_device()
    check(device, precision)
    folder = places.find(checkpoint)
    spec = EncoderSpec(checkpoint, precision, device, places.fingerprint(folder), layers)
    kind = "encoder" if layers is None else f"encoder of {layers} layers"
    key = ModelSpec(kind, checkpoint, precision, device, spec.weights)
    return memory.get(key, folder, lambda: load(spec, folder))


def resident() -> list[str]:
    """Return the checkpoints in memory, of all kinds, the least used first."""
    return [spec.checkpoint for spec in memory.listing()]


places.RESIDENT.append(resident)


def forget() -> None:
    """Drop every resident model."""
    memory.forget()


def best_device() -> str:
    """Return ``cuda`` if there is a GPU, else ``cpu``."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def tokens_per_batch(device: str) -> int:
    """Return the initial budget of a model."""
    return TOKENS_PER_BATCH[torch.device(device).type]


def load(spec: EncoderSpec, folder: str) -> Encoder:
    """Load an encoder that is not shared, such as one to train; errors as :func:`get`."""
    from transformers import AutoModel

    places.check(spec.checkpoint, folder)
    try:
        tokenizer = load_tokenizer(folder)
        depth = {} if spec.layers is None else {"num_hidden_layers": spec.layers}
        model, report = AutoModel.from_pretrained(
            folder,
            local_files_only=True,
            weights_only=True,
            trust_remote_code=False,
            output_loading_info=True,
            **depth,
        )
    except Exception as error:
        problem = message(
            "encoder.not-loaded",
            "The checkpoint {checkpoint} cannot be loaded as an encoder: {error}",
            checkpoint=spec.checkpoint,
            error=reason(error, folder),
        )
        raise MetricError(problem, permanent=True) from error
    has_both = hasattr(model, "decoder") and hasattr(model, "encoder")
    unused = ("pooler", "decoder.") if has_both else ("pooler",)
    require_weights(spec.checkpoint, model, report["missing_keys"], unused=unused)
    if any("pooler" in name for name in report["missing_keys"]):
        # No value depends on it. Random, it would give the encoder another identity at each load.
        model.pooler = None
    model = model.encoder if has_both else model
    require_rows(spec.checkpoint, tokenizer, model)
    # Limit texts to the number of positions of the model, if its tokenizer states no limit.
    positions = getattr(model.config, "max_position_embeddings", None)
    if isinstance(positions, int) and positions > 0:
        # In RoBERTa and similar models the first position is the id of the padding token plus one.
        start = getattr(getattr(model, "embeddings", None), "padding_idx", None)
        usable = positions - (start + 1 if isinstance(start, int) else 0)
        tokenizer.model_max_length = min(tokenizer.model_max_length, usable)
    return Encoder(spec, tokenizer, placed(model, spec.device, spec.precision))


def reason(error: Exception, folder: str) -> Message | str:
    """Return why a checkpoint cannot be loaded.

    Without a vocabulary, the error itself does not name the cause.
    """
    if any(path for name in VOCABULARIES for path in Path(folder).glob(name)):
        return reason_of(error)
    return message(
        "checkpoint.no-tokenizer",
        "it has no tokenizer: expected one of {names}.",
        names=list(VOCABULARIES),
    )


def load_tokenizer(folder: str) -> Any:
    """Load the slow tokenizer if there is one, as bert-score does.

    RoBERTa's fast tokenizer adds no prefix space. Newer encoders have no slow tokenizer.
    """
    from transformers import AutoTokenizer

    tokenizers: Any = AutoTokenizer
    given = {"local_files_only": True, "trust_remote_code": False}
    try:
        return whole(lambda: tokenizers.from_pretrained(folder, use_fast=False, **given))
    except Exception:
        return whole(lambda: tokenizers.from_pretrained(folder, use_fast=True, **given))


def require_weights(
    checkpoint: str, model: Any, missing: Iterable[str], *, unused: Sequence[str] = ()
) -> None:
    """Refuse a model if the checkpoint lacks some of its weights: they would be random.

    ``unused`` are parts of the names of weights on which no value depends. Raises a permanent
    :class:`MetricError`.
    """
    parameters = {name for name, _ in model.named_parameters()}
    needed = {name for name in parameters if not any(part in name for part in unused)}
    lacking = sorted(needed.intersection(missing))
    if lacking:
        problem = message(
            "checkpoint.weights-missing",
            "The checkpoint {checkpoint} is damaged or of another class: {count} of {total} "
            "weights are missing, such as {name}.",
            checkpoint=checkpoint,
            count=len(lacking),
            total=len(parameters),
            name=lacking[0],
        )
        raise MetricError(problem, permanent=True)


class LoadError(MessageError, ValueError):
    """Raised if a part of a checkpoint cannot be used."""


class HasBudget(Protocol):
    """Describe an object that computes in batches of at most ``budget`` padded tokens."""

    budget: int


def _alone(item: Any) -> list[Any]:
    return [item]


def _one(item: Any) -> int:
    return 1


def in_batches(
    owner: HasBudget,
    items: Sequence[Item],
    *,
    length: Callable[[Item], int],
    work: Callable[[Any], Result],
    prepare: Callable[[list[Item]], Any] | None = None,
    size: Callable[[Item], int] = _one,
    split: Callable[[Item], list[Item]] = _alone,
) -> Iterator[tuple[list[Item], Result]]:
    """Yield batches of items of similar length with their results, the longest items first.

    ``work`` gets a batch, or what ``prepare`` makes of it beside the work on the batch before it.
    An item is ``size`` texts of at most ``length`` tokens. A padded batch stays within the owner's
    budget, or has one item; an item much larger than the budget is split by ``split``. When memory
    is full, the budget is reduced permanently to half of the batch, and the batch is tried again in
    parts. Raises a temporary :class:`MetricError` for an item that cannot be split and does not fit
    alone.
    """
    waiting = deque(sorted(items, key=length, reverse=True))

    def taken() -> Iterator[list[Item]]:
        while waiting:
            yield _take(waiting, length, size, split, owner.budget)

    while waiting:
        batches = ((b, b) for b in taken()) if prepare is None else ahead(prepare, taken())
        with closing(batches):
            for batch, given in batches:
                result = _attempt(work, given)
                if result is not None:
                    yield batch, result[0]
                    continue
                memory.empty_cache()
                parts = batch if len(batch) > 1 else split(batch[0])
                if len(parts) == 1:
                    problem = message(
                        "encoder.text-too-long",
                        "A text of {count} tokens does not fit in memory.",
                        count=length(batch[0]),
                    )
                    raise MetricError(problem, permanent=False)
                owner.budget = max(1, sum(map(size, batch)) * max(map(length, batch)) // 2)
                waiting.extendleft(reversed(parts))


def _attempt(work: Callable[[Any], Result], given: Any) -> tuple[Result] | None:
    """Return the result; None when memory is full, after releasing the tensors."""
    try:
        return (work(given),)
    except torch.cuda.OutOfMemoryError:
        return None


def _take(
    waiting: deque[Item],
    length: Callable[[Item], int],
    size: Callable[[Item], int],
    split: Callable[[Item], list[Item]],
    budget: int,
) -> list[Item]:
    """Remove from the left as many items as fit in the budget and are of similar length, at least
    one."""
    batch = [waiting.popleft()]
    too_large = OVERSIZE * budget
    while size(batch[0]) * length(batch[0]) > too_large and len(parts := split(batch[0])) > 1:
        waiting.extendleft(reversed(parts[1:]))
        batch = parts[:1]
    longest, n_texts = length(batch[0]), size(batch[0])
    n_tokens = longest * n_texts
    while waiting:
        longest, n_texts = max(longest, length(waiting[0])), n_texts + size(waiting[0])
        n_tokens += length(waiting[0]) * size(waiting[0])
        if n_texts * longest > min(budget, MOST_PADDED * n_tokens):
            break
        batch.append(waiting.popleft())
    return batch


_UNREADABLE = message("checkpoint.tokenizer-unreadable", "its tokenizer cannot be read.")


def whole(load: Callable[[], Any]) -> Any:
    """Return the loaded tokenizer; raise :class:`LoadError` if there is none.

    If a SentencePiece model is missing or truncated, transformers returns False or None, or raises
    an error that does not name the file.
    """
    try:
        tokenizer = load()
    except (AttributeError, TypeError) as error:
        raise LoadError(_UNREADABLE) from error
    if tokenizer is None or isinstance(tokenizer, bool):
        raise LoadError(_UNREADABLE)
    return tokenizer


def require_rows(checkpoint: str, tokenizer: Any, model: Any) -> None:
    """Raise a permanent :class:`MetricError` if the tokenizer has ids without an embedding.

    Added tokens are not checked: many language models have a padding token without an embedding.
    """
    added = set(tokenizer.get_added_vocab().values())
    largest = max((each for each in tokenizer.get_vocab().values() if each not in added), default=0)
    rows = _rows(model)
    if rows is not None and largest >= rows:
        problem = message(
            "checkpoint.tokenizer-of-other-model",
            "The tokenizer of {checkpoint} belongs to another model: it has ids up to {largest}, "
            "but the model has {rows} embeddings.",
            checkpoint=checkpoint,
            largest=largest,
            rows=rows,
        )
        raise MetricError(problem, permanent=True)


def is_longer(tokenizer: Any, *texts: str, limit: int, **given: Any) -> bool:
    """Return whether a text, or a pair of texts in one sequence, has more tokens than a limit.

    This tokenizes again, so call it only for texts that fill the limit after truncation.
    """
    return len(tokenizer(*texts, verbose=False, **given)["input_ids"]) > limit


def _rows(model: Any) -> int | None:
    """Return the number of tokens with an embedding; None if it cannot be determined."""
    try:
        return int(model.get_input_embeddings().weight.shape[0])
    except (AttributeError, NotImplementedError):
        return None
