"""Hold the state while files are read: the draft, the report and the options."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal

from django.conf import settings

from annotation.uploads.drafts import TestSetDraft
from annotation.uploads.normalising import decode
from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.lines import KEY, Listing, UnknownOrderError, n_unknown
from annotation.uploads.tables.meanings import Meaning
from metaeval.messages import Message, message, plural


@dataclass
class Reading:
    """A draft being filled; `ratio` is the length ratio where the files state none.

    `meanings` says what the columns of each table were taken for; with `decodes`, HTML entities
    become characters. `listing` are the segments that files without keys are of, and `lines` what
    their lines are (`annotation.uploads.tables.lines`); of them, `skipped_keys` are skipped.
    `pairs` counts the rows of tables by the languages that they name.
    """

    draft: TestSetDraft
    report: Report
    ratio: Decimal
    decodes: bool = False
    meanings: list[Meaning] = field(default_factory=list)
    lines: str = ""
    listing: Listing | None = None
    skipped_keys: set[str] = field(default_factory=set)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    _is_unclear: bool = False
    _texts: int = 0
    _decoded: int = 0
    _first_decoded: Place | None = None

    def expect(self, texts: int, place: Place) -> None:
        """Refuse more texts than one upload may hold, before they are read."""
        self._texts += texts
        if self._texts > (limit := settings.MAX_UPLOAD_TEXTS):
            text = message(
                "upload.too-many-texts",
                "With this file there are {n} texts (segments, references and outputs); the limit "
                "of one upload is {limit}. Split the test set, or add the systems in several "
                "uploads.",
                n=self._texts,
                limit=limit,
            )
            self.report.stop(text, place)

    def skipped(self, file: str, n_lines: int) -> set[int]:
        """Return the lines of a plain file that a person skips."""
        skips = self.report.skips
        return skips.remove(file, range(1, n_lines + 1)) if skips else set()

    def key_of_lines(
        self, n_lines: int, place: Place, within: str | Message
    ) -> list[str | None] | None:
        """Return the keys of a file's lines; None, with the reason reported, if they do not fit.

        An unknown order is reported once for all files.
        """
        listing = self.listing or Listing((), (), is_in_file_order=True)
        try:
            keys = listing.key_of_lines(self.lines)
        except UnknownOrderError as error:
            if not self._is_unclear:
                self.report.error(error.message, place)
            self._is_unclear = True
            return None
        if n_lines == len(keys) or (self.lines == KEY and n_lines > len(keys)):
            self.report.note_of(
                n_unknown(keys, n_lines),
                "upload.lines-unknown",
                "Skipped {n} line of a segment that the test set does not have.",
                "Skipped {n} lines of segments that the test set does not have.",
                place,
            )
            return keys
        if keys or not self.report.errors:  # else the segments themselves could not be read
            self.report.error(wrong_length(n_lines, len(keys), within), place)
        return None

    def texts(
        self, lines: list[str], file: str, column: str | Message, rows: Iterable[int]
    ) -> list[str]:
        """Return the texts of a column, decoded if that was asked for."""
        if not self.decodes:
            return lines
        return [
            self._decode(line, file, column, row) if "&" in line else line
            for line, row in zip(lines, rows, strict=False)
        ]

    def _decode(self, text: str, file: str, column: str | Message, row: int) -> str:
        decoded = decode(text)
        if decoded != text:
            self._decoded += 1
            self._first_decoded = self._first_decoded or Place(file, row, column)
        return decoded

    def mention_decoded(self) -> None:
        """Note how many texts were changed."""
        if self._first_decoded:
            text = plural(
                "upload.decoded",
                "Decoded HTML entities in {n} text.",
                "Decoded HTML entities in {n} texts; the first is here.",
                n=self._decoded,
            )
            self.report.note(text, self._first_decoded)


def wrong_length(n_lines: int, n_segments: int, within: str | Message) -> Message:
    """Return the message about a file whose lines are not one per segment of `within`."""
    return message(
        "upload.lines",
        "Lines in this file: {lines}. Segments in {within}: {segments}. The numbers must be equal.",
        lines=n_lines,
        segments=n_segments,
        within=within,
    )
