"""The deeds: each changes a thing as a whole or not at all, and leaves an entry."""

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

from annotation.models import Archived, AuditEntry, Campaign, ChangeEntry
from lifecycle.copying import copy_campaign
from lifecycle.things import Kind

Action = ChangeEntry.Action
MEANWHILE = "What would be deleted has changed since you looked. Look at it again."
IN_USE = "Somebody used it at this moment, so nothing was deleted. Try again."
NO_STUDY = "“{study}” cannot name a study: use up to 80 letters, digits, hyphens and underscores."
TYPED = "Type its name exactly as it stands here: {name}"
logger = logging.getLogger(__name__)


def digest(kind: Kind[Any], thing: Any) -> str:
    """Return what a person confirms: a hash of what would go."""
    said = [kind.name, thing.pk, kind.called(thing), list(kind.going(thing))]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:20]


def archive(kind: Kind[Any], thing: Model, actor: Any) -> None:
    """Put a thing away: lists leave it out. ValidationError says why it cannot be."""
    if not kind.archives:
        raise ValidationError(f"{kind.label}s are not archived by themselves.")
    if why := kind.keeps_open(thing):
        raise ValidationError(why)
    with transaction.atomic():
        if not kind.is_archived(thing):
            kind.archive(thing, actor)
            note(kind, thing, actor, Action.ARCHIVED)


def restore(kind: Kind[Any], thing: Model, actor: Any) -> None:
    """Bring back what was put away."""
    with transaction.atomic():
        if kind.is_archived(thing):
            kind.restore(thing)
            note(kind, thing, actor, Action.RESTORED)


def rename(kind: Kind[Any], thing: Model, actor: Any, name: str) -> None:
    """Give a thing another name. ValidationError where it cannot have it."""
    if not kind.title:
        raise ValidationError(f"It cannot be renamed. {kind.fixed}".strip())
    before = str(getattr(thing, kind.title))
    if name.strip() == before:
        return
    with transaction.atomic():
        kind.rename(thing, name.strip())
        note(kind, thing, actor, Action.RENAMED, reason=f"from “{before}”")


def move(kind: Kind[Any], thing: Model, actor: Any, study: str) -> None:
    """Put a campaign into a study; out of any where `study` is empty. ValidationError for no slug.

    Nothing else of it changes.
    """
    if not isinstance(thing, Campaign):
        raise ValidationError("Only campaigns are put into a study.")
    before, thing.study = thing.study, study.strip()
    if thing.study == before:
        return
    try:
        thing.clean_fields(exclude={field.name for field in thing._meta.fields} - {"study"})
    except ValidationError as error:
        raise ValidationError(NO_STUDY.format(study=thing.study)) from error
    with transaction.atomic():
        thing.save(update_fields=["study"])
        AuditEntry.objects.create(
            campaign=thing, actor=actor, action="study",
            details={"before": before or "none", "now": thing.study or "none"},
        )  # fmt: skip


def moved(campaign: Campaign) -> str:
    """Say in which study a campaign is now."""
    if campaign.study:
        return f"{campaign.name} is in the study {campaign.study}."
    return f"{campaign.name} is in no study."


def copy(kind: Kind[Any], thing: Model, actor: Any) -> Campaign:
    """Make a draft with the settings of a campaign. ValidationError for any other kind."""
    if not isinstance(thing, Campaign) or thing.origin == Campaign.Origin.IMPORTED:
        raise ValidationError("Only campaigns that were set up here are copied.")
    with transaction.atomic():
        made = copy_campaign(thing, actor)
        note(kind, made, actor, Action.COPIED, reason=f"from {thing.slug}")
    return made


def delete(
    kind: Kind[Any],
    thing: Any,
    actor: Any,
    *,
    seen: str | None = None,
    typed: str = "",
    reason: str = "",
) -> ChangeEntry:
    """Delete a thing with all that goes with it, and cancel before what works on it.

    `seen` is the :func:`digest` of what was confirmed; what has judgments needs its name `typed`.
    ValidationError says why nothing was deleted.
    """
    _check(kind, thing, seen, typed)
    kind.stop(thing)
    try:
        with transaction.atomic():
            locked = kind.model._default_manager.select_for_update().get(pk=thing.pk)
            _check(kind, locked, seen, typed)
            return _delete(kind, locked, actor, reason)
    except (ProtectedError, IntegrityError) as error:
        raise ValidationError(IN_USE) from error


def _check(kind: Kind[Any], thing: Any, seen: str | None, typed: str) -> None:
    if why := kind.keeps(thing):
        raise ValidationError(why)
    if seen is not None and seen != digest(kind, thing):
        raise ValidationError(MEANWHILE)
    name = kind.called(thing)
    if kind.judgments(thing) and typed.strip() != name:
        raise ValidationError(TYPED.format(name=name))


def _delete(kind: Kind[Any], thing: Any, actor: Any, reason: str) -> ChangeEntry:
    counts = {what: n for what, n in kind.going(thing) if n}
    entry = note(kind, thing, actor, Action.DELETED, counts=counts, reason=reason)
    folders = [folder for folder in kind.folders(thing) if folder.is_dir()]
    label, pk = thing._meta.label_lower, thing.pk
    kind.erase(thing)
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
    kind: Kind[Any],
    thing: Any,
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
        key=str(getattr(thing, kind.key)),
        name=kind.called(thing)[:200],
        counts=counts or {},
        reason=reason,
    )
