"""What programs need: tokens that sign them in, and answers that a repeated request gets again."""

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class ApiToken(models.Model):
    """A token by which programs act as an account, within its scopes and until it expires.

    Only the token's SHA-256 is stored. `scopes` are values of `Scope`.
    """

    class Scope(models.TextChoices):
        READ = "read", _("read: results, judgments, scores and files")
        ANNOTATE_ADMIN = "annotate-admin", _("annotate-admin: test sets, campaigns and annotators")
        SCORE = "score", _("score: metric runs, imported scores, training and translations")
        SITE = "site", _("site: the metrics of the site")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    token_hash = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.name} of account {self.user_id}"

    @property
    def is_expired(self) -> bool:
        """Whether its last day has passed."""
        return self.expires_at <= timezone.now()


class RepeatableAnswer(models.Model):
    """The answer to a request that had an idempotency key, stored with what the request changed.

    `key_hash` is a hash of the key, `fingerprint` one of the request. `answer` is encrypted with
    the key, because answers may contain links that work like passwords.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    key_hash = models.CharField(max_length=64)
    fingerprint = models.CharField(max_length=64)
    answer = models.BinaryField(null=True)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "key_hash"], name="answer_once"),
        ]

    def __str__(self) -> str:
        return f"answer to account {self.user_id}"
