"""Store parallel text, and read it back."""

import zlib
from collections.abc import Iterable
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from metaeval.messages import message
from training.contract import Corpus
from training.models import CorpusText, ParallelCorpus
from training.parallel.reading import (
    MAX_CHARACTERS,
    Row,
    clean,
    hash_pairs,
    parse_pairs,
    write_pairs,
)

TOO_LITTLE = message("corpus.empty", "All pairs were removed by cleaning.")


def add(
    *, name: str, source_language: str, target_language: str, rows: Iterable[Row], user: Any = None
) -> ParallelCorpus:
    """Clean and store pairs; ValidationError if nothing remains or the name is taken."""
    pairs, report = clean(rows)
    if not pairs:
        raise ValidationError([TOO_LITTLE])
    content = write_pairs(pairs)
    corpus = ParallelCorpus(
        name=name,
        source_language=source_language,
        target_language=target_language,
        n_pairs=len(pairs),
        sha256=hash_pairs(content),
        report=report.as_json(),
        created_by=user,
    )
    corpus.full_clean()
    with transaction.atomic():
        corpus.save()
        CorpusText.objects.create(corpus=corpus, packed=zlib.compress(content, 6))
    return corpus


def as_corpus(row: ParallelCorpus) -> Corpus:
    """Return a corpus as jobs read it."""
    languages = (row.source_language, row.target_language)
    return Corpus(row.name, *languages, pairs_of(row), row.sha256)


def pairs_of(corpus: ParallelCorpus) -> list[tuple[str, str]]:
    """Return the pairs in the order of the upload."""
    return parse_pairs(zlib.decompress(_packed(corpus)))


def first_pairs(corpus: ParallelCorpus, n: int) -> list[tuple[str, str]]:
    """Return the first pairs without decompressing the rest."""
    # At most four bytes per character, on both sides.
    enough = n * 2 * (4 * MAX_CHARACTERS + 1)
    content = zlib.decompressobj().decompress(_packed(corpus), enough)
    return parse_pairs(content[: content.rindex(b"\n") + 1])[:n]


def _packed(corpus: ParallelCorpus) -> bytes:
    # PostgreSQL's driver gives a view of memory.
    return bytes(CorpusText.objects.values_list("packed", flat=True).get(corpus=corpus))
