"""Who may see what. Roles are Django groups; a superuser has all of them.

annotator: rates the items assigned to them, and sees nothing else.
researcher: reads test sets, campaigns, quality, runs and results, and starts metric runs.
admin: also uploads, opens and closes campaigns, and invites annotators.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

ADMIN, RESEARCHER, ANNOTATOR = "admin", "researcher", "annotator"
View = Callable[..., HttpResponseBase]


def signed_in(request: HttpRequest) -> User:
    """Return the user of a request that is known to be signed in."""
    if not request.user.is_authenticated:
        raise PermissionDenied
    return request.user


def role_names(user: Any) -> frozenset[str]:
    """Return the roles of a user, read once per user object (one query)."""
    if not user.is_authenticated:
        return frozenset()
    if not hasattr(user, "_roles"):
        everything = (ADMIN, RESEARCHER, ANNOTATOR)
        user._roles = frozenset(
            everything if user.is_superuser else user.groups.values_list("name", flat=True)
        )
    roles: frozenset[str] = user._roles
    return roles


def is_admin(user: Any) -> bool:
    """Whether the user may upload and run campaigns."""
    return ADMIN in role_names(user)


def is_researcher(user: Any) -> bool:
    """Whether the user may read everything; admins are researchers too."""
    return bool(role_names(user) & {ADMIN, RESEARCHER})


def _required(check: Callable[[Any], bool]) -> Callable[[View], View]:
    def decorate(view: View) -> View:
        @wraps(view)
        @login_required
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not check(request.user):
                raise PermissionDenied
            return view(request, *args, **kwargs)

        return guarded

    return decorate


admin_required = _required(is_admin)
researcher_required = _required(is_researcher)


class IsResearcher(BasePermission):
    """API: researchers read, admins write."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Check the role that the method needs."""
        return (
            is_researcher(request.user)
            if request.method in SAFE_METHODS
            else is_admin(request.user)
        )


def roles(request: HttpRequest) -> dict[str, object]:
    """Give templates `is_admin` and `is_researcher`, evaluated only where used."""
    user = getattr(request, "user", None)
    return {
        "is_admin": lambda: user is not None and is_admin(user),
        "is_researcher": lambda: user is not None and is_researcher(user),
    }
