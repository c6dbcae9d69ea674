"""Recognise systems that are human translations, and references that a metric used.

A human translation that was judged as a system says little about metrics: its scores are far from
those of MT systems, and if a metric uses the same text as its reference, the score compares the
text with itself. Both Touchstone and the command line use this module.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import eq

# Names of human translations in the releases of WMT: ref, refA, ref-A, Human-A.0, HUMAN.0.
_HUMAN = re.compile(
    r"(?:human|reference|ref)(?:[-_. ]?(?:translation|reference|ref))?(?:[-_. ]?([a-z0-9]))?"
    r"(?:\.\d+)?",
    re.IGNORECASE,
)
# A system that gives a reference's text for this share of its outputs is that reference.
SHARE = 0.9
FIRST = "a"


def looks_human(name: str) -> bool:
    """Return True for a name that data sets give to human translations.

    Examples
    --------
    >>> [looks_human(name) for name in ("refA", "ref-B", "Human-A.0", "HUMAN.0", "ONLINE-B")]
    [True, True, True, True, False]
    """
    return _HUMAN.fullmatch(name.strip()) is not None


def reference_letter(name: str) -> str:
    """Return the letter that identifies a reference, in lower case.

    Examples
    --------
    >>> [reference_letter(name) for name in ("refA", "A", "ref", "Human-B.0")]
    ['a', 'a', 'a', 'b']
    """
    name = name.strip()
    found = _HUMAN.fullmatch(name)
    return name.casefold() if found is None else (found[1] or FIRST).casefold()


def is_reference(n_equal: int, n_outputs: int) -> bool:
    """Return True if enough of a system's outputs equal a reference for it to be the reference.

    Examples
    --------
    >>> is_reference(529, 529), is_reference(480, 529), is_reference(200, 529), is_reference(0, 0)
    (True, True, False, False)
    """
    return n_outputs > 0 and n_equal >= SHARE * n_outputs


def find_reference(
    outputs: Collection[str | None], references: Mapping[str, Sequence[str | None]]
) -> str:
    """Return the name of the reference that a system's outputs are, or "".

    Parameters
    ----------
    outputs
        A system's text of each segment; None or "" if missing.
    references
        Reference -> text of each segment. If several fit, the first by name is returned.
    """
    n = sum(map(bool, outputs))
    for name in sorted(references):
        n_equal = sum(map(eq, outputs, references[name]))
        if n_equal and n < len(outputs):
            pairs = zip(outputs, references[name], strict=True)
            n_equal = sum(bool(own) and own == text for own, text in pairs)
        if is_reference(n_equal, n):
            return name
    return ""


def references_read(metric: str) -> frozenset[str] | None:
    """Return the letters of the references in a metric's name.

    mt-metrics-eval writes them at the end: ``BLEU-refA``, ``chrF-refA.refB``. The set is empty
    without a reference (``QE-src``) or any such ending; None means all references (``x-all``).

    Examples
    --------
    >>> sorted(references_read("BLEU-refA.refB")), references_read("QE-src")
    (['a', 'b'], frozenset())
    >>> references_read("BLEU-all") is None
    True
    """
    ending = metric.rpartition("-")[2].strip()
    if ending.casefold() == "all" and "-" in metric:
        return None
    names = ending.split(".")
    if "-" not in metric or not all(looks_human(name) for name in names):
        return frozenset()
    return frozenset(map(reference_letter, names))


def scored_against_itself(metric: str, references: Mapping[str, str]) -> list[str]:
    """Return the systems that are references which a metric's name lists.

    Parameters
    ----------
    metric
        Name of the metric, as `references_read` takes it.
    references
        System -> name of the reference that it is.
    """
    letters = references_read(metric)
    return [
        system
        for system, reference in references.items()
        if letters is None or reference_letter(reference) in letters
    ]


def named_references(systems: Iterable[str]) -> dict[str, str]:
    """Return system -> reference, for systems whose names are those of human translations."""
    return {name: name for name in systems if looks_human(name)}
