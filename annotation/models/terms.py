"""What a campaign asks of its annotators and gives them: tests, stops, pay, time, corrections."""

from decimal import Decimal

from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models


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
        OFF = "off", "Nothing happens"
        SLOW = "slow", "Slow down: a rating is taken once its texts can be read"
        STOP = "stop", "Stop the annotator until an admin has decided"

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
        validators=[RegexValidator(r"^[A-Z]{3}\Z", "Three capital letters, as in EUR.")],
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
