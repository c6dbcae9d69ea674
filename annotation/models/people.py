"""Annotators and members of a campaign, their links and accounts, and failed attempts to get in."""

import hashlib
import secrets
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.validators import MaxValueValidator
from django.db import models
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.models.campaign import Campaign
from annotation.models.corpus import TestSet
from annotation.models.projects import Project
from core.messages import MessageField


def hash_token(token: str) -> str:
    """Return what is stored of a token: 64 hexadecimal digits."""
    return hashlib.sha256(token.encode()).hexdigest()


def new_token() -> tuple[str, str]:
    """Return a fresh token and its hash; the token itself is shown once and kept nowhere."""
    token = secrets.token_urlsafe(32)
    return token, hash_token(token)


class AccessLink(models.Model):
    """A link that lets many people in, each as an annotator of their own.

    Only the token's SHA-256 is stored. `provider` says whose parameters identify a person:
    Prolific's PROLIFIC_PID or Mechanical Turk's workerId; an open link takes anybody. At most
    `quota` people are admitted (0: no limit). Annotators who finish see `completion_code`.
    """

    class Provider(models.TextChoices):
        OPEN = "open", _("Open link")
        PROLIFIC = "prolific", _("Prolific")
        MTURK = "mturk", _("Mechanical Turk")

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="access_links")
    token_hash = models.CharField(max_length=64, unique=True)
    provider = models.CharField(max_length=10, choices=Provider.choices, default=Provider.OPEN)
    quota = models.PositiveIntegerField(default=0)
    completion_code = models.CharField(max_length=80, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["campaign", "id"]

    def __str__(self) -> str:
        return f"{self.campaign_id}: {self.provider}"


class Annotator(models.Model):
    """A person's part in one campaign. Imported annotators have no account.

    A personal link carries a random token; only its SHA-256 is stored. `external_id` is the
    person's id with the provider of the access link that they came by. An excluded annotator's
    judgments stay, and count in no analysis. `background` holds the answers of the background
    form by field name. `language` is the interface language that the person chose. `answered_at` is
    when they gave the last answer here; the time of the next one begins there at the earliest.
    `attitude` is what they think of suggestions by AI, from 1 (against) to 5, asked after a trial.
    `qualified_at` is when they passed the comprehension test; with `stopped_at`, they rate nothing
    until somebody has decided. `codes` are completion codes that came with the campaign: `passed`,
    `failed`, and with how many failed checks one still passes (`most`, below 1 a share of them).
    `n_removed` judgments were deleted when the person's data was erased.
    """

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="annotators")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="annotators"
    )
    label = models.CharField(max_length=80)
    token_hash = models.CharField(max_length=64, null=True, blank=True, unique=True)
    token_expires_at = models.DateTimeField(null=True, blank=True)
    access_link = models.ForeignKey(
        AccessLink, models.SET_NULL, null=True, blank=True, related_name="annotators"
    )
    external_id = models.CharField(max_length=120, blank=True, default="")
    is_simulated = models.BooleanField(default=False)
    consented_at = models.DateTimeField(null=True, blank=True)
    background = models.JSONField(null=True, blank=True)
    language = models.CharField(max_length=20, blank=True, default="")
    codes = models.JSONField(null=True, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    attitude = models.PositiveSmallIntegerField(null=True, blank=True)
    qualified_at = models.DateTimeField(null=True, blank=True)
    stopped_at = models.DateTimeField(null=True, blank=True)
    excluded_at = models.DateTimeField(null=True, blank=True)
    n_removed = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["campaign", "label"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "label"], name="annotator_label"),
            models.UniqueConstraint(fields=["campaign", "user"], name="annotator_user"),
            models.UniqueConstraint(
                fields=["campaign", "external_id"],
                condition=~models.Q(external_id=""),
                name="annotator_external_id",
            ),
        ]

    def __str__(self) -> str:
        return self.label

    @property
    def barred_at(self) -> datetime | None:
        """Since when the annotator may rate nothing more: stopped by a rule, or excluded."""
        return min(filter(None, (self.stopped_at, self.excluded_at)), default=None)


MOST_DAYS = MaxValueValidator(3_650)


class DataRule(models.Model):
    """What happens with personal data of a campaign; without one, nothing is deleted.

    Days are counted from the closing of the campaign; None keeps the data.
    """

    class Erasure(models.TextChoices):
        PSEUDONYM = "pseudonym", _("stay under a pseudonym")
        REMOVE = "remove", _("are deleted")

    campaign = models.OneToOneField(Campaign, models.CASCADE, related_name="data_rule")
    erasure = models.CharField(max_length=10, choices=Erasure.choices, default=Erasure.PSEUDONYM)
    addresses_days = models.PositiveSmallIntegerField(null=True, blank=True, validators=[MOST_DAYS])
    platform_ids_days = models.PositiveSmallIntegerField(
        null=True, blank=True, validators=[MOST_DAYS]
    )
    backgrounds_days = models.PositiveSmallIntegerField(
        null=True, blank=True, validators=[MOST_DAYS]
    )

    def __str__(self) -> str:
        return f"data of {self.campaign_id}"


class Membership(models.Model):
    """What an account may do with one campaign: read it, run it, or only adjudicate."""

    class Role(models.TextChoices):
        RESEARCHER = "researcher", _("Researcher: reads")
        REVIEWER = "reviewer", _("Reviewer: decides where annotators differ, and sees nothing else")
        ADMIN = "admin", _("Campaign admin: runs the campaign")

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="campaign_memberships"
    )
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.RESEARCHER)

    class Meta:
        ordering = ["campaign", "user"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "user"], name="membership_once"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} {self.role} of {self.campaign_id}"


class Instructions(models.Model):
    """A campaign's instructions and consent text in one more language, as Markdown."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="translations")
    language = models.CharField(max_length=20)
    instructions = models.TextField(blank=True)
    consent = models.TextField(blank=True)

    class Meta:
        ordering = ["campaign", "language"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "language"], name="instructions_language"),
        ]

    def __str__(self) -> str:
        return f"{self.campaign_id}: {self.language}"


class AuditEntry(models.Model):
    """A decision about a campaign, a test set or a project: who did what to whom, when and why.

    Only ever added.
    """

    campaign = models.ForeignKey(
        Campaign, models.CASCADE, null=True, blank=True, related_name="audit"
    )
    test_set = models.ForeignKey(
        TestSet, models.CASCADE, null=True, blank=True, related_name="audit"
    )
    project = models.ForeignKey(
        Project, models.CASCADE, null=True, blank=True, related_name="audit"
    )
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    action = models.CharField(max_length=40)
    annotator = models.ForeignKey(
        Annotator, models.SET_NULL, null=True, blank=True, related_name="audit"
    )
    reason = MessageField(blank=True)
    details = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["campaign", "-id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(campaign__isnull=False, test_set=None, project=None)
                | models.Q(campaign=None, test_set__isnull=False, project=None)
                | models.Q(campaign=None, test_set=None, project__isnull=False),
                name="audit_of_one_thing",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.created_at:%Y-%m-%d}"

    @property
    def action_label(self) -> str | Promise:
        """The action in words."""
        return ACTIONS.get(self.action, self.action)

    @property
    def facts(self) -> list[tuple[str | Promise, Any]]:
        """The names and values of `details` in words, sorted, because databases keep no order."""
        pairs = sorted(self.details.items(), key=lambda pair: (pair[0] != "before", pair[0]))
        return [
            (DETAILS.get(name, name), VALUES.get(value, value) if name in CODED else value)
            for name, value in pairs
        ]


ACTIONS: dict[str, Promise] = {
    "exclude": _("excluded an annotator"),
    "include": _("included an annotator"),
    "reassign": _("reassigned items"),
    "texts saved": _("saved texts"),
    "texts deleted": _("deleted texts"),
    "marked as human translation": _("marked a system as human translation"),
    "marked as MT system": _("marked a system as MT system"),
    "notified": _("sent a notification"),
    "notification failed": _("notification failed"),
    "links mailed": _("mailed links"),
    "let go on": _("let an annotator continue"),
    "ended": _("ended an annotator’s work"),
    "told the completion code": _("completion code shown"),
    "access link made": _("made an access link"),
    "access link revoked": _("revoked an access link"),
    "entered by access link": _("entered by access link"),
    "gold added": _("added gold items"),
    "address": _("changed the address"),
    "study": _("changed the study"),
    "member set": _("set a member’s role"),
    "member removed": _("removed a member"),
    "erased": _("erased an annotator’s personal data"),
    "exported": _("exported an annotator’s personal data"),
    "forgot": _("deleted personal data after their time"),
    "data rule": _("changed the rule for personal data"),
    "made private": _("made the campaign private"),
    "made public": _("made the campaign public"),
    "project": _("changed the project"),
    "put in": _("put something into the project"),
    "taken out": _("took something out of the project"),
    "limits": _("changed the limits of the project"),
}
DETAILS: dict[str, Promise] = {
    "account": _("account"),
    "role": _("role"),
    "given": _("reassigned"),
    "left": _("not reassigned"),
    "language": _("language"),
    "system": _("system"),
    "length_ratio": _("length ratio"),
    "channel": _("channel"),
    "subject": _("subject"),
    "people": _("people"),
    "checks": _("checks"),
    "by": _("provider"),
    "items": _("items"),
    "from": _("from"),
    "before": _("before"),
    "now": _("now"),
    "kept": _("judgments kept"),
    "removed": _("judgments removed"),
    "addresses": _("e-mail addresses"),
    "platform_ids": _("platform ids"),
    "backgrounds": _("background answers"),
    "erasure": _("when a person is erased"),
    "addresses_days": _("days for e-mail addresses"),
    "platform_ids_days": _("days for platform ids"),
    "backgrounds_days": _("days for background answers"),
    "is_private": _("private"),
    "kind": _("kind"),
    "name": _("name"),
    "max_bytes": _("bytes"),
    "max_starts": _("runs and trainings"),
    "max_tokens": _("tokens of judges"),
    "max_money": _("money for judges"),
}
# Details whose values are codes of ours; others are names, numbers or texts.
CODED = frozenset({"role", "by", "channel", "checks", "erasure"})
VALUES: dict[str, Promise] = {
    "researcher": _("researcher"),
    "reviewer": _("reviewer"),
    "admin": _("campaign admin"),
    "project admin": _("project admin"),
    "open": _("open link"),
    "prolific": _("Prolific"),
    "mturk": _("Mechanical Turk"),
    "email": _("e-mail"),
    "webhook": _("webhook"),
    "pseudonym": _("judgments are kept"),
    "remove": _("judgments are deleted"),
    "passed": _("passed"),
    "failed": _("failed"),
}


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


class SignIn(models.Model):
    """A browser in which an account signed in with its password; its session names the row.

    A session ends when its row is deleted. Nothing here leads to the session. `seen_at` is exact
    to a minute; `address` is empty unless `settings.SESSION_ADDRESSES`.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="sign_ins")
    created_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    browser = models.CharField(max_length=60, blank=True, default="")
    address = models.CharField(max_length=45, blank=True, default="")

    def __str__(self) -> str:
        return f"sign-in of account {self.user_id}"


class GuessCount(models.Model):
    """How often guessing failed lately: at one account from one network, at an account, at links.

    `key` and `network` are keyed hashes: nobody's name, address or link can be read here.
    """

    key = models.CharField(max_length=64, unique=True)
    network = models.CharField(max_length=64, blank=True, default="")
    failures = models.PositiveIntegerField(default=0)
    failed_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["network", "failed_at"], name="guesses_of_network"),
            models.Index(fields=["failed_at"], name="guesses_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.failures} since {self.failed_at:%Y-%m-%d}"
