"""Test sets: segments with references, and the systems' outputs for them.

Texts never change once stored. A correction is a new test set, so every judgment and every score
stays tied to the text that was judged.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from decimal import Decimal

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.urls import reverse

from annotation.models.projects import Project

# Stands for the source of a segment whose text was not published.
NO_SOURCE = "[source not published]"


class TestSet(models.Model):
    """A set of source segments in one language pair, in document order.

    `created_by` is its owner: who stored it, or whom a site admin named since. None where a
    command stored it, or where the account is gone. `is_in_file_order`: the segments have the order
    of the source file that they came from, and not that in which judgments named them.

    `is_private`: read only by its owner, those it is shared with, the members of its project and of
    campaigns over it. `n_bytes` of texts and files are counted while it is in a project.
    """

    __test__ = False  # not a test class, whatever pytest thinks

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=120)
    source_language = models.CharField(max_length=20)
    target_language = models.CharField(max_length=20)
    description = models.TextField(blank=True)
    is_in_file_order = models.BooleanField(default=False)
    project = models.ForeignKey(
        Project, models.PROTECT, null=True, blank=True, related_name="test_sets"
    )
    is_private = models.BooleanField(default=False, db_default=False)
    n_bytes = models.PositiveBigIntegerField(default=0, db_default=0)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("testset", args=[self.slug])

    @property
    def direction(self) -> str:
        """The language pair as the field writes it: `en-zh`."""
        return f"{self.source_language}-{self.target_language}"


class TestSetShare(models.Model):
    """An account that may add to a test set beside its owner."""

    __test__ = False

    test_set = models.ForeignKey(TestSet, models.CASCADE, related_name="shares")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="test_set_shares"
    )

    class Meta:
        ordering = ["test_set", "user"]
        constraints = [
            models.UniqueConstraint(fields=["test_set", "user"], name="test_set_share_once"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} adds to {self.test_set_id}"


class Segment(models.Model):
    """One source segment. `key` is the uploader's own name of it; `position` counts from 0.

    `domain` is the kind of text, such as news. `beside` is what is heard, seen or read beside it
    (`annotation.uploads.media.attachments`), None where there is nothing.
    """

    test_set = models.ForeignKey(TestSet, models.CASCADE, related_name="segments")
    position = models.PositiveIntegerField()
    key = models.CharField(max_length=120)
    document = models.CharField(max_length=200, blank=True)
    domain = models.CharField(max_length=200, blank=True, default="", db_default="")
    source = models.TextField()
    beside = models.JSONField(null=True, blank=True)

    class Meta:
        ordering = ["test_set", "position"]
        constraints = [
            models.UniqueConstraint(fields=["test_set", "position"], name="segment_position"),
            models.UniqueConstraint(fields=["test_set", "key"], name="segment_key"),
        ]

    def __str__(self) -> str:
        return self.key


class Reference(models.Model):
    """A reference translation of a segment; `name` tells several references apart."""

    segment = models.ForeignKey(Segment, models.CASCADE, related_name="references")
    name = models.CharField(max_length=40, default="A")
    text = models.TextField()

    class Meta:
        ordering = ["segment", "name"]
        constraints = [
            models.UniqueConstraint(fields=["segment", "name"], name="reference_name"),
        ]

    def __str__(self) -> str:
        return f"{self.segment_id}:{self.name}"


class System(models.Model):
    """An MT system at one required length: `length_ratio` 1 means no length control.

    The ratio is the required length of the output as a share of the full target length. `is_human`
    marks human translations, which correlations of metrics do not use by default; annotators' pages
    never show it. `reference` names the reference that the outputs are, or is empty: a metric that
    reads this reference would compare the text with itself.
    """

    test_set = models.ForeignKey(TestSet, models.CASCADE, related_name="systems")
    name = models.CharField(max_length=120)
    length_ratio = models.DecimalField(
        max_digits=4,
        decimal_places=2,
        default=Decimal(1),
        validators=[MinValueValidator(Decimal("0.05")), MaxValueValidator(Decimal(5))],
    )
    is_human = models.BooleanField(default=False)
    reference = models.CharField(max_length=40, blank=True, default="")

    class Meta:
        ordering = ["test_set", "-length_ratio", "name"]
        constraints = [
            models.UniqueConstraint(
                fields=["test_set", "name", "length_ratio"], name="system_name"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Output(models.Model):
    """What a system wrote for a segment.

    `content_key` identifies what a metric sees; equal keys have equal scores, so a score is
    computed once however many systems, test sets or uploads share the text.
    """

    system = models.ForeignKey(System, models.CASCADE, related_name="outputs")
    segment = models.ForeignKey(Segment, models.CASCADE, related_name="outputs")
    text = models.TextField(blank=True)
    content_key = models.CharField(max_length=32, db_index=True)

    class Meta:
        ordering = ["segment", "system"]
        constraints = [
            models.UniqueConstraint(fields=["system", "segment"], name="output_once"),
        ]

    def __str__(self) -> str:
        return f"{self.system_id}:{self.segment_id}"


def in_order(references: Mapping[str, str]) -> tuple[str, ...]:
    """Return the texts of a segment's references by name, as metrics read them.

    Sorted here, by code points: databases collate names in different orders.
    """
    return tuple(references[name] for name in sorted(references))


def content_key(source: str, references: Sequence[str], hypothesis: str) -> str:
    """Hash what a metric sees: 128 bits of SHA-256, as 32 hexadecimal digits.

    `references` are in the order in which metrics read them, that of their names: some read the
    first alone, and others break ties by it.
    """
    content = json.dumps([source, list(references), hypothesis], ensure_ascii=False)
    return hashlib.sha256(content.encode()).hexdigest()[:32]
