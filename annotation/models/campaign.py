"""Campaigns: which outputs are judged, by whom, in which order, with which control items."""

import uuid
from decimal import Decimal

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.urls import reverse

from annotation.models.corpus import Output, Segment, System, TestSet

DEFAULT_QUESTION = (
    "How much do you agree that the black text expresses {percent} of the main information "
    "in the gray text?"
)


class Campaign(models.Model):
    """One annotation task: a test set, systems at one length ratio, a question, annotators.

    Campaigns that share a `study` are averaged on the dashboards.
    """

    class Status(models.TextChoices):
        DRAFT = "draft", "Draft"
        OPEN = "open", "Open"
        CLOSED = "closed", "Closed"

    class Origin(models.TextChoices):
        COLLECTED = "collected", "Collected here"
        SIMULATED = "simulated", "Simulated"
        IMPORTED = "imported", "Imported"

    class ShownText(models.TextChoices):
        REFERENCE = "reference", "Reference"
        SOURCE = "source", "Source"

    class ZPool(models.TextChoices):
        TARGETS = "targets", "Ratings of outputs only"
        ALL = "all", "All ratings, control items included"

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=120)
    study = models.SlugField(max_length=80, blank=True, default="")
    test_set = models.ForeignKey(TestSet, models.PROTECT, related_name="campaigns")
    systems = models.ManyToManyField(System, related_name="campaigns")
    length_ratio = models.DecimalField(max_digits=4, decimal_places=2, default=Decimal(1))
    shown_text = models.CharField(
        max_length=10, choices=ShownText.choices, default=ShownText.REFERENCE
    )
    question = models.TextField(default=DEFAULT_QUESTION)
    instructions = models.TextField(blank=True)
    annotators_per_item = models.PositiveSmallIntegerField(
        default=3, validators=[MinValueValidator(1), MaxValueValidator(50)]
    )
    traps_per_annotator = models.PositiveSmallIntegerField(default=60)
    trap_ratio = models.DecimalField(max_digits=4, decimal_places=2, default=Decimal("0.5"))
    z_pool = models.CharField(max_length=10, choices=ZPool.choices, default=ZPool.TARGETS)
    seed = models.PositiveBigIntegerField(default=1)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.DRAFT)
    origin = models.CharField(max_length=10, choices=Origin.choices, default=Origin.COLLECTED)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["study", "name"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("campaign", args=[self.slug])

    @property
    def percent(self) -> str:
        """The required length as annotators read it: `80%`."""
        return f"{(self.length_ratio * 100).normalize():f}%"

    @property
    def question_text(self) -> str:
        """The question with its placeholder filled."""
        return self.question.replace("{percent}", self.percent)

    @property
    def is_simulated(self) -> bool:
        return self.origin == self.Origin.SIMULATED


class Annotator(models.Model):
    """A person's part in one campaign. Imported annotators have no account.

    A personal link carries a random token; only its SHA-256 is stored.
    """

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="annotators")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="annotators"
    )
    label = models.CharField(max_length=80)
    token_hash = models.CharField(max_length=64, null=True, blank=True, unique=True)
    is_simulated = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["campaign", "label"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "label"], name="annotator_label"),
            models.UniqueConstraint(fields=["campaign", "user"], name="annotator_user"),
        ]

    def __str__(self) -> str:
        return self.label


class Item(models.Model):
    """One thing to rate. Its kind never leaves the server on an annotator's page.

    `text` is set only where the rated text is no stored output: traps (cut references) and
    imported control items. `partner` is the target item that a control item is compared with.
    `batch` keeps items of one imported HIT together; it is empty for items planted here.
    """

    class Kind(models.TextChoices):
        TARGET = "target", "Output"
        TRAP = "trap", "Trap"
        BAD_REF = "bad_ref", "Bad reference"
        REPEAT = "repeat", "Repeat"
        REF = "ref", "Reference as output"

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="items")
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.TARGET)
    segment = models.ForeignKey(Segment, models.PROTECT, related_name="items")
    output = models.ForeignKey(Output, models.PROTECT, null=True, blank=True, related_name="items")
    text = models.TextField(blank=True)
    batch = models.CharField(max_length=80, blank=True, default="")
    partner = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ["campaign", "id"]
        indexes = [models.Index(fields=["campaign", "kind"], name="item_kind")]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "batch", "output"],
                condition=Q(kind="target"),
                name="item_target_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"


class Assignment(models.Model):
    """An item given to an annotator, at a place in that annotator's own order.

    `public_id` is random, so that addresses tell nothing about the item.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    annotator = models.ForeignKey(Annotator, models.CASCADE, related_name="assignments")
    item = models.ForeignKey(Item, models.CASCADE, related_name="assignments")
    position = models.PositiveIntegerField()
    completed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["annotator", "position"]
        constraints = [
            models.UniqueConstraint(fields=["annotator", "item"], name="assignment_once"),
            models.UniqueConstraint(fields=["annotator", "position"], name="assignment_position"),
        ]
        indexes = [
            models.Index(
                F("annotator"),
                F("position"),
                name="assignment_open",
                condition=Q(completed_at__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return str(self.public_id)
