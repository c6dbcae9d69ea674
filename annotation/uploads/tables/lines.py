"""Find the segment of each line in files with one line per segment and without keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from annotation.models import TestSet
from core.text import whole
from metaeval.messages import Message, MessageError, message, truncated

# Line n belongs to the segment with key n, to the nth as listed, or to the nth in an export to
# mt-metrics-eval, which keeps the segments of a document together.
KEY, LISTED, EXPORTED = LINES = ("key", "listed", "exported")
LABELS = {
    KEY: message("lines.key", "the segment whose key is n"),
    LISTED: message("lines.listed", "the nth segment in the list of the test set"),
    EXPORTED: message("lines.exported", "the nth line of the export to mt-metrics-eval"),
}
LINES_HELP = (
    "the meaning of line n in files without keys: the segment with key n, the nth in the list of "
    "the test set, or the nth of its export to mt-metrics-eval; required if the order is unknown"
)


class UnknownOrderError(MessageError, ValueError):
    """The segments of the lines of a file are unknown."""


@dataclass(frozen=True)
class Listing:
    """The segments of a test set as it lists them, by key, with document and domain of each.

    `systems` are those that it has.

    `is_in_file_order`: this is the order of the source file that they came from.
    """

    keys: Sequence[str]
    documents: Sequence[str]
    is_in_file_order: bool
    domains: Sequence[str] = ()
    systems: Sequence[str] = ()

    @classmethod
    def stored(cls, slug: str) -> "Listing":
        """Read the listing of a stored test set; an empty one where there is none."""
        test_set = TestSet.objects.filter(slug=slug).first()
        if test_set is None:
            return cls((), (), is_in_file_order=True)
        fields = ("key", "document", "domain")
        rows = list(test_set.segments.order_by("position").values_list(*fields))
        keys, documents, domains = ([row[n] for row in rows] for n in range(len(fields)))
        systems = list(test_set.systems.values_list("name", flat=True))
        return cls(keys, documents, test_set.is_in_file_order, domains, systems)

    @property
    def parts(self) -> dict[str, frozenset[str]]:
        """What scores may be of, by level."""
        named = {"segment": self.keys, "document": self.documents, "domain": self.domains}
        return {level: frozenset(names) for level, names in named.items()}

    @property
    def is_unclear(self) -> bool:
        """Return True if line n may be another segment than the nth as listed.

        Keys that are ascending numbers have the order of a file. Numbers in another order may be
        numbers of lines.
        """
        numbers = self._numbers()
        if numbers is not None:
            return any(first >= second for first, second in pairwise(numbers))
        return len(self.keys) > 1 and not self.is_in_file_order

    @property
    def choices(self) -> tuple[str, ...]:
        """The possible meanings of a line here."""
        return (
            *((KEY,) if self._numbers() is not None else ()),
            LISTED,
            *((EXPORTED,) if self._exported() != list(self.keys) else ()),
        )

    def key_of_lines(self, lines: str = "") -> list[str | None]:
        """Return the key of each line, None for lines that no segment here has.

        Parameters
        ----------
        lines
            One of `LINES`; empty if it was not stated.

        Raises
        ------
        UnknownOrderError
            The order was not stated and is unclear, or the keys do not allow the stated one.
        """
        if not lines and self.is_unclear:
            raise UnknownOrderError(self._question())
        if lines == EXPORTED:
            return [*self._exported()]
        if lines != KEY:
            return [*self.keys]
        numbers = self._numbers()
        if numbers is None:
            raise UnknownOrderError(
                message(
                    "lines.no-numbers",
                    "Some keys of the segments are not numbers, so lines cannot be matched by key.",
                )
            )
        by_number = dict(zip(numbers, self.keys, strict=True))
        # Keys that begin at 0 count lines from 0.
        first = 0 if 0 in by_number else 1
        return [by_number.get(number) for number in range(first, max(numbers, default=0) + 1)]

    def _numbers(self) -> list[int] | None:
        numbers = [number for key in self.keys if (number := whole(key)) is not None]
        return numbers if len(numbers) == len(self.keys) else None

    def _exported(self) -> list[str]:
        by_document: dict[str, list[str]] = {}
        for key, document in zip(self.keys, self.documents, strict=True):
            by_document.setdefault(document, []).append(key)
        return [key for keys in by_document.values() for key in keys]

    def _question(self) -> Message:
        return message(
            "lines.unknown-order",
            "The lines of this file have no keys, and the segments of the test set ({keys}) are "
            "not in the order of a source file. State whether line n is the segment whose key is "
            "n, or the nth segment as listed (command line: --lines; API: lines; values: "
            "{choices}).",
            keys=truncated(self.keys, 4),
            choices=list(self.choices),
        )


def n_unknown(keys: Sequence[str | None], n_lines: int) -> int:
    """Return how many of some lines belong to no segment."""
    return sum(key is None for key in keys[:n_lines]) + max(0, n_lines - len(keys))
