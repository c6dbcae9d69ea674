"""The key of a signature depends on every file that its metric reads."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer, models

from benchmarks.gpu import small
from extensions.neural.encoding import encoders
from extensions.neural.mover import mapping
from metrics import registry
from metrics.base import MetricInfo, OnTestSet
from metrics.workers.signatures import make_key
from tests.extensions.neural.reference_free import REFERENCES, TEXTS

LANGUAGES = ("zh", "en")


class _Audit:
    """Python keeps an audit hook for good: one, which is deaf most of the time."""

    opened: set[Path] | None = None


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and _Audit.opened is not None and isinstance(arguments[0], str | Path):
        _Audit.opened.add(Path(arguments[0]).resolve())


sys.addaudithook(_hear)


@contextmanager
def listening() -> Iterator[set[Path]]:
    """The files that are opened within."""
    _Audit.opened = set()
    try:
        yield _Audit.opened
    finally:
        _Audit.opened = None


def lines(folder: Path, name: str) -> str:
    (folder / name).write_text("\n".join(TEXTS), encoding="utf-8")
    return str(folder / name)


def bertscore(folder: Path) -> tuple[str, dict[str, Any]]:
    encoder = small.bert(folder / "bert", TEXTS)
    rows = "\n".join(f"{layer},0.1,0.1,0.1" for layer in range(4))
    (encoder / "own.tsv").write_text(f"LAYER,P,R,F\n{rows}\n")
    options = {"checkpoint": str(encoder), "layer": 2, "idf": True, "baseline": "own.tsv"}
    return "bertscore", options


def comet(folder: Path) -> tuple[str, dict[str, Any]]:
    encoder = small.xlm_roberta(folder / "xlmr", TEXTS * 4)
    return "comet", {"checkpoint": str(small.comet(folder / "comet", encoder))}


def bleurt(folder: Path) -> tuple[str, dict[str, Any]]:
    return "bleurt", {"checkpoint": str(small.bleurt(folder / "bleurt", TEXTS * 4))}


def xmoverscore(folder: Path) -> tuple[str, dict[str, Any]]:
    encoder = str(small.bert(folder / "bert", TEXTS))
    model = encoders.get(encoder).model
    print_ = mapping.fingerprint(model)
    about = mapping.About("umd", encoder, print_, 2, *LANGUAGES, 0, "data")
    source, target = np.random.default_rng(5).standard_normal((2, 60, 32))
    mapping.fit("umd", about, source, target).save(folder / "mapping")
    encoders.forget()
    return "xmoverscore", {
        "checkpoint": encoder,
        "layer": 2,
        "mapping": str(folder / "mapping"),
        "idf-source": lines(folder, "source.txt"),
        "idf-target": lines(folder, "target.txt"),
        "language-model": str(small.gpt2(folder / "gpt2", TEXTS * 4)),
    }


def xbertscore(folder: Path) -> tuple[str, dict[str, Any]]:
    encoder = str(small.bert(folder / "bert", TEXTS))
    return "xbertscore", {"checkpoint": encoder, "layer": 2, "idf": lines(folder, "idf.txt")}


def sentsim(folder: Path) -> tuple[str, dict[str, Any]]:
    encoder = str(small.xlm_roberta(folder / "xlmr", TEXTS * 4))
    return "sentsim", {"checkpoint": _sentences(folder), "encoder": encoder, "layer": 2}


def _sentences(folder: Path) -> str:
    transformer = models.Transformer(str(small.bert(folder / "plain", TEXTS)))
    pooling = models.Pooling(transformer.get_word_embedding_dimension(), pooling_mode="mean")
    found = SentenceTransformer(modules=[transformer, pooling, models.Dense(32, 16)], device="cpu")
    found.save(str(folder / "sentences"))
    return str(folder / "sentences")


def cosine(folder: Path) -> tuple[str, dict[str, Any]]:
    return "cosine", {"checkpoint": _sentences(folder)}


def yisi_static(folder: Path) -> tuple[str, dict[str, Any]]:
    path = folder / "vectors.txt"
    path.write_text("the 1 0\nquiet 0 1\n")
    return "yisi-static", {"vectors": str(path), "compare": "reference"}


def head(folder: Path) -> tuple[str, dict[str, Any]]:
    encoder = small.bert(folder / "bert", TEXTS)
    weights = encoders.get(str(encoder)).spec.weights
    encoders.forget()
    document = {
        "layers": [2], "features": ["f"], "mean": [0], "scale": [1], "weights": [1],
        "intercept": 0, "encoder": weights, "fitted_on": "wmt",
    }  # fmt: skip
    (folder / "head.json").write_text(json.dumps(document))
    return "refreeeval-head", {"checkpoint": str(encoder), "head": str(folder / "head.json")}


FAMILIES = [bertscore, comet, bleurt, xmoverscore, xbertscore, sentsim, cosine, yisi_static, head]


def key_of(info: MetricInfo) -> str:
    return make_key(info, languages=LANGUAGES)


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_every_file_that_is_opened_is_in_the_key(
    tmp_path: Path, family: Callable[[Path], tuple[str, dict[str, Any]]]
) -> None:
    name, options = family(tmp_path)
    info = registry.configure(name, "small", "Small", options)
    path = registry.get_family(name).scorer
    with listening() as opened:
        metric = registry.build(
            info, path, source_language=LANGUAGES[0], target_language=LANGUAGES[1]
        )
        if isinstance(metric, OnTestSet):
            metric.fit([(reference,) for reference in REFERENCES])
        assert metric.signature()
    ours = sorted(file for file in opened if file.is_relative_to(tmp_path) and file.is_file())
    assert ours
    key = key_of(info)
    assert [file for file in ours if _is_indifferent(file, info, key)] == []


def _is_indifferent(file: Path, info: MetricInfo, key: str) -> bool:
    """Whether the key stays the same though the file is another one."""
    before = file.read_bytes()
    file.write_bytes(before + b"\n")
    is_same = key_of(info) == key
    file.write_bytes(before)
    return is_same
