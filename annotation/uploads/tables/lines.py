"""Which segment a line is of, in files that hold one line per segment and no keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from annotation.models import TestSet
from core.text import whole

# Line n is of the segment with key n, of the nth as listed, or of the nth in an export to
# mt-metrics-eval, which keeps the segments of a document together.
KEY, LISTED, EXPORTED = LINES = ("key", "listed", "exported")
LABELS = {
    KEY: "the segment whose key is n",
    LISTED: "the nth segment of the test set as it is listed",
    EXPORTED: "the nth line of the export in the layout of mt-metrics-eval",
}
LINES_HELP = (
    "what line n of files without keys is: the segment with key n, the nth as the test set lists "
    "them, or the nth of its export to mt-metrics-eval; needed where the order is not known"
)


class UnknownOrderError(ValueError):
    """It is not known which segments the lines of a file are of."""


@dataclass(frozen=True)
class Listing:
    """The segments of a test set as it lists them, by key, with the document of each.

    `is_in_file_order`: this is the order of the source file that they came from.
    """

    keys: Sequence[str]
    documents: Sequence[str]
    is_in_file_order: bool

    @classmethod
    def stored(cls, slug: str) -> "Listing":
        """Read the listing of a stored test set; an empty one where there is none."""
        test_set = TestSet.objects.filter(slug=slug).first()
        if test_set is None:
            return cls((), (), is_in_file_order=True)
        rows = list(test_set.segments.order_by("position").values_list("key", "document"))
        keys, documents = [key for key, _ in rows], [document for _, document in rows]
        return cls(keys, documents, test_set.is_in_file_order)

    @property
    def is_unclear(self) -> bool:
        """Whether line n may be another segment than the nth as listed.

        Keys that are ascending numbers have the order of a file. Numbers in another order may name
        lines themselves.
        """
        numbers = self._numbers()
        if numbers is not None:
            return any(first >= second for first, second in pairwise(numbers))
        return len(self.keys) > 1 and not self.is_in_file_order

    @property
    def choices(self) -> tuple[str, ...]:
        """What a line may be here."""
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
            One of `LINES`; empty where nobody said what the lines are.

        Raises
        ------
        UnknownOrderError
            Nobody said it and it is not clear, or the keys do not allow what was said.
        """
        if not lines and self.is_unclear:
            raise UnknownOrderError(self._question())
        if lines == EXPORTED:
            return [*self._exported()]
        if lines != KEY:
            return [*self.keys]
        numbers = self._numbers()
        if numbers is None:
            raise UnknownOrderError("the keys of the segments are not all numbers: lines cannot be "
                                    "matched by key")  # fmt: skip
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
        return [key for own in by_document.values() for key in own]

    def _question(self) -> str:
        keys = ", ".join(self.keys[:4])
        words = " or ".join(self.choices)
        return (
            f"the lines of this file have no keys, and the segments of the test set ({keys}, …) do "
            "not stand in the order of a source file. State whether line n is the segment whose "
            "key is n, or the nth segment as listed "
            f"(command line: --lines; API: lines; each {words})"
        )


def n_unknown(keys: Sequence[str | None], n_lines: int) -> int:
    """Return how many of some lines are of no segment."""
    return sum(key is None for key in keys[:n_lines]) + max(0, n_lines - len(keys))
