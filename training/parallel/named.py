"""Parallel text of commands without a database: files with their languages."""

from pathlib import Path

from training.contract import Corpus
from training.parallel.reading import Cleaning, clean, hash_pairs, read_pairs, write_pairs


def read_named(given: str) -> tuple[Corpus, Cleaning]:
    """Read `FILE:SOURCE:TARGET`; ValueError and OSError say what is wrong."""
    path, source, target = [*given.rsplit(":", 2), "", ""][:3]
    if not source or not target:
        raise ValueError(f"{given}: expected FILE:SOURCE:TARGET, as in europarl.tsv:de:en.")
    file = Path(path)
    pairs, report = clean(read_pairs(file.name, file.read_bytes(), (source, target)))
    return Corpus(file.stem, source, target, pairs, hash_pairs(write_pairs(pairs))), report
