"""Short names in addresses that tell nobody what is hidden from them.

What is hidden from its start has a part in its short name that others cannot guess: a name that is
taken then only tells of what everybody could read.
"""

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.utils.crypto import salted_hmac

from annotation.models import Project

LONGEST = 80
_LETTERS = 8


def hidden(
    stem: str, owner: Project | AbstractBaseUser | AnonymousUser | None, name: str = ""
) -> str:
    """Return the short name of what only a project, or a user's own members, may read.

    The same for the same name and owner, so that what is sent twice is found again; `name` is what
    the stem was made of, where several names have one stem.
    """
    key = f"{type(owner).__name__} {getattr(owner, 'pk', None)} {name or stem}"
    code = salted_hmac("touchstone.short-name", key, algorithm="sha256").hexdigest()[:_LETTERS]
    return f"{stem[: LONGEST - _LETTERS - 1]}-{code}"
