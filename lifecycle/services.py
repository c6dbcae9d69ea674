"""Services: each changes a resource as a whole or not at all, and leaves an entry."""

import hashlib
import json
import logging
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Model, ProtectedError

from annotation.forms.campaign.form import free_slug
from annotation.models import Archived, AuditEntry, Campaign, ChangeEntry, Instructions
from annotation.presets import free_name
from lifecycle.resources import ResourceType

OWN = frozenset(
    {
        *("id", "slug", "name", "status", "origin", "created_by", "created_at"),
        *("opened_at", "closed_at", "notified_at", "secret", "lower_is_better", "direction"),
    }
)


def copy_campaign(campaign: Campaign, user: Any) -> Campaign:
    """Return a new draft over the same systems, with the same settings and instructions."""
    settings = {
        field.name: getattr(campaign, field.name)
        for field in Campaign._meta.concrete_fields
        if field.name not in OWN
    }
    name = free_name(f"{campaign.name[:105]} (copy)")
    made = Campaign.objects.create(slug=free_slug(name), name=name, created_by=user, **settings)
    made.systems.set(campaign.systems.all())
    Instructions.objects.bulk_create(
        [
            Instructions(
                campaign=made, language=each.language,
                instructions=each.instructions, consent=each.consent,
            )
            for each in campaign.translations.all()
        ]
    )  # fmt: skip
    return made


Action = ChangeEntry.Action
MEANWHILE = "What would be deleted has changed since you looked. Look at it again."
IN_USE = "Somebody used it at this moment, so nothing was deleted. Try again."
NO_STUDY = "“{study}” cannot name a study: use up to 80 letters, digits, hyphens and underscores."
TYPED = "Type its name exactly as it stands here: {name}"
logger = logging.getLogger(__name__)


def digest(kind: ResourceType[Any], resource: Any) -> str:
    """Return what a person confirms: a hash of what would go."""
    said = [kind.name, resource.pk, kind.called(resource), list(kind.going(resource))]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:20]


def archive(kind: ResourceType[Any], resource: Model, actor: Any) -> None:
    """Put a resource away: lists leave it out. ValidationError says why it cannot be."""
    if not kind.archives:
        raise ValidationError(f"{kind.label}s are not archived by themselves.")
    if why := kind.keeps_open(resource):
        raise ValidationError(why)
    with transaction.atomic():
        if not kind.is_archived(resource):
            kind.archive(resource, actor)
            note(kind, resource, actor, Action.ARCHIVED)


def restore(kind: ResourceType[Any], resource: Model, actor: Any) -> None:
    """Bring back what was put away."""
    with transaction.atomic():
        if kind.is_archived(resource):
            kind.restore(resource)
            note(kind, resource, actor, Action.RESTORED)


def rename(kind: ResourceType[Any], resource: Model, actor: Any, name: str) -> None:
    """Give a resource another name. ValidationError where it cannot have it."""
    if not kind.title:
        raise ValidationError(f"It cannot be renamed. {kind.fixed}".strip())
    before = str(getattr(resource, kind.title))
    if name.strip() == before:
        return
    with transaction.atomic():
        kind.rename(resource, name.strip())
        note(kind, resource, actor, Action.RENAMED, reason=f"from “{before}”")


def move(kind: ResourceType[Any], resource: Model, actor: Any, study: str) -> None:
    """Put a campaign into a study; out of any where `study` is empty. ValidationError for no slug.

    Nothing else of it changes.
    """
    if not isinstance(resource, Campaign):
        raise ValidationError("Only campaigns are put into a study.")
    before, resource.study = resource.study, study.strip()
    if resource.study == before:
        return
    try:
        resource.clean_fields(exclude={field.name for field in resource._meta.fields} - {"study"})
    except ValidationError as error:
        raise ValidationError(NO_STUDY.format(study=resource.study)) from error
    with transaction.atomic():
        resource.save(update_fields=["study"])
        AuditEntry.objects.create(
            campaign=resource, actor=actor, action="study",
            details={"before": before or "none", "now": resource.study or "none"},
        )  # fmt: skip


def moved(campaign: Campaign) -> str:
    """Say in which study a campaign is now."""
    if campaign.study:
        return f"{campaign.name} is in the study {campaign.study}."
    return f"{campaign.name} is in no study."


def copy(kind: ResourceType[Any], resource: Model, actor: Any) -> Campaign:
    """Make a draft with the settings of a campaign. ValidationError for any other kind."""
    if not isinstance(resource, Campaign) or resource.origin == Campaign.Origin.IMPORTED:
        raise ValidationError("Only campaigns that were set up here are copied.")
    with transaction.atomic():
        made = copy_campaign(resource, actor)
        note(kind, made, actor, Action.COPIED, reason=f"from {resource.slug}")
    return made


def delete(
    kind: ResourceType[Any],
    resource: Any,
    actor: Any,
    *,
    seen: str | None = None,
    typed: str = "",
    reason: str = "",
) -> ChangeEntry:
    """Delete a resource with all that goes with it, and cancel before what works on it.

    `seen` is the :func:`digest` of what was confirmed; what has judgments needs its name `typed`.
    ValidationError says why nothing was deleted.
    """
    _check(kind, resource, seen, typed)
    kind.stop(resource)
    try:
        with transaction.atomic():
            locked = kind.model._default_manager.select_for_update().get(pk=resource.pk)
            _check(kind, locked, seen, typed)
            return _delete(kind, locked, actor, reason)
    except (ProtectedError, IntegrityError) as error:
        raise ValidationError(IN_USE) from error


def _check(kind: ResourceType[Any], resource: Any, seen: str | None, typed: str) -> None:
    if why := kind.keeps(resource):
        raise ValidationError(why)
    if seen is not None and seen != digest(kind, resource):
        raise ValidationError(MEANWHILE)
    name = kind.called(resource)
    if kind.judgments(resource) and typed.strip() != name:
        raise ValidationError(TYPED.format(name=name))


def _delete(kind: ResourceType[Any], resource: Any, actor: Any, reason: str) -> ChangeEntry:
    counts = {what: n for what, n in kind.going(resource) if n}
    entry = note(kind, resource, actor, Action.DELETED, counts=counts, reason=reason)
    folders = [folder for folder in kind.folders(resource) if folder.is_dir()]
    label, pk = resource._meta.label_lower, resource.pk
    kind.erase(resource)
    Archived.objects.filter(model=label, object_id=pk).delete()
    transaction.on_commit(partial(_remove, folders))
    return entry


def _remove(folders: Sequence[Path]) -> None:
    for folder in folders:
        try:
            shutil.rmtree(folder)
        except OSError:
            logger.exception("%s belongs to nothing any more and could not be removed", folder)


def note(
    kind: ResourceType[Any],
    resource: Any,
    actor: Any,
    action: str,
    *,
    counts: dict[str, int] | None = None,
    reason: str = "",
) -> ChangeEntry:
    """Write down who did what; commands have no account."""
    return ChangeEntry.objects.create(
        actor=actor,
        actor_name=actor.get_username() if actor else "command",
        action=action,
        kind=kind.name,
        key=str(getattr(resource, kind.key)),
        name=kind.called(resource)[:200],
        counts=counts or {},
        reason=reason,
    )
