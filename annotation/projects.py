"""Manage projects: their people, what they hold, and their limits.

A limit is checked where it would be exceeded: where texts are stored, and where a run or training
is started. `metrics.runs.allowance` checks what judges may spend.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import get_random_string, salted_hmac
from django.utils.text import slugify

from annotation.access import run_projects, visible_projects
from annotation.campaigns.people import reader_named
from annotation.models import (
    AuditEntry,
    Campaign,
    Project,
    ProjectMember,
    ProjectStart,
    TestSet,
)
from annotation.uploads.quota import check_storage
from metaeval.messages import Message, message

LIMITS = ("max_bytes", "max_starts", "max_tokens", "max_money")
DAYS = 30
AS_ADMIN = "project admin"
# Of addresses; without vowels there are no words.
SUFFIX, LETTERS = 6, "bcdfghjkmnpqrstvwxz23456789"
LONGEST_SLUG, CODE = 80, 8
NAME_TAKEN = message("project.name-taken", "You already have a project with this name.")
NOT_YOURS = message(
    "project.not-yours", "Only admins of the project and site admins may change this."
)


@transaction.atomic
def create(*, name: str, actor: User) -> Project:
    """Create a project with its creator as admin.

    Raises ValidationError for the name of a project that the creator may read. Others are not
    compared, and an address always has a random part: neither tells what other groups work on.
    """
    name = name.strip()
    if visible_projects(actor).filter(name=name).exists():
        raise ValidationError({"name": [NAME_TAKEN]})
    slug = f"{slugify(name)[:70] or 'project'}-{get_random_string(SUFFIX, LETTERS)}"
    project = Project(name=name, slug=slug, created_by=actor)
    project.full_clean()
    project.save()
    ProjectMember.objects.create(project=project, user=actor, role=ProjectMember.Role.ADMIN)
    note(project, actor, "member set", account=actor.get_username(), role=AS_ADMIN)
    return project


def hidden_slug(
    stem: str, owner: Project | AbstractBaseUser | AnonymousUser | None, name: str = ""
) -> str:
    """Return the slug of what only a project, or a user's own members, may read.

    A part of it cannot be guessed: a slug that is taken tells only of what everybody could read.
    The same name and owner give the same, so that what is sent twice is found again; `name` is
    what the stem was made of, where several names have one stem.
    """
    key = f"{type(owner).__name__} {getattr(owner, 'pk', None)} {name or stem}"
    code = salted_hmac("touchstone.short-name", key, algorithm="sha256").hexdigest()[:CODE]
    return f"{stem[: LONGEST_SLUG - CODE - 1]}-{code}"


def note(project: Project, actor: User, action: str, **details: Any) -> None:
    """Record a decision about a project."""
    AuditEntry.objects.create(project=project, actor=actor, action=action, details=details)


def _named(role: str) -> str:
    """Return what the audit calls a role: an admin of a campaign has the same value."""
    return AS_ADMIN if role == ProjectMember.Role.ADMIN else role


@transaction.atomic
def set_member(*, project: Project, username: str, role: str, actor: User) -> ProjectMember:
    """Give an account a role in a project, or change it; ValidationError as for campaigns."""
    user = reader_named(username)
    member, _ = ProjectMember.objects.update_or_create(
        project=project, user=user, defaults={"role": role}
    )
    note(project, actor, "member set", account=username, role=_named(role))
    return member


@transaction.atomic
def remove_member(*, member: ProjectMember, actor: User) -> None:
    """Remove an account from a project."""
    account = member.user.get_username()
    note(member.project, actor, "member removed", account=account, role=_named(member.role))
    member.delete()


@transaction.atomic
def set_limits(*, project: Project, limits: Mapping[str, Any], actor: User) -> None:
    """Change limits; what is stored and running already stays."""
    locked = Project.objects.select_for_update().get(pk=project.pk)
    changed = {name: value for name, value in limits.items() if getattr(locked, name) != value}
    if changed:
        Project.objects.filter(pk=project.pk).update(**changed)
        note(project, actor, "limits", **changed)


@transaction.atomic
def move(
    resource: TestSet | Campaign, project: Project | None, *, is_private: bool, actor: User
) -> None:
    """Put a test set or a campaign into a project (None: into none), and say who may read it.

    Raises ValidationError if the project has no room for the texts, PermissionDenied unless the
    user runs the project.
    """
    if project is not None and not run_projects(actor).filter(pk=project.pk).exists():
        raise PermissionDenied(NOT_YOURS)
    before = resource.project.name if resource.project else None
    if resource.project == project and resource.is_private == is_private:
        return
    resource.project, resource.is_private = project, is_private
    resource.save(update_fields=["project", "is_private"])
    if isinstance(resource, TestSet):
        check_storage(resource)
    subject: dict[str, Any] = {
        "test_set" if isinstance(resource, TestSet) else "campaign": resource
    }
    details = {"before": before, "now": project and project.name, "is_private": is_private}
    AuditEntry.objects.create(actor=actor, action="project", details=details, **subject)


def starts(project: Project) -> int:
    """Return how many runs and trainings were started in a project lately."""
    since = timezone.now() - timedelta(days=DAYS)
    return ProjectStart.objects.filter(project=project, created_at__gt=since).count()


def refuse_start(project: Project | None) -> Message | None:
    """Return why no run or training can be started in a project now; None if one can.

    In a transaction, later starts in the same project wait for its end.
    """
    if project is None:
        return None
    locked = Project.objects.select_for_update().get(pk=project.pk)
    if locked.max_starts is None or (used := starts(locked)) < locked.max_starts:
        return None
    return message(
        "project.starts",
        "The project “{project}” may start {limit} runs and trainings within {days} days and has "
        "started {used}. Site admins can change the limit on the page of the project.",
        project=locked.name,
        limit=locked.max_starts,
        days=DAYS,
        used=used,
    )


def count_start(project: Project | None) -> None:
    """Count a run or training that was started in a project."""
    if project is not None:
        ProjectStart.objects.create(project=project)
