"""Links by which people set the password of their account."""

from django.conf import settings
from django.db import models


class AccountLink(models.Model):
    """A link that lets its holder set the password of one account, once, until it expires.

    Only the token's SHA-256 is stored. An account has one such link at most.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="account_link"
    )
    token_hash = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"link of account {self.user_id}"
