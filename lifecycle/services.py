"""Services that change or delete a whole resource, and record the change."""

import hashlib
import json
import logging
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Model, ProtectedError

from annotation import projects
from annotation.access import NO_PROJECT, run_projects, visible_projects
from annotation.campaigns.sampling import store_sample
from annotation.forms.campaign.form import free_slug
from annotation.models import (
    Archived,
    AuditEntry,
    Campaign,
    ChangeEntry,
    DataRule,
    Instructions,
    Project,
    TestSet,
)
from annotation.presets import free_name
from core import extensions, shared_files
from lifecycle.resources import ResourceType
from metaeval.messages import Message, message

OWN = frozenset(
    {
        *("id", "slug", "slug_follows", "name", "status", "origin", "created_by", "created_at"),
        *("opened_at", "closed_at", "notified_at", "secret", "lower_is_better", "direction"),
        "project",
    }
)


def copy_campaign(campaign: Campaign, user: Any) -> Campaign:
    """Return a new draft with the same systems, settings, sample and instructions."""
    settings = {
        field.name: getattr(campaign, field.name)
        for field in Campaign._meta.concrete_fields
        if field.name not in OWN
    }
    name = free_name(f"{campaign.name[:105]} (copy)")
    made = Campaign(name=name, created_by=user, slug_follows=True, **settings)
    made.project = visible_projects(user).filter(campaigns=campaign).first()
    made.slug = free_slug(made)
    made.save()
    made.systems.set(campaign.systems.all())
    store_sample(made)
    Instructions.objects.bulk_create(
        [
            Instructions(
                campaign=made, language=each.language,
                instructions=each.instructions, consent=each.consent,
            )
            for each in campaign.translations.all()
        ]
    )  # fmt: skip
    if rule := DataRule.objects.filter(campaign=campaign).first():
        rule.pk, rule.campaign, rule._state.adding = None, made, True
        rule.save()
    return made


Action = ChangeEntry.Action
CHANGED = message(
    "lifecycle.changed",
    "The data to be deleted has changed since you opened this page. Check it again.",
)
IN_USE = message(
    "lifecycle.in-use",
    "Somebody was using this at the same moment, so nothing was deleted. Try again.",
)
FIXED_NAME = message("lifecycle.fixed-name", "This cannot be renamed.")
NOT_COPIED = message("lifecycle.not-copied", "Only campaigns that were set up here can be copied.")
NOT_IN_STUDY = message("lifecycle.not-in-study", "Only campaigns can be put into a study.")
NOT_IN_PROJECT = message("lifecycle.not-in-project", "This cannot be put into a project.")
NOT_TITLED = message("lifecycle.not-titled", "Only campaigns have a title for annotators.")
NOT_ARCHIVED = message(
    "lifecycle.not-archived", "This cannot be archived on its own. Archive its test set instead."
)
logger = logging.getLogger(__name__)


def refusal(*messages: Message) -> ValidationError:
    """Return a refusal that consists of messages."""
    return ValidationError(list(messages))


def digest(kind: ResourceType[Any], resource: Any) -> str:
    """Return a hash of what would be deleted, which a person confirms."""
    preview = [kind.name, resource.pk, kind.called(resource), list(kind.going(resource))]
    return hashlib.sha256(json.dumps(preview).encode()).hexdigest()[:20]


def archive(kind: ResourceType[Any], resource: Model, actor: Any) -> None:
    """Hide a resource in lists. Raises ValidationError if it cannot be archived."""
    if not kind.archives:
        raise refusal(NOT_ARCHIVED)
    if reason := kind.blocks_archiving(resource):
        raise refusal(reason)
    with transaction.atomic():
        if not kind.is_archived(resource):
            kind.archive(resource, actor)
            note(kind, resource, actor, Action.ARCHIVED)


def restore(kind: ResourceType[Any], resource: Model, actor: Any) -> None:
    """Show an archived resource in lists again."""
    with transaction.atomic():
        if kind.is_archived(resource):
            kind.restore(resource)
            note(kind, resource, actor, Action.RESTORED)


def rename(kind: ResourceType[Any], resource: Model, actor: Any, name: str) -> None:
    """Rename a resource. Raises ValidationError if it cannot have the name."""
    if not kind.title:
        raise refusal(FIXED_NAME, *filter(None, [kind.fixed]))
    before = str(getattr(resource, kind.title))
    if name.strip() == before:
        return
    with transaction.atomic():
        kind.rename(resource, name.strip())
        renamed = message("lifecycle.renamed-from", "Renamed from “{name}”.", name=before)
        note(kind, resource, actor, Action.RENAMED, reason=renamed)


def move(kind: ResourceType[Any], resource: Model, actor: Any, study: str) -> None:
    """Put a campaign into a study; an empty `study` takes it out of its study.

    Raises ValidationError if the name cannot be a part of an address.
    """
    if not isinstance(resource, Campaign):
        raise refusal(NOT_IN_STUDY)
    before, resource.study = resource.study, study.strip()
    if resource.study == before:
        return
    try:
        resource.clean_fields(exclude={field.name for field in resource._meta.fields} - {"study"})
    except ValidationError as error:
        raise refusal(
            message(
                "lifecycle.study-name",
                "“{study}” cannot be the name of a study. Use up to 80 letters, digits, hyphens "
                "and underscores.",
                study=resource.study,
            )
        ) from error
    with transaction.atomic():
        resource.save(update_fields=["study"])
        AuditEntry.objects.create(
            campaign=resource, actor=actor, action="study",
            details={"before": before or "none", "now": resource.study or "none"},
        )  # fmt: skip


@transaction.atomic
def put(
    kind: ResourceType[Any], resource: Any, actor: Any, slug: str, *, is_private: bool
) -> Project | None:
    """Put a resource into a project; an empty `slug` takes it out of its own.

    Raises ValidationError if the user does not run the project, or if it has no room.
    """
    if kind.project != "project":
        raise refusal(NOT_IN_PROJECT)
    before, project = resource.project, run_projects(actor).filter(slug=slug).first()
    if slug and project is None:
        raise refusal(NO_PROJECT)
    if isinstance(resource, Campaign | TestSet):
        projects.move(resource, project, is_private=is_private, actor=actor)
    else:
        resource.project = project
        resource.save(update_fields=["project"])
    if isinstance(resource, TestSet):
        for each in extensions.imported("test_set"):
            each.moved(resource)
    if before != project:
        what = {"kind": kind.name, "name": kind.called(resource)}
        for held, action in ((before, "taken out"), (project, "put in")):
            if held is not None:
                projects.note(held, actor, action, **what)
    return project


def retitle(kind: ResourceType[Any], resource: Model, actor: Any, title: str) -> None:
    """Change what annotators read instead of a campaign's name; empty for the name.

    Raises ValidationError if it is too long.
    """
    if not isinstance(resource, Campaign):
        raise refusal(NOT_TITLED)
    before, resource.public_title = resource.public_title, title.strip()
    if resource.public_title == before:
        return
    others = {field.name for field in resource._meta.fields} - {"public_title"}
    resource.clean_fields(exclude=others)
    with transaction.atomic():
        resource.save(update_fields=["public_title"])
        changed = message("lifecycle.retitled-from", "Title before: “{title}”.", title=before)
        note(kind, resource, actor, Action.RENAMED, reason=changed)


def moved(campaign: Campaign) -> Message:
    """Say which study a campaign belongs to."""
    if campaign.study:
        return message(
            "lifecycle.in-study",
            "{campaign} is now in the study {study}.",
            campaign=campaign.name,
            study=campaign.study,
        )
    return message("lifecycle.no-study", "{campaign} is now in no study.", campaign=campaign.name)


def copy(kind: ResourceType[Any], resource: Model, actor: Any) -> Campaign:
    """Return a draft with the settings of a campaign. ValidationError for any other type."""
    if not isinstance(resource, Campaign) or resource.origin == Campaign.Origin.IMPORTED:
        raise refusal(NOT_COPIED)
    with transaction.atomic():
        made = copy_campaign(resource, actor)
        copied = message("lifecycle.copied-from", "Copied from {campaign}.", campaign=resource.slug)
        note(kind, made, actor, Action.COPIED, reason=copied)
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
    """Cancel the jobs of a resource, then delete it and all that depends on it.

    `seen` is the :func:`digest` that was confirmed. If judgments would be deleted, `typed` must be
    the name of the resource. ValidationError says why nothing was deleted.
    """
    _check(kind, resource, seen, typed)
    kind.stop(resource)
    try:
        with transaction.atomic():
            locked = kind.model._default_manager.select_for_update().get(pk=resource.pk)
            _check(kind, locked, seen, typed)
            counts = {what: n for what, n in kind.going(locked) if n}
            entry = note(kind, locked, actor, Action.DELETED, counts=counts, reason=reason)
            folders = kind.folders(locked)
            label, pk = locked._meta.label_lower, locked.pk
            kind.erase(locked)
            Archived.objects.filter(model=label, object_id=pk).delete()
            transaction.on_commit(partial(_remove, folders))
            return entry
    except (ProtectedError, IntegrityError) as error:
        raise refusal(IN_USE) from error


def _check(kind: ResourceType[Any], resource: Any, seen: str | None, typed: str) -> None:
    if reason := kind.blocks_deletion(resource):
        raise refusal(reason)
    if seen is not None and seen != digest(kind, resource):
        raise refusal(CHANGED)
    name = kind.called(resource)
    if kind.judgments(resource) and typed.strip() != name:
        raise refusal(
            message("lifecycle.type-name", "To confirm, type the name exactly: {name}", name=name)
        )


def _remove(folders: Sequence[Path]) -> None:
    for folder in folders:
        try:
            if folder.is_dir():
                shutil.rmtree(folder)
            if folder.is_relative_to(settings.TRAINED_DIR):
                shared_files.remove(f"{shared_files.trained_name(folder)}/")
        except OSError:
            logger.exception("%s is no longer used and could not be removed", folder)


def note(
    kind: ResourceType[Any],
    resource: Any,
    actor: Any,
    action: str,
    *,
    counts: dict[str, int] | None = None,
    reason: Message | str = "",
) -> ChangeEntry:
    """Record who did what; commands have no account."""
    return ChangeEntry.objects.create(  # type: ignore[misc]  # reason takes messages
        actor=actor,
        actor_name=actor.get_username() if actor else "command",
        action=action,
        kind=kind.name,
        key=str(getattr(resource, kind.key)),
        name=kind.called(resource)[:200],
        counts=counts or {},
        reason=reason,
    )
