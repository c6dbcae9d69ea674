"""Who may see what. Roles are Django groups; a superuser has all of them.

annotator: rates the items assigned to them, and sees nothing else.
researcher: reads test sets, metric runs and campaigns, and starts metric runs.
campaign admin: a researcher who also uploads test sets and creates campaigns, and who runs those.
admin: the site admin, who reads and runs every campaign.

A public campaign is read by everybody with a reading role, a private one by its members alone. A
campaign is run by the campaign admin who created it and by its members with the role admin. Members
with the role reviewer decide where annotators differ, and see nothing else of it, public or not.

A test set is read by every reading role, except by reviewers of a campaign over it: its page names
the system of every output. For the same reason they see no other public campaign over it, none of
its runs and none of its translations. Site admins add to any test set; campaign admins to those
that they own and those that are shared with them.

The members of a project have their role in all of its campaigns. Its researchers read its test sets
as well, and its admins run them, too. A private test set is read by its owner, those that it is
shared with, and the members of its project and of campaigns over it; for all others it does not
exist, nor do public campaigns, runs and translations of it.
"""

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, TypeVar

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Model, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils.crypto import salted_hmac
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from annotation.models import (
    Campaign,
    Membership,
    Project,
    ProjectMember,
    TestSet,
    TestSetShare,
)
from core.database.prepared import Prepared, Statement, placeholder_key
from metaeval.messages import Message, message

ADMIN, CAMPAIGN_ADMIN = "admin", "campaign admin"
RESEARCHER, ANNOTATOR = "researcher", "annotator"
ROLES = (ADMIN, CAMPAIGN_ADMIN, RESEARCHER, ANNOTATOR)
READERS = frozenset({ADMIN, CAMPAIGN_ADMIN, RESEARCHER})
CREATORS = frozenset({ADMIN, CAMPAIGN_ADMIN})
# Roles in a campaign or in a project.
RUNS, READS, REVIEWS = Membership.Role.ADMIN, Membership.Role.RESEARCHER, Membership.Role.REVIEWER
NOT_YOURS = message(
    "access.not-campaign-admin", "You may read this campaign; only its admins may change it."
)
ONLY_REVIEWS = message(
    "access.only-adjudication",
    "You review this campaign, so only its adjudication is open to you: reviewers decide without "
    "knowing systems, annotators or results.",
)
BLIND_REVIEWER = message(
    "access.blind-reviewer",
    "You review a campaign over this test set without knowing its systems, so its texts, systems "
    "and scores are not open to you.",
)
NO_PROJECT = message(
    "access.no-project", "You are a member of no project of this name. Its admins can add you."
)
NOT_REVIEWER = message(
    "access.not-reviewer",
    "You may read this campaign; only its reviewers and admins may decide here.",
)
View = Callable[..., HttpResponseBase]
Row = TypeVar("Row", bound=Model)
# Placeholders in statements, which are compiled once and run with many values.
USER, CAMPAIGN, SLUG = placeholder_key(1), placeholder_key(2), "placeholder for a slug"

_groups = Statement(lambda: Group.objects.filter(user=USER).values_list("name"))


def signed_in(request: HttpRequest) -> User:
    """Return the user of a request that is known to be signed in."""
    if not request.user.is_authenticated:
        raise PermissionDenied
    return request.user


def pseudonym(user: Any) -> str:
    """Return a meaningless name for a user, which answers waiting in a browser carry."""
    return salted_hmac("annotation.person", str(user.pk)).hexdigest()[:40]


def role_names(user: Any) -> frozenset[str]:
    """Return the roles of a user, read once per user object (one query)."""
    if not user.is_authenticated:
        return frozenset()
    if not hasattr(user, "_roles"):
        user._roles = (
            READERS | {ANNOTATOR}
            if user.is_superuser
            else frozenset(name for (name,) in _groups.values({USER: user.pk}))
        )
    roles: frozenset[str] = user._roles
    return roles


def is_site_admin(user: Any) -> bool:
    """Return whether the user may read and run every campaign."""
    return ADMIN in role_names(user)


def is_admin(user: Any) -> bool:
    """Return whether the user may upload test sets and create campaigns."""
    return bool(role_names(user) & CREATORS)


def is_researcher(user: Any) -> bool:
    """Return whether the user has a role that reads; admins are researchers too."""
    return bool(role_names(user) & READERS)


def visible_campaigns(user: Any) -> QuerySet[Campaign]:
    """Return the campaigns that a user may read; not those that they only review."""
    rows = Campaign.objects.all()
    if is_site_admin(user):
        return rows
    if not is_researcher(user):
        return rows.none()
    is_open = Q(is_private=False) & ~_with_role(user, REVIEWS)
    is_open &= ~Q(test_set__in=_blinded(user)) & ~Q(test_set__in=_closed(user))
    # A researcher of a project who reviews one of its campaigns does so without knowing systems.
    by_project = Q(project__in=_projects_as(user, READS)) & ~Q(test_set__in=_blinded(user))
    by_project &= ~Q(pk__in=_campaigns_as(user, REVIEWS))
    reads = Q(pk__in=_campaigns_as(user, READS)) | _with_role(user, RUNS)
    return rows.filter(is_open | by_project | reads | _created_by(user))


def _campaigns_as(user: Any, role: str) -> QuerySet[Any]:
    """Return the campaigns of which a user is a member with a role."""
    return Membership.objects.filter(user=user, role=role).values("campaign")


def _projects_as(user: Any, *roles: str) -> QuerySet[Any]:
    """Return the projects in which a user has one of some roles."""
    return ProjectMember.objects.filter(user=user, role__in=roles).values("project")


def _with_role(user: Any, role: str) -> Q:
    """Select campaigns in which a user has a role, as a member of them or of their project."""
    return Q(pk__in=_campaigns_as(user, role)) | Q(project__in=_projects_as(user, role))


def _blinded(user: Any) -> QuerySet[TestSet]:
    """Return the test sets that a user reviews without knowing the systems.

    Who may add to a test set knows its systems already.
    """
    reviewed = Campaign.objects.filter(_with_role(user, REVIEWS)).values("test_set")
    in_projects = Q(project__in=_projects_as(user, REVIEWS))
    rows = TestSet.objects.filter(Q(pk__in=reviewed) | in_projects)
    return rows.exclude(_changes(user))


def _changes(user: Any) -> Q:
    """Select the test sets that are a user's own, shared with them, or in projects they run."""
    shared = TestSetShare.objects.filter(user=user).values("test_set")
    in_projects = Q(project__in=_projects_as(user, RUNS))
    return Q(pk__in=shared) | Q(created_by=user) | in_projects


def _closed(user: Any) -> QuerySet[TestSet]:
    """Return the private test sets that a user may not read."""
    by_campaign = Q(pk__in=_campaigns_as(user, READS)) | _with_role(user, RUNS)
    by_campaign |= Q(project__in=_projects_as(user, READS)) | _created_by(user)
    read = Q(pk__in=Campaign.objects.filter(by_campaign).values("test_set"))
    in_projects = Q(project__in=_projects_as(user, READS))
    rows = TestSet.objects.filter(is_private=True)
    return rows.exclude(_changes(user) | read | in_projects)


def readable(rows: QuerySet[Row], user: Any, test_set: str = "test_set") -> QuerySet[Row]:
    """Return the rows of test sets that a user with a reading role may see.

    `test_set` is the path to the test set from a row.
    """
    if is_site_admin(user):
        return rows
    path = f"{test_set}__in"
    rows = rows.exclude(**{path: _closed(user).values("pk")})
    return rows.exclude(**{path: _blinded(user).values("pk")})


def visible_test_sets(user: Any) -> QuerySet[TestSet]:
    """Return the test sets that a user with a reading role may see."""
    return readable(TestSet.objects.all(), user, "pk")


def test_sets_with_media(user: Any) -> QuerySet[TestSet]:
    """Return the test sets whose recordings and pictures a user may see: reviewers need them."""
    visible = Q(pk__in=visible_test_sets(user).values("pk"))
    return TestSet.objects.filter(visible | Q(pk__in=_blinded(user).values("pk")))


def test_set_for_reader(request: HttpRequest, slug: str) -> TestSet:
    """Return a test set to somebody who may see it.

    403 for those who review it blindly, 404 for others who may not.
    """
    test_set = get_object_or_404(TestSet, slug=slug)
    if not visible_test_sets(request.user).filter(pk=test_set.pk).exists():
        if _blinded(request.user).filter(pk=test_set.pk).exists():
            raise PermissionDenied(BLIND_REVIEWER)
        raise Http404
    return test_set


def visible_projects(user: Any) -> QuerySet[Project]:
    """Return the projects that a user may read: their admins and researchers, and site admins."""
    rows = Project.objects.all()
    if is_site_admin(user):
        return rows
    return (
        rows.filter(pk__in=_projects_as(user, RUNS, READS)) if is_researcher(user) else rows.none()
    )


def run_projects(user: Any) -> QuerySet[Project]:
    """Return the projects that a user may run."""
    rows = visible_projects(user)
    return rows if is_site_admin(user) else rows.filter(pk__in=_projects_as(user, RUNS))


def joined_project(user: Any, slug: str) -> Project | None:
    """Return the project into which a user puts a new test set or training; None without a slug.

    Commands have no user. Raises ValidationError unless the user may read the project.
    """
    if not slug:
        return None
    rows = Project.objects.all() if user is None else visible_projects(user)
    project = rows.filter(slug=slug).first()
    if project is None:
        raise ValidationError({"project": [NO_PROJECT]})
    return project


def project_of_new(test_set: TestSet, user: Any) -> Project | None:
    """Return the project of what is new over a test set: that of the test set, if it is theirs."""
    if test_set.project_id is None or user is None or not user.is_authenticated:
        return test_set.project
    return visible_projects(user).filter(pk=test_set.project_id).first()


def of_readable_projects(rows: QuerySet[Row], user: Any) -> QuerySet[Row]:
    """Return the rows that are in no project, or in one that a user may read."""
    return rows.filter(Q(project=None) | Q(project__in=visible_projects(user).values("pk")))


def reviewed_campaigns(user: Any) -> QuerySet[Campaign]:
    """Return the campaigns of which a user sees the adjudication alone."""
    rows = Campaign.objects.exclude(pk__in=visible_campaigns(user).values("pk"))
    return rows.filter(_with_role(user, REVIEWS)) if is_researcher(user) else rows.none()


def run_campaigns(user: Any) -> QuerySet[Campaign]:
    """Return the campaigns that a user may run."""
    rows = Campaign.objects.all()
    if is_site_admin(user):
        return rows
    if not is_researcher(user):
        return rows.none()
    return rows.filter(_with_role(user, RUNS) | _created_by(user))


def _created_by(user: Any) -> Q:
    """Select campaigns that the user made, if the user still has the role."""
    return Q(created_by=user) if CAMPAIGN_ADMIN in role_names(user) else Q(pk__in=[])


def runs_campaign(user: Any, campaign: Campaign) -> bool:
    """Return whether a user may run a campaign."""
    if is_site_admin(user) or not is_researcher(user):
        return is_site_admin(user)
    return bool(_runs(role_names(user)).values({USER: user.pk, CAMPAIGN: campaign.pk}))


@cache
def _runs(roles: frozenset[str]) -> Statement:
    """Return the statement for readers with these roles."""
    rows = run_campaigns(_placeholder_user(roles)).filter(pk=CAMPAIGN)
    return Statement(lambda: rows.values_list("pk"))


def may_change_test_set(user: Any, test_set: TestSet) -> bool:
    """Return whether a user may add systems, outputs and imported scores to a test set.

    Its owner, those it is shared with, admins of its project and site admins may; all need a role
    that uploads. Commands have no user and do not ask.
    """
    if is_site_admin(user) or not is_admin(user):
        return is_site_admin(user)
    return TestSet.objects.filter(_changes(user), pk=test_set.pk).exists()


def may_share_test_set(user: Any, test_set: TestSet) -> bool:
    """Return whether a user may say who adds to a test set: its owner and admins above them."""
    if is_site_admin(user) or not is_admin(user):
        return is_site_admin(user)
    runs_it = test_set.project_id and run_projects(user).filter(pk=test_set.project_id).exists()
    return bool(runs_it) or test_set.created_by_id == user.pk


def test_set_refusal(test_set: TestSet) -> Message:
    """Return the message for people who may not add to a test set."""
    owner = test_set.created_by
    if owner is None:
        return message(
            "test-set.no-owner",
            "“{name}” has no owner, so only site admins may add to it; one of them can make you "
            "its owner.",
            name=str(test_set),
        )
    return message(
        "test-set.not-shared",
        "“{name}” belongs to {owner} and is not shared with you. Its owner and site admins can "
        "share it, on its page.",
        name=str(test_set),
        owner=owner.get_username(),
    )


def campaign_for_reader(request: HttpRequest, slug: str) -> Campaign:
    """Return a campaign, with its test set, to somebody who may read it.

    403 without a reading role and for reviewers, 404 for a campaign that does not exist or that the
    user may not see. Templates of the same request read `is_admin`: whether the user runs it.
    """
    if not is_researcher(request.user):
        raise PermissionDenied
    user = signed_in(request)
    found = next(iter(_readable(role_names(user)).rows({USER: user.pk, SLUG: slug})), None)
    if found is None and reviewed_campaigns(request.user).filter(slug=slug).exists():
        raise PermissionDenied(ONLY_REVIEWS)
    if found is None:
        raise Http404
    request.campaign = found  # type: ignore[attr-defined]
    return found


@cache
def _readable(roles: frozenset[str]) -> Prepared[Campaign]:
    """Return the statement for readers with these roles."""
    rows = visible_campaigns(_placeholder_user(roles)).filter(slug=SLUG)
    return Prepared(lambda: rows.select_related("test_set"))


def _placeholder_user(roles: frozenset[str]) -> User:
    """Return a user for statements, which are compiled once."""
    user = User(pk=USER)
    user._roles = roles  # type: ignore[attr-defined]
    return user


def campaign_for_reader_or_reviewer(request: HttpRequest, slug: str) -> Campaign:
    """Return a campaign, with its test set, to somebody who may read it or decides in it.

    Templates of the same request read `request.only_reviews`: the user sees nothing else.
    """
    rows = reviewed_campaigns(request.user).select_related("test_set")
    if (found := rows.filter(slug=slug).first()) is None:
        return campaign_for_reader(request, slug)
    request.campaign, request.only_reviews = found, True  # type: ignore[attr-defined]
    return found


def campaign_for_admin(request: HttpRequest, slug: str) -> Campaign:
    """Return a campaign to somebody who may run it; 403 for those who may only read it."""
    campaign = campaign_for_reader(request, slug)
    if not runs_campaign(request.user, campaign):
        raise PermissionDenied(NOT_YOURS)
    return campaign


def reviews_campaign(user: Any, campaign: Campaign) -> bool:
    """Return whether a user may adjudicate: the reviewers and admins of a campaign."""
    own = Campaign.objects.filter(_with_role(user, REVIEWS), pk=campaign.pk)
    return runs_campaign(user, campaign) or own.exists()


def campaign_for_reviewer(request: HttpRequest, slug: str) -> Campaign:
    """Return a campaign to somebody who may adjudicate; 403 for those who may only read it."""
    campaign = campaign_for_reader_or_reviewer(request, slug)
    if not reviews_campaign(request.user, campaign):
        raise PermissionDenied(NOT_REVIEWER)
    return campaign


ONLY_SITE_ADMINS = message(
    "access.site-admins",
    "Only admins of this site can do this: they add metrics, judges, models and accounts.",
)


def _required(
    check: Callable[[Any], bool], refusal: Message | None = None
) -> Callable[[View], View]:
    def decorate(view: View) -> View:
        @wraps(view)
        @login_required
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not check(request.user):
                raise PermissionDenied(*([refusal] if refusal else []))
            return view(request, *args, **kwargs)

        return guarded

    return decorate


# Roles alone. What belongs to a campaign also asks one of `campaign_for_…`.
admin_required = _required(is_admin)
site_admin_required = _required(is_site_admin, ONLY_SITE_ADMINS)
researcher_required = _required(is_researcher)


class IsResearcher(BasePermission):
    """API: reading roles read; the querysets exclude what a user may not see."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Check the role that the method needs."""
        return (
            is_researcher(request.user)
            if request.method in SAFE_METHODS
            else is_admin(request.user)
        )


def roles(request: HttpRequest) -> dict[str, object]:
    """Give templates `is_admin` and `is_researcher`, evaluated only where used, and once.

    `is_admin` is about the page: on a campaign's pages whether the user runs that campaign,
    elsewhere whether they may upload and create.
    """
    user = getattr(request, "user", None)
    return {
        "is_admin": cache(lambda: user is not None and _is_admin_here(request)),
        "is_researcher": cache(lambda: user is not None and is_researcher(user)),
    }


def _is_admin_here(request: HttpRequest) -> bool:
    campaign = getattr(request, "campaign", None)
    return runs_campaign(request.user, campaign) if campaign else is_admin(request.user)


def only_rates(user: User | None) -> bool:
    """Return whether an account can do nothing but rate, so that a link may open it."""
    return (
        user is not None
        and not (user.is_staff or user.is_superuser)
        and not user.groups.exclude(name=ANNOTATOR).exists()
    )
