"""Campaigns: which outputs are judged, by which protocol, with which controls, on which terms."""

import hmac
import json
import random
import re
import secrets
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation import protocols
from annotation.models.corpus import Output, Segment, System, TestSet
from annotation.models.projects import Project
from annotation.protocols import composed
from annotation.protocols.questions import names_colours, question_about
from core.messages import MessageField, invalid
from metaeval.messages import message


def validate_currency(code: str) -> None:
    """Refuse a currency that is not three capital letters, as codes of ISO 4217 are."""
    if not re.fullmatch(r"[A-Z]{3}", code):
        raise invalid(
            "campaign.currency-invalid", "Enter the currency as three capital letters, as in EUR."
        )


class Terms(models.Model):
    """Terms of work in one campaign.

    `comprehension` is the test before the first item, a list of questions
    (:mod:`annotation.qualification.comprehension`), None for none; `pass_mark` right answers pass
    it, 0 for all, within `test_attempts` attempts, 0 for any number. Who fails `stop_after`
    attention checks is stopped until an admin has decided; 0 for never. `speed_rule` says what
    becomes of answers given in less time than their texts can be read
    (:func:`annotation.judging.timing.least_time`).

    `hourly_rate` in `currency` is paid for working time, and told before the first item with
    `shows_pay`. The paid time of a screen is at most the campaign's seconds plus
    `seconds_per_word` for each word to be rated on it. After `idle_seconds` without a sign of work
    the page asks, and half a minute later time is idle.

    Where answers differ by `review_gap` points or more, or the marked characters of two overlap by
    less than `review_overlap` (F1 from 0 to 1), a reviewer decides; None for no such limit. With
    `shows_corrections`, annotators see what was decided about what they rated.
    """

    class SpeedRule(models.TextChoices):
        OFF = "off", _("Nothing happens")
        SLOW = "slow", _("Slow down: a rating is taken once its texts can be read")
        STOP = "stop", _("Stop the annotator until an admin has decided")

    comprehension = models.JSONField(null=True, blank=True)
    pass_mark = models.PositiveSmallIntegerField(default=0)
    test_attempts = models.PositiveSmallIntegerField(default=2)
    stop_after = models.PositiveSmallIntegerField(default=0)
    speed_rule = models.CharField(max_length=4, choices=SpeedRule.choices, default=SpeedRule.OFF)
    hourly_rate = models.DecimalField(
        max_digits=8, decimal_places=2, null=True, blank=True, validators=[MinValueValidator(0)]
    )
    currency = models.CharField(
        max_length=3,
        default="EUR",
        validators=[validate_currency],
    )
    shows_pay = models.BooleanField(default=False)
    seconds_per_word = models.DecimalField(
        max_digits=5, decimal_places=2, default=Decimal(0), validators=[MinValueValidator(0)]
    )
    idle_seconds = models.PositiveIntegerField(
        default=60, validators=[MinValueValidator(10), MaxValueValidator(3_600)]
    )
    review_gap = models.PositiveSmallIntegerField(null=True, blank=True, default=30)
    review_overlap = models.FloatField(null=True, blank=True)
    shows_corrections = models.BooleanField(default=False)

    class Meta:
        abstract = True


# The most systems that one screen shows.
MOST_SYSTEMS = 10
DEFAULT_QUESTION = protocols.get(protocols.DEFAULT).length_question


def new_secret() -> str:
    """Return 256 random bits in hexadecimal digits."""
    return secrets.token_hex(32)


class Campaign(Terms):
    """One annotation task: a test set, systems at one length ratio, a question, annotators.

    Annotators read the `public_title`, or the name if it is empty. The slug of a draft `follows`
    this title until it has annotators or links, unless it was chosen. Campaigns that share a
    `study` are averaged on the dashboards.

    `items_per_annotator` and `max_same_source` (how many items over one source text a person may
    get) hold wherever screens are drawn; 0 means no limit. A claim that is not answered within
    `claim_minutes` is released. In dynamic assignment, systems are drawn evenly until each has
    `cold_start` judged screens, and after that in `exploration_percent` of the draws. Of
    `rotated_checks` that are made, one comes before a screen with a chance of `check_percent`, as
    does gold; 0 leaves gold spread evenly. `control_spacing` is the least number of screens between
    two control items, and between a control item and its partner. Answers may be revised for
    `edit_minutes` after they are given: None is as long as the campaign is open, 0 never. Paid time
    counts at most `time_cap_seconds` per answer. Only members and site admins see a private
    campaign. `special_tokens` can be marked after an output; None means the protocol's tokens.
    `answers` are a grid, scales, an error taxonomy, a text and choices that replace the protocol's
    (:mod:`annotation.protocols.composed`), or None. In a prefilled campaign, annotators are shown
    errors that others marked. With `shows_context`, they can open the document around a segment.
    `lower_is_better` marks published scores whose sign analyses turn; they are stored as published.
    `direction` explains why, and is empty if the usual direction was never in question. `sample` is
    the rule of the part of the test set that is judged (:mod:`annotation.campaigns.sampling`), None
    for all of it.

    The `seed` is public and draws the sample, resamples and hybrids. Whatever annotators must not
    foresee is drawn from the `secret` (:meth:`hidden_rng`), which no page, log or export shows
    unless an admin of the campaign asks for it in the campaign file.
    """

    class Status(models.TextChoices):
        DRAFT = "draft", _("Draft")
        OPEN = "open", _("Open")
        CLOSED = "closed", _("Closed")

    class Origin(models.TextChoices):
        COLLECTED = "collected", _("Collected here")
        SIMULATED = "simulated", _("Simulated")
        IMPORTED = "imported", _("Imported")

    class ShownText(models.TextChoices):
        REFERENCE = "reference", _("Reference")
        SOURCE = "source", _("Source")

    class Mode(models.TextChoices):
        # Pages describe them (`annotation.campaigns.facts.ASSIGNMENT`).
        STATIC = "static", "Fixed"
        POOL = "pool", "Open pool"
        ACTIVE = "active", "Active"
        DYNAMIC = "dynamic", "Dynamic"

    class ZPool(models.TextChoices):
        TARGETS = "targets", _("Ratings of outputs only")
        ALL = "all", _("All ratings, control items included")

    slug = models.SlugField(max_length=80, unique=True)
    slug_follows = models.BooleanField(default=False, editable=False)
    name = models.CharField(max_length=120)
    public_title = models.CharField(max_length=120, blank=True, default="")
    study = models.SlugField(max_length=80, blank=True, default="")
    test_set = models.ForeignKey(TestSet, models.PROTECT, related_name="campaigns")
    systems = models.ManyToManyField(System, related_name="campaigns")
    sample = models.JSONField(null=True, blank=True)
    length_ratio = models.DecimalField(max_digits=4, decimal_places=2, default=Decimal(1))
    shown_text = models.CharField(
        max_length=10, choices=ShownText.choices, default=ShownText.REFERENCE
    )
    protocol = models.CharField(
        max_length=30,
        default=protocols.DEFAULT,
        choices=protocols.CHOICES,
    )
    systems_per_screen = models.PositiveSmallIntegerField(
        default=2, validators=[MinValueValidator(2), MaxValueValidator(MOST_SYSTEMS)]
    )
    special_tokens = models.JSONField(null=True, blank=True)
    is_prefilled = models.BooleanField(default=False)
    answers = models.JSONField(null=True, blank=True)
    question = models.TextField(default=DEFAULT_QUESTION)
    instructions = models.TextField(blank=True)
    goodbye = models.TextField(blank=True, max_length=5_000)
    # How outputs reach annotators.
    assignment_mode = models.CharField(max_length=10, choices=Mode.choices, default=Mode.STATIC)
    annotators_per_item = models.PositiveSmallIntegerField(
        default=3, validators=[MinValueValidator(1), MaxValueValidator(50)]
    )
    items_per_annotator = models.PositiveIntegerField(default=0)
    max_same_source = models.PositiveSmallIntegerField(default=0)
    claim_minutes = models.PositiveIntegerField(default=120, validators=[MinValueValidator(1)])
    exploration_percent = models.PositiveSmallIntegerField(
        default=20, validators=[MaxValueValidator(100)]
    )
    cold_start = models.PositiveSmallIntegerField(default=5)
    # Control items.
    traps_per_annotator = models.PositiveSmallIntegerField(default=60)
    trap_ratio = models.DecimalField(max_digits=4, decimal_places=2, default=Decimal("0.5"))
    bad_references_per_annotator = models.PositiveSmallIntegerField(default=0)
    repeats_per_annotator = models.PositiveSmallIntegerField(default=0)
    references_per_annotator = models.PositiveSmallIntegerField(default=0)
    control_spacing = models.PositiveSmallIntegerField(default=0)
    rotated_checks = models.PositiveSmallIntegerField(default=0)
    check_percent = models.PositiveSmallIntegerField(default=0, validators=[MaxValueValidator(100)])
    # What annotators are asked, told and paid for.
    consent = models.TextField(blank=True)
    asks_background = models.BooleanField(default=False)
    shows_context = models.BooleanField(default=False)
    edit_minutes = models.PositiveIntegerField(null=True, blank=True)
    time_cap_seconds = models.PositiveIntegerField(default=600, validators=[MinValueValidator(10)])
    # Who may see the campaign, and who hears of its end.
    project = models.ForeignKey(
        Project, models.PROTECT, null=True, blank=True, related_name="campaigns"
    )
    is_private = models.BooleanField(default=False)
    notify_email = models.EmailField(blank=True)
    notify_webhook = models.URLField(blank=True)
    notified_at = models.DateTimeField(null=True, blank=True)
    z_pool = models.CharField(max_length=10, choices=ZPool.choices, default=ZPool.TARGETS)
    seed = models.PositiveBigIntegerField(default=1)
    secret = models.CharField(max_length=64, default=new_secret, editable=False)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.DRAFT)
    origin = models.CharField(max_length=10, choices=Origin.choices, default=Origin.COLLECTED)
    lower_is_better = models.BooleanField(default=False)
    direction = MessageField(blank=True, default="")
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

    def hidden_rng(self, *purpose: object) -> random.Random:
        """Return the generator of one draw that annotators must not foresee.

        It follows from the secret, the seed and the purpose. The secret is hashed with them
        (HMAC-SHA-512), so that no number drawn for one purpose says anything about another.
        """
        message = ":".join(map(str, (self.seed, *purpose)))
        return random.Random(hmac.digest(self.secret.encode(), message.encode(), "sha512"))

    @property
    def segments(self) -> models.QuerySet[Segment]:
        """The segments that are judged: those of the sample, or all of the test set."""
        rows = self.test_set.segments.all()
        is_whole = self.sample is None or self.pk is None
        return rows if is_whole else rows.filter(samples__campaign=self)

    @property
    def outputs(self) -> models.QuerySet[Output]:
        """The outputs that are judged: those of the systems for the segments."""
        rows = Output.objects.filter(system__in=self.systems.all())
        return rows if self.sample is None else rows.filter(segment__samples__campaign=self)

    @property
    def judging(self) -> protocols.Protocol:
        """The protocol itself, with what the campaign has in the place of the protocol's own."""
        tokens = None if self.special_tokens is None else tuple(self.special_tokens)
        return _composed(self.protocol, json.dumps(self.answers), tokens)

    @property
    def title(self) -> str:
        """What annotators read instead of the name."""
        return self.public_title or self.name

    @property
    def published_sign(self) -> int:
        """The factor of published scores, so that higher is better."""
        return -1 if self.lower_is_better else 1

    @property
    def percent(self) -> str:
        """The required length as annotators read it: `80%`."""
        return f"{(self.length_ratio * 100).normalize():f}%"

    @property
    def question_text(self) -> str:
        """The question with its placeholder filled, a protocol's own one in the active language."""
        return self.question_about("")

    def question_about(self, kind: str) -> str:
        """Return the question about sources of a kind: `audio`, `video`, `image`, empty: text.

        A campaign that shows references instead of sources asks about them.
        """
        kind = kind or self.shown_text
        question = gettext(question_about(self.question, kind)) if self.question else ""
        return question.replace("{percent}", self.percent)

    @property
    def names_colours(self) -> bool:
        """Whether the question, as a study's does, says “black text” and “gray text”."""
        return names_colours(self.question)

    @property
    def is_simulated(self) -> bool:
        """Whether its annotators are simulated, here or where it was imported from."""
        if self.origin != self.Origin.IMPORTED:
            return self.origin == self.Origin.SIMULATED
        return self.annotators.filter(is_simulated=True).exists()

    @property
    def has_published_scores(self) -> bool:
        """Whether it has human scores of a data set: of outputs, systems, documents or domains."""
        return self.published_scores.exists() or self.published_parts.exists()


class SampledSegment(models.Model):
    """A segment of a campaign's sample; `inclusion` is the probability with which it was drawn."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="sampled_segments")
    segment = models.ForeignKey(Segment, models.CASCADE, related_name="samples")
    inclusion = models.FloatField()

    class Meta:
        ordering = ["campaign", "segment"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "segment"], name="sampled_segment_once"),
        ]

    def __str__(self) -> str:
        return f"{self.campaign_id}:{self.segment_id}"


class Item(models.Model):
    """One thing to rate. Its kind never leaves the server on an annotator's page.

    `text` is set only where the rated text is no stored output: traps (cut references), bad
    references, gold and tutorial items, and imported control items. `partner` is the target item
    that a control item is compared with. `batch` keeps items of one imported HIT together; it is
    empty for items planted here. Items with the same `screen` number are shown on one screen, in
    the order of `place`; None is a screen of its own. There, `column` is the place among the
    `n_columns` systems that are shown beside each other. A whole document is an item without
    output, with its `system` and its first segment. `note` tells annotators something about the
    segment, above it.

    `low` and `high` bound the right score of gold and tutorial items, and `feedback` is what a
    tutorial tells afterwards. `wanted` counts the ratings that an item of an open pool still
    needs, without claims; the first item of a screen stores it. `shuffle` is a random order.
    `suggestions` are errors marked beforehand (`annotation.prefill.suggestions`), `rules` what gold
    and practice ask beside the range (`annotation.judging.rules`), each None for none; `gold` are
    their right errors, [side, start, end, severity, category].
    """

    class Kind(models.TextChoices):
        TARGET = "target", _("Output")
        TRAP = "trap", _("Trap")
        BAD_REF = "bad_ref", _("Bad reference")
        REPEAT = "repeat", _("Repeat")
        REF = "ref", _("Reference as output")
        GOLD = "gold", _("Gold")
        TUTORIAL = "tutorial", _("Tutorial")
        DOCUMENT = "document", _("Whole document")

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="items")
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.TARGET)
    segment = models.ForeignKey(Segment, models.PROTECT, related_name="items")
    output = models.ForeignKey(Output, models.PROTECT, null=True, blank=True, related_name="items")
    system = models.ForeignKey(System, models.PROTECT, null=True, blank=True, related_name="+")
    text = models.TextField(blank=True)
    batch = models.CharField(max_length=80, blank=True, default="")
    partner = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="+")
    screen = models.PositiveIntegerField(null=True, blank=True)
    place = models.PositiveSmallIntegerField(default=0)
    column = models.PositiveSmallIntegerField(default=0)
    n_columns = models.PositiveSmallIntegerField(default=1)
    note = models.TextField(blank=True, default="")
    low = models.SmallIntegerField(null=True, blank=True)
    high = models.SmallIntegerField(null=True, blank=True)
    feedback = models.TextField(blank=True)
    wanted = models.PositiveSmallIntegerField(default=0)
    shuffle = models.PositiveIntegerField(default=0)
    suggestions = models.JSONField(null=True, blank=True)
    gold = models.JSONField(null=True, blank=True)
    rules = models.JSONField(null=True, blank=True)

    class Meta:
        ordering = ["campaign", "id"]
        indexes = [
            models.Index(fields=["campaign", "kind"], name="item_kind"),
            models.Index(fields=["campaign", "screen", "place"], name="item_screen"),
            models.Index(
                fields=["campaign", "-wanted", "shuffle"],
                name="item_wanted",
                condition=Q(wanted__gt=0),
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "batch", "output"],
                condition=Q(kind="target"),
                name="item_target_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"


# What messages call the kinds.
KINDS = {
    Item.Kind.TARGET: message("kind.target", "Output"),
    Item.Kind.TRAP: message("kind.trap", "Trap"),
    Item.Kind.BAD_REF: message("kind.bad-reference", "Bad reference"),
    Item.Kind.REPEAT: message("kind.repeat", "Repeat"),
    Item.Kind.REF: message("kind.reference", "Reference as output"),
    Item.Kind.GOLD: message("kind.gold", "Gold"),
    Item.Kind.TUTORIAL: message("kind.practice", "Practice"),
    Item.Kind.DOCUMENT: message("kind.document", "Whole document"),
}


class OriginalFile(models.Model):
    """The JSON in which another tool gave us a campaign, so that it can go out as it came."""

    campaign = models.OneToOneField(Campaign, models.CASCADE, related_name="original")
    content = models.TextField()

    def __str__(self) -> str:
        return str(self.campaign_id)


class SkippedRows(models.Model):
    """Rows of a file that an import skipped, as a person chose; `campaign` is what came of it.

    `sentence` says how many, of which file, and why. Rows are only added.
    """

    test_set = models.ForeignKey(TestSet, models.CASCADE, related_name="skipped_rows")
    campaign = models.ForeignKey(
        Campaign, models.CASCADE, related_name="skipped_rows", null=True, blank=True
    )
    sentence = MessageField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return str(self.sentence)


# One answer asks several times, and composing takes longer than all of the rest.
@lru_cache(maxsize=64)
def _composed(preset: str, answers: str, tokens: tuple[str, ...] | None) -> protocols.Protocol:
    protocol = composed.compose(protocols.get(preset), json.loads(answers))
    if tokens is None or protocol.spans is None:
        return protocol
    return replace(protocol, spans=replace(protocol.spans, tokens=tokens))
