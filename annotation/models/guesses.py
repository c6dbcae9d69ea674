"""Failed attempts to get in, counted where every process sees them."""

from django.db import models


class GuessCount(models.Model):
    """How often guessing failed lately: at one account from one network, at an account, at links.

    `key` and `network` are keyed hashes: nobody's name, address or link can be read here.
    """

    key = models.CharField(max_length=64, unique=True)
    network = models.CharField(max_length=64, blank=True, default="")
    failures = models.PositiveIntegerField(default=0)
    failed_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["network", "failed_at"], name="guesses_of_network"),
            models.Index(fields=["failed_at"], name="guesses_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.failures} since {self.failed_at:%Y-%m-%d}"
