"""The official packages, each loaded once: (n, columns) of scores for pairs, in batches of a size.

Making one raises ModuleNotFoundError where its package is not installed.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch

from benchmarks.gpu.cases import Case
from metrics.base import Scores, SegmentInput

Peer = Callable[[Sequence[SegmentInput], int], Scores]


def make(case: Case, folder: Path, device: str) -> Peer | None:
    """The package that a case is compared with; None where there is none."""
    makers = {
        "against_references": against_references,
        "against_sources": against_sources,
        "comet": comet,
        "bleurt": bleurt,
        "sentences": sentences,
        "sentsim": sentsim,
    }
    return makers[case.peer](case, folder, device) if case.peer else None


def against_references(case: Case, folder: Path, device: str) -> Peer:
    """bert-score at one layer."""
    return _bert_score(case, folder / case.models["checkpoint"], device, _reference)


def against_sources(case: Case, folder: Path, device: str) -> Peer:
    """bert-score, the source in the place of the reference."""
    name = case.models.get("encoder") or case.models["checkpoint"]
    return _bert_score(case, folder / name, device, _source)


def _reference(each: SegmentInput) -> str:
    return each.references[0]


def _source(each: SegmentInput) -> str:
    return each.source


def _bert_score(
    case: Case, checkpoint: Path, device: str, other: Callable[[SegmentInput], str]
) -> Peer:
    from bert_score import BERTScorer

    layer = int(case.options.get("layer") or trained_layer(checkpoint))
    scorer = BERTScorer(model_type=str(checkpoint), num_layers=layer, device=device)

    def score(inputs: Sequence[SegmentInput], batch: int) -> Scores:
        outputs, others = [each.hypothesis for each in inputs], [other(each) for each in inputs]
        if batch > 1:
            values = scorer.score(outputs, others, batch_size=batch)
            return torch.stack(values, 1).double().numpy()
        # One pair at a time: in a batch its padding counts.
        alone = [scorer.score([a], [b]) for a, b in zip(outputs, others, strict=True)]
        return np.array([torch.cat(values).double().numpy() for values in alone])

    return score


def trained_layer(checkpoint: Path) -> int:
    """What ReFreeEval reads from the folder."""
    from extensions.neural.trained.options import trained_layer

    return trained_layer(str(checkpoint))


def comet(case: Case, folder: Path, device: str) -> Peer:
    """comet's own predict."""
    from comet import load_from_checkpoint

    path = folder / case.models["checkpoint"] / "checkpoints" / "model.ckpt"
    model = load_from_checkpoint(str(path))

    def score(inputs: Sequence[SegmentInput], batch: int) -> Scores:
        samples = [
            {"src": each.source, "mt": each.hypothesis}
            | ({"ref": each.references[0]} if case.options["reference"] else {})
            for each in inputs
        ]
        found = model.predict(
            samples,
            batch_size=batch,
            gpus=int(device != "cpu"),
            accelerator="gpu" if device != "cpu" else "cpu",
            num_workers=0,
            progress_bar=False,
        )
        return np.array(found["scores"], float)[:, None]

    return score


def bleurt(case: Case, folder: Path, device: str) -> Peer:
    """bleurt-pytorch, as its page says to use it."""
    from bleurt_pytorch import BleurtForSequenceClassification, BleurtTokenizer

    checkpoint = folder / case.models["checkpoint"]
    model = BleurtForSequenceClassification.from_pretrained(checkpoint).eval().to(device)
    tokenizer = BleurtTokenizer.from_pretrained(checkpoint)

    @torch.no_grad()
    def score(inputs: Sequence[SegmentInput], batch: int) -> Scores:
        found = []
        for start in range(0, len(inputs), batch):
            part = inputs[start : start + batch]
            tokens = tokenizer(
                [each.references[0] for each in part],
                [each.hypothesis for each in part],
                return_tensors="pt",
                padding="longest",
                truncation=True,
                max_length=512,
            )
            found += model(**tokens.to(device)).logits.flatten().tolist()
        return np.array(found)[:, None]

    return score


def sentences(case: Case, folder: Path, device: str) -> Peer:
    """sentence-transformers: mean of the last layer."""
    from sentence_transformers import SentenceTransformer, models  # type: ignore[attr-defined]

    transformer = models.Transformer(str(folder / case.models["checkpoint"]))
    pooling = models.Pooling(transformer.get_word_embedding_dimension(), pooling_mode="mean")
    model = SentenceTransformer(modules=[transformer, pooling], device=device)

    def score(inputs: Sequence[SegmentInput], batch: int) -> Scores:
        sides = [each.hypothesis for each in inputs], [each.source for each in inputs]
        left, right = (model.encode(side, batch_size=batch).astype(float) for side in sides)
        norms = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
        return np.asarray((left * right).sum(axis=1) / norms)[:, None]

    return score


def sentsim(case: Case, folder: Path, device: str) -> Peer:
    """The cosine of sentence-transformers beside the F1 of bert-score."""
    cosine, tokens = sentences(case, folder, device), against_sources(case, folder, device)

    def score(inputs: Sequence[SegmentInput], batch: int) -> Scores:
        return np.hstack([cosine(inputs, batch), tokens(inputs, batch)[:, 2:]])

    return score
