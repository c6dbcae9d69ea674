"""All that is stored about one person: exported as rows, or erased.

Both follow the foreign keys of all tables, so a new table is exported without further work.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import CASCADE, PROTECT, ForeignKey, ManyToManyField, Model, QuerySet

from annotation.access import ONLY_SITE_ADMINS, is_site_admin
from annotation.accounts.managing import NOT_YOURSELF, Action, check_may_change, note
from annotation.models import (
    Adjudication,
    Annotator,
    AuditEntry,
    Campaign,
    ChangeEntry,
    DataRule,
    Judgment,
    Letter,
    OriginalFile,
)
from annotation.quality.exclusions import exclude_annotator
from core.messages import as_json
from metaeval.messages import Message, message

# What lets somebody in, or tells annotators what they must not know: numbers of items follow kinds.
SECRET = frozenset(
    {"password", "token_hash", "secret", "codes", "item_id", "condition", "inclusion", "column"}
)
# The same in rows of allauth, and rows that let an erased account in.
SECRET_OF = {"mfa.Authenticator": "data"}
ACCESS = frozenset(
    {
        *("annotation.AccountLink", "annotation.RepeatableAnswer"),
        *("mfa.Authenticator", "socialaccount.SocialAccount"),
    }
)
# What a person decided is exported whole; of other rows that name a person, which they are.
DECISIONS = (AuditEntry, ChangeEntry, Adjudication)
HAS_ACCOUNT = message(
    "personal.has-account", "This annotator has an account. Erase the data of the account instead."
)
ENTERED = "entered by access link"
Row = dict[str, Any]


def rows_about(user: User) -> Iterator[Row]:
    """Yield the account, and every row of any table that belongs to it or names it.

    Rows that only name the account, such as a test set that it uploaded, have table, key and name.
    """
    rows = User.objects.filter(pk=user.pk)
    roles = [group.name for group in user.groups.order_by("name")]
    yield _row(user) | {"roles": roles}
    yield from _beneath(rows, seen=set())


def rows_about_imported(annotator: Annotator) -> Iterator[Row]:
    """Yield an imported annotator, who has no account, and every row that belongs to them."""
    yield _row(annotator)
    yield from _beneath(Annotator.objects.filter(pk=annotator.pk), seen=set())


def _beneath(rows: QuerySet[Any], seen: set[tuple[str, Any]]) -> Iterator[Row]:
    for model, field in _pointing_at(rows.model):
        is_owned = field.remote_field.on_delete in (CASCADE, PROTECT)
        found = model._base_manager.filter(**{f"{field.name}__in": rows.order_by()}).order_by("pk")
        for each in found.iterator(chunk_size=2_000):
            key = (model._meta.label, each.pk)
            if key not in seen:
                seen.add(key)
                is_whole = is_owned or model in DECISIONS
                yield _row(each) if is_whole else _named(each, field)
        if is_owned:
            yield from _beneath(found, seen)


def _pointing_at(model: type[Model]) -> list[tuple[type[Model], Any]]:
    """Return the foreign keys that lead to a table, without the tables between two others."""
    fields: Any = model._meta.get_fields(include_hidden=True)
    keys = [each.field for each in fields if each.auto_created and not each.concrete]
    return [
        (key.model, key)
        for key in keys
        if isinstance(key, ForeignKey)
        and not isinstance(key, ManyToManyField)
        and not key.model._meta.auto_created
    ]


def _row(each: Model) -> Row:
    values = {
        field.attname: _plain(field.value_from_object(each))
        for field in each._meta.concrete_fields
        if field.attname not in SECRET | {SECRET_OF.get(each._meta.label)}
    }
    return {"table": each._meta.label, **values}


def _plain(value: Any) -> Any:
    return as_json(value) if isinstance(value, Message) else value


def _named(each: Model, field: Any) -> Row:
    return {"table": each._meta.label, "id": each.pk, "as": field.name, "name": str(each)}


@dataclass(frozen=True)
class Part:
    """What erasing a person does in one campaign."""

    campaign: Campaign
    n_judgments: int
    is_removed: bool


def parts_of(user: User) -> list[Part]:
    """Return what erasing a person would do, by campaign."""
    rows = user.annotators.select_related("campaign__data_rule").order_by("campaign__name")
    return [Part(one.campaign, _judgments(one).count(), _is_removed(one)) for one in rows]


def _judgments(annotator: Annotator) -> QuerySet[Judgment]:
    return Judgment.objects.filter(assignment__annotator=annotator)


def _is_removed(annotator: Annotator) -> bool:
    rule = getattr(annotator.campaign, "data_rule", None)
    return rule is not None and rule.erasure == DataRule.Erasure.REMOVE


@transaction.atomic
def erase(*, actor: User, user: User) -> tuple[int, int]:
    """Remove what identifies a person; return how many judgments stay, and how many are removed.

    The account stays without name, address and access, because rows point to it. Each campaign
    decides about its judgments. Raises PermissionDenied or ValidationError.
    """
    check_may_change(actor, user)
    if user == actor:
        raise ValidationError([NOT_YOURSELF])
    kept = removed = 0
    for annotator in user.annotators.select_related("campaign__data_rule"):
        stay, gone = _erase_part(annotator, actor)
        kept, removed = kept + stay, removed + gone
    _forget_account(user)
    note(
        actor, user, Action.ERASED,
        message(
            "account.erased", "Judgments kept under a pseudonym: {kept}. Judgments removed: "
            "{removed}.", kept=kept, removed=removed,
        ),
    )  # fmt: skip
    return kept, removed


def _erase_part(annotator: Annotator, actor: User) -> tuple[int, int]:
    """Erase a person's part in one campaign; return how many judgments stay and are removed."""
    n = _judgments(annotator).count()
    kept, removed = (0, n) if _is_removed(annotator) else (n, 0)
    if _is_removed(annotator):
        _remove(annotator, actor, n)
    forget_person(annotator)
    AuditEntry.objects.create(
        campaign=annotator.campaign, annotator=annotator, actor=actor, action="erased",
        details={"kept": kept, "removed": removed},
    )  # fmt: skip
    return kept, removed


@transaction.atomic
def erase_imported(*, actor: User, annotator: Annotator) -> tuple[int, int]:
    """Remove what identifies an imported annotator, their label included, as `erase` does.

    The file that the campaign came in has the label, too, and is deleted. Raises ValidationError
    for annotators with an account, PermissionDenied unless the actor is a site admin.
    """
    if not is_site_admin(actor):
        raise PermissionDenied(ONLY_SITE_ADMINS)
    if annotator.user_id is not None:
        raise ValidationError([HAS_ACCOUNT])
    counts = _erase_part(annotator, actor)
    Annotator.objects.filter(pk=annotator.pk).update(label=f"erased-{annotator.pk}")
    OriginalFile.objects.filter(campaign=annotator.campaign).delete()
    return counts


def note_export(actor: User, annotator: Annotator) -> None:
    """Record that the data of an imported annotator were exported."""
    AuditEntry.objects.create(
        campaign=annotator.campaign, annotator=annotator, actor=actor, action="exported"
    )


def _remove(annotator: Annotator, actor: User, n: int) -> None:
    """Delete the judgments of an annotator, who counts in no analysis from now on."""
    if annotator.excluded_at is None:
        reason = message("account.erased-reason", "Personal data erased.")
        exclude_annotator(annotator=annotator, actor=actor, reason=reason.text)
    _judgments(annotator).delete()
    Annotator.objects.filter(pk=annotator.pk).update(n_removed=n)


def forget_person(annotator: Annotator) -> None:
    """Remove an annotator's platform id, answers about themselves, letters and link."""
    Annotator.objects.filter(pk=annotator.pk).update(
        external_id="", background=None, attitude=None, language="",
        token_hash=None, token_expires_at=None,
    )  # fmt: skip
    forget_visits(AuditEntry.objects.filter(annotator=annotator))
    Letter.objects.filter(annotator=annotator).delete()


def forget_visits(entries: QuerySet[AuditEntry]) -> None:
    """Remove what platforms report about visits: ids of sessions, submissions and studies."""
    for entry in entries.filter(action=ENTERED):
        entry.details = {name: value for name, value in entry.details.items() if name == "by"}
        entry.save(update_fields=["details"])


def _forget_account(user: User) -> None:
    before, user.username = user.get_username(), f"erased-{user.pk}"
    user.first_name = user.last_name = user.email = ""
    user.is_active = user.is_staff = user.is_superuser = False
    user.last_login = None
    user.set_unusable_password()
    user.save()
    user.groups.clear()
    for name in ("campaign_memberships", "test_set_shares", "api_tokens", "sign_ins", "letters"):
        getattr(user, name).all().delete()
    for model, field in _pointing_at(User):
        if model._meta.label in ACCESS:
            model._base_manager.filter(**{field.name: user}).delete()
    _rename_in_logs(user, before)


def _rename_in_logs(user: User, before: str) -> None:
    """Write the new name where logs have the old one as text."""
    ChangeEntry.objects.filter(actor=user).update(actor_name=user.username)
    accounts = ChangeEntry.objects.filter(kind="account", key=str(user.pk))
    accounts.update(name=user.username)
    for entry in AuditEntry.objects.filter(details__account=before):
        entry.details["account"] = user.username
        entry.save(update_fields=["details"])
    kind = ContentType.objects.get_for_model(User)
    LogEntry.objects.filter(content_type=kind, object_id=str(user.pk)).update(
        object_repr=user.username
    )
