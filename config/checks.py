"""What a server that others reach may not lack: errors of `manage.py check --deploy`."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import Error, Tags, register

# As Django warns (security.W009): what get_random_secret_key makes has 50.
KEY_LENGTH, KEY_CHARACTERS = 50, 5


@register(Tags.security, deploy=True)
def is_ready_to_deploy(app_configs: Sequence[Any] | None, **options: Any) -> list[Error]:
    """Return an error for a guessable key, and for answers or cookies over plain HTTP."""
    errors = []
    if len(settings.SECRET_KEY) < KEY_LENGTH or len(set(settings.SECRET_KEY)) < KEY_CHARACTERS:
        errors.append(
            Error(
                f"SECRET_KEY is shorter than {KEY_LENGTH} characters or repeats a few.",
                hint="It signs sessions and links: set 50 random characters.",
                id="touchstone.E001",
            )
        )
    if not settings.HTTPS:
        errors.append(
            Error(
                "HTTPS is off: cookies and links travel readable, and nothing redirects to TLS.",
                hint="Set HTTPS=yes behind a proxy that terminates TLS.",
                id="touchstone.E002",
            )
        )
    elif settings.SECURE_HSTS_SECONDS <= 0:
        errors.append(
            Error(
                "HSTS_SECONDS is 0: a browser may come back over plain HTTP.",
                hint="Set HSTS_SECONDS=3600, and 31536000 once HTTPS has worked for a while.",
                id="touchstone.E003",
            )
        )
    return errors
