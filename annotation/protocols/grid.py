"""The screen of a protocol: segments (one, or a document) × systems (one, or several)."""

from enum import StrEnum


class Layout(StrEnum):
    """What one screen shows: a grid of segments (one, or a document) × systems (one, several).

    SINGLE: one item. DOCUMENT: the segments of one document by one system, in order, then the
    document as a whole where scores are asked. TOGETHER: outputs of several systems for one
    segment. GRID: a document with the outputs of several systems as columns, alike in all its
    rows. What a screen shows is submitted as one.
    """

    SINGLE = "single"
    DOCUMENT = "document"
    TOGETHER = "together"
    GRID = "grid"

    @classmethod
    def of(cls, *, has_documents: bool, has_systems: bool) -> "Layout":
        """Return the grid of these segments and systems."""
        if has_documents:
            return cls.GRID if has_systems else cls.DOCUMENT
        return cls.TOGETHER if has_systems else cls.SINGLE

    @property
    def has_documents(self) -> bool:
        """Whether a screen shows all segments of a document."""
        return self in (Layout.DOCUMENT, Layout.GRID)

    @property
    def has_systems(self) -> bool:
        """Whether a screen shows several systems."""
        return self in (Layout.TOGETHER, Layout.GRID)

    @property
    def has_several(self) -> bool:
        """Whether a screen shows several items, whose answers are submitted as one."""
        return self != Layout.SINGLE
