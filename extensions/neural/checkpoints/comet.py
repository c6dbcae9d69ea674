"""Score with COMET models, equal to comet 2.2's own ``predict`` within 1e-5 in float32 (tests).

Loads every class and encoder of comet 2.2. A score does not depend on the rest of its batch.
Regression metrics and rankers embed source, output and reference separately, so every distinct text
is encoded once for all systems. CometKiwi, UniTE and xCOMET encode them together and score pair by
pair. By default the first reference by name is used. A COMET directory does not contain the
configuration of its encoder: the encoder named in ``hparams.yaml`` (such as ``xlm-roberta-large``)
must be on the machine, too; its configuration and tokenizer suffice.

xCOMET decodes error spans from a label for each subword. comet's own decoding loses a span that is
still open at the end of the text, and begins others at the blank before a word. Here the last span
is closed and blanks are trimmed; the score does not change. With several references, spans are
those of the best score, or of the first reference if scores are averaged.

Released sentinels (Perrella et al. 2024) are a COMET encoder and head over one of the three texts.
They load in their own format and equal a direct computation from their weights within 1e-5 (tests),
because their package is not on any index.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from extensions.neural.checkpoints import comet_loading
from extensions.neural.checkpoints.comet_loading import CometModel
from extensions.neural.checkpoints.options import ALL, REFERENCE, SIDES, TOGETHER, part_of
from extensions.neural.encoding import encoders, precision
from metaeval.messages import message
from metrics.base import (
    MeanOfSegments,
    MetricError,
    MetricInfo,
    Scores,
    SegmentInput,
    check_inputs,
    format_signature,
)
from metrics.error_spans import TARGET, FoundSpan, Spans
from metrics.families import references
from metrics.families.passages import CONTEXT, WINDOWS, reading_of
from metrics.options import precision_of

# Decode xCOMET's error spans from its labels of subwords. comet's own decoding
# (``UnifiedMetric.decode`` of unbabel-comet 2.2) loses a span that is still open at the end of
# the text, and lets a span begin at the blank before its first word. Here the last span is
# closed with the last subword, blanks are trimmed at both ends, and spans without a character
# are dropped. The score stays comet's, which ignores a lost span.

REVISION = 1
Offsets = Sequence[Sequence[int]]
Array = NDArray[np.float64]


@contextmanager
def recording(model: Any) -> Iterator[list[list[FoundSpan]]]:
    """Collect the spans of all texts that the model decodes within the context, in order.

    comet's own decoding, which asks for the label of each subword alone, is replaced: the model
    gets the severities of the spans that it would have found, which is all that its score reads.
    """
    found: list[list[FoundSpan]] = []

    def decode(probabilities: torch.Tensor, ids: torch.Tensor, offsets: Sequence[Offsets]) -> Any:
        names = [str(name) for _, name in sorted(model.label_encoder.ids_to_label.items())]
        both = torch.stack(labelled(probabilities, model.decoding_threshold)).cpu().numpy()
        own = []
        for values, chosen, places in zip(*both, offsets, strict=True):
            labels = chosen[: len(places)].astype(int).tolist()
            found.append(spans_of(values, labels, places, names))
            # comet loses a span that is open at the end.
            closed = [run for run in _runs(labels) if run[-1] + 1 < len(labels)]
            own.append([{"severity": _severity(names[labels[run[0]]])} for run in closed])
        return own

    model.decode = decode
    try:
        yield found
    finally:
        del model.decode


def labelled(
    probabilities: torch.Tensor, threshold: float | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the probability and the number of each subword's label, both (…,) in float64.

    ``probabilities`` are (…, labels). The first label means no error; with a threshold it is
    chosen unless those of all errors exceed it (:meth:`UnifiedMetric.decode`).
    """
    probabilities = probabilities.float()
    values, chosen = probabilities.max(dim=-1)
    if threshold:
        errors, place = probabilities[..., 1:].max(dim=-1)
        is_error = probabilities[..., 1:].sum(dim=-1) > threshold
        values, chosen = torch.where(is_error, errors, values), torch.where(is_error, place + 1, 0)
    return values.double(), chosen.double()


def spans_of(
    values: Array, chosen: Sequence[int], offsets: Offsets, labels: Sequence[str]
) -> list[FoundSpan]:
    """Return the spans of one text from the label of each subword, with outer blanks.

    ``values`` are the probabilities of the chosen labels. ``offsets`` are the [start, end) of each
    subword, (0, 0) for special tokens. A run of errors has the severity of its first subword and
    the mean probability of its labels.
    """
    return [
        span
        for run in _runs(chosen)
        for span in _span(run, offsets, _severity(labels[chosen[run[0]]]), values)
    ]


def _runs(chosen: Sequence[int]) -> list[list[int]]:
    """Return the places of each run of errors."""
    places = range(len(chosen))
    return [list(run) for is_error, run in groupby(places, lambda n: bool(chosen[n])) if is_error]


def _severity(label: str) -> str:
    return label.partition("-")[2]


def _span(run: Sequence[int], offsets: Offsets, severity: str, values: Array) -> list[FoundSpan]:
    """Return the span of a run; None if it consists of special tokens."""
    # The end token may be labelled as an error, but it has no position.
    while run and offsets[run[-1]][1] <= offsets[run[-1]][0]:
        run = run[:-1]
    if not run:
        return []
    start, end = int(offsets[run[0]][0]), int(offsets[run[-1]][1])
    confidence = min(1.0, float(values[list(run)].mean()))
    return [FoundSpan(TARGET, start, end, severity, confidence=confidence)]


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


TEXTS_PER_ESTIMATE = 4_096
# Cached vectors of texts, shared by chunks and runs: 200 MiB of 1,024 numbers each.
KEPT_TEXTS = 50_000
Sample = Mapping[str, str]


class Comet(MeanOfSegments):
    """Score with the checkpoint of the description, for any languages."""

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        self.info = info
        self.loaded = comet_loading.get(info.checkpoint, precision_of(info))
        self.model, self.device = self.loaded.model, self.loaded.device
        self.precision = self.loaded.precision
        self.reads = _sides(info, self.loaded)
        self.in_context = reading_of(info) == CONTEXT
        if self.in_context:
            self._require_context()
        self.n_encoded = 0
        self.truncated: Collection[int] = ()

    def _require_context(self) -> None:
        if not self.loaded.reads_context:
            problem = message(
                "comet.no-context",
                "{metric}: {checkpoint} reads no context. That needs a regression model with "
                "average pooling. Set the option documents to {choice}.",
                metric=self.info.label,
                checkpoint=self.info.checkpoint,
                choice=WINDOWS,
            )
            raise MetricError(problem, permanent=True)
        self.separator = str(self.model.encoder.tokenizer.sep_token)

    @property
    def budget(self) -> int:
        """Return the padded tokens of a batch."""
        return self.loaded.budget

    def signature(self) -> str:
        """Return everything that changes a value."""
        fields: dict[str, str | int] = {
            "checkpoint": self.info.checkpoint,
            "weights": self.loaded.weights,
            "encoder": self.loaded.encoder_settings,
            **precision.signature_fields(self.precision),
            "reference": self.info.references if "ref" in self.reads else "none",
            **({} if part_of(self.info) == ALL else {"input": part_of(self.info)}),
            "revision": REVISION,
            **(field(self.model) if self.loaded.marks_spans else {}),
        }
        return format_signature(self.info.name, fields)

    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return (n, 1)."""
        return self.score_with_spans(inputs)[0]

    @torch.inference_mode()
    def score_with_spans(
        self, inputs: Sequence[SegmentInput]
    ) -> tuple[Scores, Sequence[Spans] | None]:
        """Return scores (n, 1) and the spans of an xCOMET; no spans (None) for other models.

        If several references are used separately, spans are those of the best score, or of the
        first reference if scores are averaged.
        """
        check_inputs(self.info, inputs)
        if not inputs:
            self.truncated = ()
            return np.empty((0, 1)), [] if self.loaded.marks_spans else None
        if "ref" not in self.reads:
            scores, found, is_cut = self._score(inputs)
            self.truncated = {row for row, cut in enumerate(is_cut) if cut}
            return scores, found
        singles, rows = references.apart(self.info, inputs)
        scores, found, is_cut = self._score(singles)
        self.truncated = {int(row) for row, cut in zip(rows, is_cut, strict=True) if cut}
        pooled = references.pool(self.info, len(inputs), rows, scores)
        return pooled, found and [found[row] for row in self._shown(rows, scores)]

    def _shown(self, rows: references.Rows, scores: Scores) -> list[int]:
        """Return the pair of each input whose spans are returned."""
        is_best = self.info.references == "best"
        order = np.lexsort((-scores[:, 0] if is_best else np.arange(len(rows)), rows))
        return [int(order[place]) for place in np.unique(rows[order], return_index=True)[1]]

    def _score(
        self, inputs: Sequence[SegmentInput]
    ) -> tuple[Scores, Sequence[Spans] | None, list[bool]]:
        """Return scores (n, 1), spans if the model marks them, and which inputs were truncated."""
        samples = [self._sample(segment) for segment in inputs]
        found: list[Spans] | None = None
        if self.loaded.is_apart:
            scores, is_cut = self._apart(samples)
        else:
            scores, found, is_cut = self._together(samples)
        return np.asarray(scores.double().cpu().numpy()[:, None]), found, is_cut

    def _sample(self, segment: SegmentInput) -> Sample:
        texts = {"src": segment.source, "mt": segment.hypothesis}
        if "ref" in self.reads:
            texts["ref"] = segment.references[0]
        return {side: texts[side] for side in self.reads}

    def _apart(self, samples: Sequence[Sample]) -> tuple[torch.Tensor, list[bool]]:
        vectors, truncated = self._embed(list(dict.fromkeys(_all(samples))))
        place = {text: row for row, text in enumerate(vectors)}
        stacked = encoders.moved(torch.stack(list(vectors.values())), self.device)
        rows_of = torch.tensor([[place[each[side]] for each in samples] for side in self.reads])
        columns = dict(zip(self.reads, encoders.moved(rows_of, self.device), strict=True))
        parts = []
        for start in range(0, len(samples), TEXTS_PER_ESTIMATE):
            rows = slice(start, start + TEXTS_PER_ESTIMATE)
            parts.append(self._estimate({s: stacked[c[rows]] for s, c in columns.items()}))
        return torch.cat(parts), [not truncated.isdisjoint(sample.values()) for sample in samples]

    def _embed(self, texts: Sequence[str]) -> tuple[dict[str, torch.Tensor], set[str]]:
        """Return the vector of each text, (width,), and which texts are truncated.

        Texts with a cached vector are not encoded again.
        """
        kept, longest = self.loaded.vectors, self.loaded.longest
        new = [text for text in texts if (text, self.in_context) not in kept]
        lengths = self.model.encoder.tokenizer.count(new)
        for batch, vectors in encoders.in_batches(
            self.loaded,
            new,
            length=lambda text: min(lengths[text], longest),
            prepare=self.loaded.prepare,
            work=self._sentences,
        ):
            for text, vector in zip(batch, vectors.cpu(), strict=True):
                kept[text, self.in_context] = vector.clone(), lengths[text] > longest
            self.n_encoded += len(batch)
        found = {text: kept[text, self.in_context] for text in texts}
        for text in texts:
            kept.move_to_end((text, self.in_context))
        while len(kept) > KEPT_TEXTS:
            kept.popitem(last=False)
        truncated = {text for text, (_, is_cut) in found.items() if is_cut}
        return {text: vector for text, (vector, _) in found.items()}, truncated

    def _sentences(self, tokens: Any) -> torch.Tensor:
        self.model.use_context = self.in_context
        with precision.computing(self.device, self.precision):
            embedded = self.model.compute_sentence_embedding(
                **{name: encoders.moved(each, self.device) for name, each in tokens.items()}
            )
        return torch.as_tensor(embedded).float()

    def _estimate(self, sides: Mapping[str, torch.Tensor]) -> torch.Tensor:
        with precision.computing(self.device, "float32"):
            return comet_loading.scores(self.model, sides)

    def _together(
        self, samples: Sequence[Sample]
    ) -> tuple[torch.Tensor, list[Spans] | None, list[bool]]:
        counts = self.model.encoder.tokenizer.count(list(dict.fromkeys(_all(samples))))
        scores = torch.empty(len(samples))
        marked: list[Spans] = [()] * len(samples)
        for batch, (found, own) in encoders.in_batches(
            self.loaded,
            range(len(samples)),
            length=lambda index: sum(
                min(counts[text], self.loaded.longest) for text in samples[index].values()
            ),
            prepare=lambda batch: self._prepared([samples[index] for index in batch]),
            work=self._predict,
        ):
            scores[batch] = found
            for index, each in zip(batch, own, strict=False):
                marked[index] = each
        is_cut = [
            self.loaded.is_too_long([counts[text] for text in sample.values()])
            for sample in samples
        ]
        return scores, marked if self.loaded.marks_spans else None, is_cut

    def _prepared(self, samples: Sequence[Sample]) -> tuple[Sequence[Sample], Any]:
        return samples, self.model.prepare_for_inference([dict(sample) for sample in samples])

    def _predict(self, given: tuple[Sequence[Sample], Any]) -> tuple[torch.Tensor, list[Spans]]:
        samples, prepared = given[0], self._moved(given[1])
        with (
            recording(self.model) as found,
            precision.computing(self.device, self.precision),
        ):
            predicted = self.model.predict_step(prepared)
        is_part = part_of(self.info) == TOGETHER
        values = predicted["metadata"]["unified_scores"] if is_part else predicted["scores"]
        scores = torch.as_tensor(values).float().cpu()
        if not self.loaded.marks_spans:
            return scores, []
        own = zip(found, samples, strict=True)
        return scores, [trimmed(each, sample["mt"]) for each, sample in own]

    def _moved(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return encoders.moved(value, self.device)
        if isinstance(value, dict):
            return {name: self._moved(each) for name, each in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(self._moved(each) for each in value)
        return value


def _sides(info: MetricInfo, loaded: CometModel) -> tuple[str, ...]:
    """Return the texts that a metric uses: those of the model that its options select."""
    if loaded.kind == comet_loading.SENTINEL:
        return _side(info, loaded)
    part = part_of(info)
    if part != ALL and (loaded.is_apart or len(loaded.reads) < 3):
        problem = message(
            "comet.single-input",
            "{metric}: {checkpoint} has only one input. Set the option input to {choice}.",
            metric=info.label,
            checkpoint=info.checkpoint,
            choice=ALL,
        )
        raise MetricError(problem, permanent=True)
    if "ref" not in loaded.reads or info.needs_reference:
        return tuple(side for side in loaded.reads if side != "src" or part != REFERENCE)
    if loaded.is_apart or "src" not in loaded.reads:
        problem = message(
            "comet.reference-needed",
            "{metric}: {checkpoint} uses a reference, but the metric was configured without one.",
            metric=info.label,
            checkpoint=info.checkpoint,
        )
        raise MetricError(problem, permanent=True)
    return tuple(side for side in loaded.reads if side != "ref")


def _side(info: MetricInfo, loaded: CometModel) -> tuple[str, ...]:
    chosen = str(dict(info.options).get("reads"))
    if loaded.reads != (SIDES.get(chosen),):
        actual = {side: word for word, side in SIDES.items()}[loaded.reads[0]]
        problem = message(
            "sentinel.other-side",
            "{metric}: the sentinel {checkpoint} uses another text. Set the option reads to "
            "{choice}.",
            metric=info.label,
            checkpoint=info.checkpoint,
            choice=actual,
        )
        raise MetricError(problem, permanent=True)
    return loaded.reads


def _all(samples: Sequence[Sample]) -> list[str]:
    return [text for sample in samples for text in sample.values()]
