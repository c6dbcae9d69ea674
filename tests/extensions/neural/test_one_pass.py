"""Metrics on one encoder share its passes, and batches hold little padding."""

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from benchmarks.gpu import small
from extensions.neural.encoding import encoders, token_vectors
from metrics.base import SegmentInput
from tests.extensions.neural.reference_free import make

SYSTEMS, SEGMENTS = 11, 6
SOURCES = [f"第{number}句，港口很安静。" for number in range(SEGMENTS)]
INPUTS = [
    SegmentInput(source, f"system {system} says the harbour is quiet, line {number}", (source,))
    for number, source in enumerate(SOURCES)
    for system in range(SYSTEMS)
]
Seen = list[Sequence[Sequence[int]]]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    """The batches of token ids that go through an encoder."""
    batches: Seen = []
    original: Callable[..., object] = encoders.Encoder.pad

    def record(self: encoders.Encoder, ids: Sequence[Sequence[int]]) -> object:
        batches.append(ids)
        return original(self, ids)

    monkeypatch.setattr(encoders.Encoder, "pad", record)
    return batches


@pytest.mark.usefixtures("fresh")
def test_each_text_is_encoded_once_for_all_metrics(tmp_path: Path, seen: Seen) -> None:
    """(S + 1) N passes for S systems and N segments, whatever number of metrics asks."""
    texts = [text for each in INPUTS for text in (each.source, each.hypothesis)]
    encoder = str(small.bert(tmp_path / "mbert", texts))
    token = {"checkpoint": encoder, "layer": 2}
    metrics = [
        make("xbertscore", **token),
        make("xbertscore", **token, measure="r"),
        make("yisi", **token),
        make("yisi", **token, order=1, alpha=0.5),
        make("sentsim", checkpoint=encoder, encoder=encoder, layer=3),
        make("cosine", checkpoint=encoder),
    ]
    for metric in metrics[:4]:
        # In chunks, as a worker scores.
        for start in range(0, len(INPUTS), 16):
            metric.score(INPUTS[start : start + 16])
    encoded = [tuple(ids) for batch in seen for ids in batch]
    assert len(encoded) == len(set(encoded)) == (SYSTEMS + 1) * SEGMENTS
    seen.clear()
    # The last layer was not computed before; it is computed once for these two.
    for metric in metrics[4:]:
        metric.score(INPUTS)
    encoded = [tuple(ids) for batch in seen for ids in batch]
    assert len(encoded) == len(set(encoded)) == (SYSTEMS + 1) * SEGMENTS


@pytest.mark.usefixtures("fresh")
def test_at_most_1_2_tokens_are_computed_per_real_token(
    data_dir: Path, tmp_path: Path, seen: Seen
) -> None:
    """Over the sources, references and outputs of newstest2017 zh-en that people judged."""
    with (data_dir / "wmt17" / "zh-en" / "segments.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    texts = [row[side] for row in rows for side in ("source", "reference")]
    folder = small.bert(tmp_path / "mbert", texts[:40], layers=1)
    token_vectors.embed(encoders.get(str(folder)), texts, [1])
    computed = sum(len(batch) * max(map(len, batch)) for batch in seen)
    real = sum(len(ids) for batch in seen for ids in batch)
    assert computed <= 1.2 * real
