"""Translate to target lengths by one of the methods, with any checkpoint."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import ctranslate2
import torch
from ctranslate2.converters.transformers import BartLoader
from transformers import MarianMTModel

from metaeval.messages import Message, message
from training.contract import JobError
from training.translation import lengths
from training.translation.decoding.checkpoints import Checkpoint, has_length_tokens
from training.translation.decoding.generating import (
    Beam,
    Found,
    Row,
    limit_of,
    log_probabilities,
    search,
)
from training.translation.requests import (
    CONTROL,
    EXACT,
    N_BEST,
    PLAIN,
    SOFT,
    Request,
    needs_length,
    no_control,
)

# Free searches of small Marian models by CTranslate2, on processors: what transformers would find.
#
# CTranslate2 has no rewards and no forced ends, and only what was compared is served: Marian with
# one vocabulary for both languages, plain or with length tokens. The rest goes by transformers.


# CTranslate2 takes what it has once this many times the beam is finished; transformers go on until
# nothing better can come. With 10 they differ where a model that has hardly learned repeats itself.
PATIENCE = 10.0
BATCH = 64


class Served:
    """A checkpoint's weights as CTranslate2 holds them, and the names of its pieces."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.pieces: list[str] = checkpoint.tokenizer.convert_ids_to_tokens(
            range(checkpoint.model.config.vocab_size)
        )
        self.ids = {piece: n for n, piece in enumerate(self.pieces)}
        with tempfile.TemporaryDirectory() as folder:
            _specification(checkpoint, self.pieces).save(folder)
            self.translator: Any = ctranslate2.Translator(
                folder, device="cpu", compute_type="float32", intra_threads=torch.get_num_threads()
            )

    def names(self, ids: Sequence[int]) -> list[str]:
        """Return the pieces of numbers."""
        return [self.pieces[n] for n in ids]


def best(checkpoint: Checkpoint, rows: Sequence[Row], beam: Beam) -> list[Found]:
    """Return the best output of each row."""
    found = (
        _search(checkpoint, rows, beam) if serves(checkpoint, rows, beam) else [None] * len(rows)
    )
    left = [n for n, own in enumerate(found) if own is None]
    rest = dict(zip(left, search(checkpoint, [rows[n] for n in left], beam), strict=True))
    return [rest[n][0] if own is None else own for n, own in enumerate(found)]


def serves(checkpoint: Checkpoint, rows: Sequence[Row], beam: Beam) -> bool:
    """Return whether CTranslate2 finds the outputs of rows."""
    config = checkpoint.model.config
    return (
        type(checkpoint.model) is MarianMTModel
        and config.share_encoder_decoder_embeddings
        and config.vocab_size == len(checkpoint.tokenizer)
        and str(checkpoint.device) == "cpu"
        and beam.penalty == 1.0
        and all(row.forced is None and not row.reward for row in rows)
    )


def _search(checkpoint: Checkpoint, rows: Sequence[Row], beam: Beam) -> list[Found | None]:
    """Search with CTranslate2; None for rows that transformers must decode.

    These are outputs that reach their own limit, because the limit here is that of all rows, and
    outputs with a hypothesis that has a forbidden piece.
    """
    served, limits = _served(checkpoint), [limit_of(checkpoint, row) for row in rows]
    has_tokens = has_length_tokens(checkpoint)
    first = [
        served.names([checkpoint.length_token(row.target_length or 0)]) if has_tokens else []
        for row in rows
    ]
    banned = set(served.names(checkpoint.banned))
    results = served.translator.translate_batch(
        [served.names(row.source) for row in rows],
        target_prefix=first,
        beam_size=beam.size,
        num_hypotheses=beam.size,
        patience=PATIENCE if beam.size > 1 else 1.0,
        max_batch_size=BATCH,
        max_input_length=0,
        max_decoding_length=max(limits) + 1,
        return_scores=True,
    )
    found = [_best(served, own, len(start)) for own, start in zip(results, first, strict=True)]
    return [
        None if len(own.pieces) >= n or _holds(banned, result, len(start)) else own
        for own, n, result, start in zip(found, limits, results, first, strict=True)
    ]


# By model; a model that learns on would have to be served anew.
_KNOWN: WeakKeyDictionary[Any, Served] = WeakKeyDictionary()


def _served(checkpoint: Checkpoint) -> Served:
    if checkpoint.model not in _KNOWN:
        _KNOWN[checkpoint.model] = Served(checkpoint)
    return _KNOWN[checkpoint.model]


def _best(served: Served, result: Any, n_first: int) -> Found:
    """Return the best output; CTranslate2 divides by a length that includes the prefix."""
    found = [
        Found(
            tuple(served.ids[piece] for piece in pieces[n_first:]),
            score * (len(pieces) + 1) / (len(pieces) + 1 - n_first),
        )
        for pieces, score in zip(result.hypotheses, result.scores, strict=True)
    ]
    return max(found, key=lambda own: own.score)


def _holds(banned: set[str], result: Any, n_first: int) -> bool:
    return any(banned.intersection(pieces[n_first:]) for pieces in result.hypotheses)


def _specification(checkpoint: Checkpoint, pieces: list[str]) -> Any:
    """Return the model for CTranslate2, read as BART.

    CTranslate2's reader of Marian models would remove the row of the padding, with which outputs
    begin; training changes that row if input and output share weights.
    """
    model, tokenizer = checkpoint.model, checkpoint.tokenizer
    model.config.normalize_before = model.config.normalize_embedding = False
    spec = BartLoader().get_model_spec(model)
    spec.register_source_vocabulary(pieces)
    spec.register_target_vocabulary(pieces)
    spec.config.eos_token = tokenizer.eos_token
    spec.config.unk_token = tokenizer.unk_token
    spec.config.decoder_start_token = tokenizer.convert_ids_to_tokens(
        model.config.decoder_start_token_id
    )
    spec.validate()
    spec.optimize(quantization="float32")
    return spec


# The strongest reward per unit that is tried, and how often the range is halved.
STRONGEST, HALVINGS = 8.0, 9
REWARDS = (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0)
# Scores of (source, output) pairs; higher is better.
Rank = Callable[[Sequence[tuple[str, str]]], Sequence[float]]


@dataclass(frozen=True)
class Output:
    """A translation with its length in generated pieces and in the unit of the request."""

    text: str
    pieces: int
    length: int


def refusals(
    checkpoint: Checkpoint, request: Request, wanted: Sequence[int | None]
) -> list[Message]:
    """Return why a checkpoint cannot do a request; empty if it can."""
    name, found = checkpoint.name, []
    if request.method == CONTROL and not checkpoint.has_control:
        found.append(no_control(name))
    if checkpoint.has_control and not request.asks_for_length:
        found.append(needs_length(name))
    if checkpoint.has_control and request.unit != lengths.PIECES:
        found.append(
            message(
                "translation.control-unit",
                "{model} was trained to count pieces. Choose pieces as the unit.",
                model=name,
            )
        )
    if request.method == EXACT and request.unit == lengths.WORDS and checkpoint.preprocessing:
        found.append(
            message(
                "translation.words-of-moses",
                "The words of {model} are Moses’ tokens, also commas. Choose another unit or "
                "method.",
                model=name,
            )
        )
    known = [n for n in wanted if n is not None]
    if any(n < 1 for n in known):
        found.append(
            message("translation.length-zero", "The target length must be at least 1, not 0.")
        )
    longest = _longest(checkpoint)
    if any(n > longest for n in known):
        found.append(
            message(
                "translation.length-too-long",
                "The longest target length is {wanted} (in {unit}), but {model} supports lengths "
                "up to {longest}.",
                wanted=max(known),
                unit=lengths.UNITS[request.unit],
                model=name,
                longest=longest,
            )
        )
    return found


def _longest(checkpoint: Checkpoint) -> int:
    if has_length_tokens(checkpoint):
        return int(checkpoint.control["cap"])
    return checkpoint.limit - len(checkpoint.prefix) - 2


def decode(
    checkpoint: Checkpoint,
    sources: Sequence[str],
    wanted: Sequence[int | None],
    request: Request,
    rank: Rank | None = None,
) -> list[Output]:
    """Translate texts to the target lengths; `rank` scores candidates of an n-best list.

    Raises JobError if the checkpoint cannot do it.
    """
    if errors := refusals(checkpoint, request, wanted):
        raise JobError(*errors)
    rows = [_row(checkpoint, text, n) for text, n in zip(sources, wanted, strict=True)]
    beam = Beam(request.beam, request.unit)
    found = {
        PLAIN: lambda: best(checkpoint, rows, beam),
        CONTROL: lambda: best(checkpoint, rows, beam),
        EXACT: lambda: _first(search(checkpoint, _forced(rows, wanted), beam)),
        SOFT: lambda: _soft(checkpoint, rows, wanted, beam),
        N_BEST: lambda: _n_best(checkpoint, sources, rows, wanted, request, rank),
    }[request.method]()
    return [output_of(checkpoint, each, request.unit) for each in found]


def output_of(checkpoint: Checkpoint, found: Found, unit: str) -> Output:
    """Return the text that a search found, with its lengths."""
    text = checkpoint.write(list(found.pieces))
    n = len(found.pieces)
    return Output(text, n, n if unit == lengths.PIECES else lengths.counter(unit)(text))


def _row(checkpoint: Checkpoint, text: str, wanted: int | None) -> Row:
    ids = checkpoint.read(text)
    if len(ids) > checkpoint.limit:
        raise JobError(
            message(
                "translation.source-too-long",
                "A source has {pieces} pieces, but {model} reads at most {limit}: “{text}…”",
                pieces=len(ids),
                model=checkpoint.name,
                limit=checkpoint.limit,
                text=text[:60],
            )
        )
    return Row(tuple(ids), wanted if checkpoint.has_control else None)


def _forced(rows: Sequence[Row], wanted: Sequence[int | None]) -> list[Row]:
    return [replace(row, forced=n) for row, n in zip(rows, wanted, strict=True)]


def _first(found: Sequence[Sequence[Found]]) -> list[Found]:
    return [each[0] for each in found]


def _soft(
    checkpoint: Checkpoint, rows: Sequence[Row], wanted: Sequence[int | None], beam: Beam
) -> list[Found]:
    """Halve an interval of rewards for each row until its output has the wanted length.

    A larger reward never gives a shorter best output. Where no reward gives the length, the nearest
    one that was seen is taken, the less forced first.
    """
    beam = replace(beam, penalty=0.0)
    low, high = [-STRONGEST] * len(rows), [STRONGEST] * len(rows)
    best: dict[int, tuple[int, float, Found]] = {}
    open_rows = list(range(len(rows)))
    for turn in range(HALVINGS):
        rewards = {n: 0.0 if not turn else (low[n] + high[n]) / 2 for n in open_rows}
        tried = [replace(rows[n], reward=rewards[n]) for n in open_rows]
        for n, found in zip(open_rows, _first(search(checkpoint, tried, beam)), strict=True):
            own = output_of(checkpoint, found, beam.unit).length
            distance = abs(own - (wanted[n] or 1))
            candidate = (distance, abs(rewards[n]), found)
            best[n] = min(best.get(n, candidate), candidate, key=lambda each: each[:2])
            if own < (wanted[n] or 1):
                low[n] = rewards[n]
            else:
                high[n] = rewards[n]
        open_rows = [n for n in open_rows if best[n][0]]
        if not open_rows:
            break
    return [best[n][2] for n in range(len(rows))]


def _n_best(
    checkpoint: Checkpoint,
    sources: Sequence[str],
    rows: Sequence[Row],
    wanted: Sequence[int | None],
    request: Request,
    rank: Rank | None,
) -> list[Found]:
    """Gather candidates from several rewards and one forced search, and take the best near L*.

    Near is within the tolerance, or as near as any. Best is the mean ln p of a piece, or what a
    metric says.
    """
    beam = Beam(request.beam, request.unit, penalty=0.0, n_best=request.beam)
    pool: list[dict[tuple[int, ...], Found]] = [{} for _ in rows]
    for asked in [*([replace(row, reward=reward) for row in rows] for reward in REWARDS),
                  _forced(rows, wanted)]:  # fmt: skip
        for own, found in zip(pool, search(checkpoint, asked, beam), strict=True):
            own.update({each.pieces: each for each in found})
    near = [_near(checkpoint, list(own.values()), n or 1, request)
            for own, n in zip(pool, wanted, strict=True)]  # fmt: skip
    places = [n for n, own in enumerate(near) for _ in own]
    every = [each for own in near for each in own]
    if rank is None:
        sums = log_probabilities(checkpoint, [rows[n] for n in places], [e.pieces for e in every])
        scores = [s / (len(e.pieces) + 1) for s, e in zip(sums, every, strict=True)]
    else:
        texts = [(sources[n], checkpoint.write(list(e.pieces)))
                 for n, e in zip(places, every, strict=True)]  # fmt: skip
        scores = list(rank(texts))
    best: dict[int, tuple[float, Found]] = {}
    for n, score, each in zip(places, scores, every, strict=True):
        if n not in best or score > best[n][0]:
            best[n] = (score, each)
    return [best[n][1] for n in range(len(rows))]


def _near(
    checkpoint: Checkpoint, found: Sequence[Found], wanted: int, request: Request
) -> list[Found]:
    away = [
        abs(output_of(checkpoint, each, request.unit).length - wanted) / wanted for each in found
    ]
    most = max(request.tolerance, min(away)) + 1e-9
    return [each for each, distance in zip(found, away, strict=True) if distance <= most]
