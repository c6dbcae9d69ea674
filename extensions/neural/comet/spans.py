"""Decode xCOMET's error spans from its labels of subwords.

comet's own decoding (``UnifiedMetric.decode`` of unbabel-comet 2.2) loses a span that is still open
at the end of the text, and lets a span begin at the blank before its first word. Here the last span
is closed with the last subword, blanks are trimmed at both ends, and spans without a character are
dropped. The score stays comet's, which ignores a lost span.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from metrics.error_spans import TARGET, FoundSpan, Spans

REVISION = 1
Offsets = Sequence[Sequence[int]]


@contextmanager
def recording(model: Any) -> Iterator[list[list[FoundSpan]]]:
    """Collect the spans of all texts that the model decodes within the context, in order."""
    found: list[list[FoundSpan]] = []
    own = model.decode

    def decode(probabilities: torch.Tensor, ids: torch.Tensor, offsets: Sequence[Offsets]) -> Any:
        labels = model.label_encoder.ids_to_label
        names = [str(labels[number]) for number in range(probabilities.shape[-1])]
        for rows, places in zip(probabilities, offsets, strict=True):
            found.append(spans_of(rows[: len(places)], places, names, model.decoding_threshold))
        return own(probabilities, ids, offsets)

    model.decode = decode
    try:
        yield found
    finally:
        del model.decode


def spans_of(
    probabilities: torch.Tensor,
    offsets: Offsets,
    labels: Sequence[str],
    threshold: float | None = None,
) -> list[FoundSpan]:
    """Return the spans of one text from probabilities (subwords, labels), with outer blanks.

    ``offsets`` are the [start, end) of each subword, (0, 0) for special tokens. The first label
    means no error. A run of errors has the severity of its first subword and the mean probability
    of its labels (:meth:`UnifiedMetric.decode`).
    """
    values, chosen = probabilities.float().cpu().max(dim=1)
    if threshold:
        errors, place = probabilities[:, 1:].float().cpu().max(dim=1)
        is_error = probabilities[:, 1:].float().cpu().sum(dim=1) > threshold
        values, chosen = torch.where(is_error, errors, values), torch.where(is_error, place + 1, 0)
    spans, run = [], list[int]()
    for number, label in enumerate([*chosen.tolist(), 0]):
        if label:
            run.append(number)
        elif run:
            spans += _span(run, offsets, labels[int(chosen[run[0]])], values)
            run = []
    return spans


def _span(
    run: Sequence[int], offsets: Offsets, label: str, values: torch.Tensor
) -> list[FoundSpan]:
    """Return the span of a run; None if it consists of special tokens."""
    # The end token may be labelled as an error, but it has no position.
    while run and offsets[run[-1]][1] <= offsets[run[-1]][0]:
        run = run[:-1]
    if not run:
        return []
    start, end = int(offsets[run[0]][0]), int(offsets[run[-1]][1])
    confidence = min(1.0, float(values[list(run)].mean()))
    return [FoundSpan(TARGET, start, end, label.partition("-")[2], confidence=confidence)]


def trimmed(spans: Spans, text: str) -> list[FoundSpan]:
    """Return spans without outer blanks; drop spans that consist of blanks."""
    trimmed_spans = []
    for span in spans:
        marked = text[span.start : span.end]
        start = span.start + len(marked) - len(marked.lstrip())
        if marked.strip():
            end = start + len(marked.strip())
            trimmed_spans.append(FoundSpan(TARGET, start, end, span.severity, "", span.confidence))
    return trimmed_spans


def field(model: Any) -> dict[str, str | int]:
    """Return the field of a signature for the decoding of spans."""
    weights = "/".join(f"{float(value):g}" for value in model.input_weights_spans)
    shares = "/".join(f"{value:g}" for value in model.score_weights)
    decoding = f"over {model.decoding_threshold}" if model.decoding_threshold else "argmax"
    return {
        "spans": f"{decoding},last closed,blanks trimmed,{REVISION}",
        "span-weights": weights,
        "score-weights": shares,
    }
