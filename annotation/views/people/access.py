"""The people page of a campaign: annotators and their links, access links, codes, members."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.paginator import Page
from django.db import transaction
from django.db.models import Count, F, Q, QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation.access import (
    campaign_for_admin,
    campaign_for_reader,
    is_site_admin,
    researcher_required,
    runs_campaign,
    signed_in,
)
from annotation.campaigns import Invitation, add_annotators, people, takes_annotators
from annotation.entry import links, places
from annotation.exports import csv_lines
from annotation.filters import FilterError
from annotation.filters.choice import quoted
from annotation.forms.access import (
    AccessLinkForm,
    CodesForm,
    MemberForm,
    PeopleForm,
    RenewForm,
    in_words,
)
from annotation.models import AccessLink, Annotator, Campaign, Membership
from annotation.models.assignment import count_by_annotator, count_practice
from annotation.pay import COLUMNS, pay_for, rows, working_time
from annotation.qualification import codes, stopping
from annotation.views.campaigns import open_or_say
from annotation.web import fresh_links
from annotation.web.errors import wants_json
from annotation.web.parameters import NOTHING, Parameters, page_of, takes
from annotation.web.password import ask_password
from core.messages import messages_of, sentences, translated
from metaeval.messages import message

PAGE_SIZE = 50
STATUS = Campaign.Status
MOST_STOPS = 100
SORTS: dict[str, tuple[str | Promise, tuple[Any, ...]]] = {
    "": (_("in the order they were added"), ()),
    "least": (_("fewest ratings first"), ("completed",)),
    "most": (_("most ratings first"), ("-completed",)),
    "seen": (_("last seen first"), (F("user__last_login").desc(nulls_last=True),)),
}
# Placeholders that the providers replace.
PARAMETERS = {
    AccessLink.Provider.PROLIFIC: "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}"
    "&SESSION_ID={{%SESSION_ID%}}",
}


@researcher_required
@never_cache
@require_safe
@takes(Parameters(frozenset({"page", "q", "sort"})))
def access(request: HttpRequest, slug: str) -> HttpResponse:
    """Show annotators, links and members; campaign admins can change them."""
    return _page(request, campaign_for_reader(request, slug))


def _page(request: HttpRequest, campaign: Campaign, **changed: object) -> HttpResponse:
    """Render the page, with forms and results of the last action in `changed`."""
    asked, sort = request.GET.get("q", "").strip(), request.GET.get("sort", "")
    if sort not in SORTS:
        raise FilterError(
            message(
                "people.sort",
                "sort must be one of these values: {known}. It is “{value}”.",
                known=list(filter(None, SORTS)),
                value=quoted(sort),
            )
        )
    runs_it = runs_campaign(request.user, campaign)
    found = _people(campaign, asked, sort, knows_all=runs_it)
    page = page_of(request, found, PAGE_SIZE)
    query = request.GET.copy()
    query.pop("page", None)
    fresh = fresh_links.shown(request, campaign)
    is_fixed, n_free = places.is_fixed(campaign), places.free_places(campaign).count()
    context: dict[str, object] = {
        "campaign": campaign,
        "section": "campaigns",
        "tab": "access",
        "members": campaign.memberships.select_related("user").order_by("user__username"),
        "links": _links(campaign),
        "stops": stopping.waiting(campaign)[:MOST_STOPS],
        "page": page,
        "query": query.urlencode(),
        "q": asked,
        "sorts": [(name, label, name == sort) for name, (label, _order) in SORTS.items()],
        "n_people": campaign.annotators.count() if asked else page.paginator.count,
        "people": _rows(campaign, page),
        "is_site_admin": is_site_admin(request.user),
        "is_fixed": is_fixed,
        "n_free": n_free,
        "takes_links": runs_it and _takes_links(campaign, has_room=not is_fixed or n_free > 0),
        "has_accounts": runs_it and campaign.annotators.filter(user__isnull=False).exists(),
        "fresh": fresh,
        "fresh_csv": _fresh_csv(campaign, fresh),
        "takes_annotators": takes_annotators(campaign),
        "member_form": MemberForm(),
        "people_form": PeopleForm(campaign=campaign),
        "link_form": AccessLinkForm(),
        "codes_form": CodesForm(),
    }
    forms = [value for name, value in changed.items() if name.endswith("_form")]
    status = 422 if any(getattr(form, "errors", None) for form in forms) else 200
    return render(request, "annotation/access.html", context | changed, status=status)


def _fresh_csv(campaign: Campaign, fresh: Sequence[fresh_links.FreshLink]) -> str:
    """Return the new links as a CSV table for a mail merge, with addresses if there are any."""
    if not fresh:
        return ""
    labels = [each.label for each in fresh]
    people = campaign.annotators.filter(label__in=labels).exclude(user__email="")
    known = dict(people.values_list("label", "user__email"))
    if not known:
        rows = [(each.label, each.address) for each in fresh]
        return "".join(csv_lines(("annotator", "link"), rows))
    named = [(each.label, known.get(each.label) or "", each.address) for each in fresh]
    return "".join(csv_lines(("annotator", "email", "link"), named))


def _people(campaign: Campaign, asked: str, sort: str, *, knows_all: bool) -> QuerySet[Any]:
    """Return annotators by a part of their label; for admins also of their id or address."""
    found = campaign.annotators.select_related("user", "access_link")
    _label, order = SORTS.get(sort, SORTS[""])
    if sort in ("least", "most"):
        found = found.annotate(completed=Count("assignments__completed_at"))
    if asked:
        named = Q(label__icontains=asked)
        if knows_all:
            named |= Q(external_id__icontains=asked) | Q(user__email__icontains=asked)
            named |= Q(user__username__icontains=asked)
        found = found.filter(named)
    return found.order_by(*order, "pk")


def _rows(campaign: Campaign, page: Page[Any]) -> list[dict[str, object]]:
    people = list(page)
    shown = [person.pk for person in people]
    done = codes.finished(campaign, Annotator.objects.filter(pk__in=shown))
    # Practice is not counted, as on the page Progress.
    counted = count_by_annotator(Annotator.objects.filter(pk__in=shown), with_open=True)
    practice = count_practice([campaign])
    times = working_time(campaign)
    found: list[dict[str, object]] = []
    for person in people:
        counts, (rated, n_open) = counted[person.pk][1], practice.get(person.pk, (0, 0))
        paid, _active = times.get(person.pk, (0, 0))
        row = {
            "annotator": person,
            "rated": counts.answered - rated,
            "assigned": counts.answered - rated + counts.open - n_open,
            "answered": counts.answered,
            "paid_ms": paid,
            "is_finished": person.pk in done,
            "background": in_words(person.background),
            "is_expired": _is_over(person.token_expires_at),
            "pay": pay_for(campaign, paid),
            "person_id": person.external_id.partition(":")[2],
        }
        found.append(row)
    return found


def _links(campaign: Campaign) -> list[dict[str, object]]:
    rows = campaign.access_links.annotate(entered=Count("annotators")).order_by("pk")
    return [{"link": link, "is_expired": _is_over(link.expires_at)} for link in rows]


def _takes_links(campaign: Campaign, *, has_room: bool) -> bool:
    """Return whether anybody could enter by a new access link."""
    is_ours = campaign.origin != Campaign.Origin.IMPORTED
    is_draft, is_open = (campaign.status == one for one in (STATUS.DRAFT, STATUS.OPEN))
    return is_ours and (is_draft or (is_open and has_room))


def _is_over(moment: datetime | None) -> bool:
    return moment is not None and moment <= timezone.now()


@researcher_required
@require_safe
@takes(NOTHING)
def hours(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """Return working hours and pay of all annotators as CSV; for admins also their codes."""
    campaign = campaign_for_reader(request, slug)
    shown = codes.shown_codes(campaign) if runs_campaign(request.user, campaign) else None
    columns = COLUMNS if shown is None else (*COLUMNS, "completion_code")
    return StreamingHttpResponse(
        csv_lines(columns, rows(campaign, shown)),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{slug}-hours.csv"'},
    )


@researcher_required
@require_POST
def privacy(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the campaign to its members only, or to all researchers."""
    campaign = campaign_for_admin(request, slug)
    is_private = request.POST.get("private") == "yes"
    people.set_private(campaign=campaign, is_private=is_private, actor=signed_in(request))
    return redirect("access", slug=slug)


@researcher_required
@require_POST
def member_add(request: HttpRequest, slug: str) -> HttpResponse:
    """Give an account a role in the campaign."""
    campaign = campaign_for_admin(request, slug)
    if asked := ask_password(request):
        return asked
    form = MemberForm(request.POST)
    if form.is_valid():
        try:
            people.set_member(campaign=campaign, actor=signed_in(request), **form.cleaned_data)
            return redirect("access", slug=slug)
        except ValidationError as error:
            form.add_error(None, error)
    return _page(request, campaign, member_form=form)


@researcher_required
@require_POST
def member_remove(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Remove an account's role in the campaign."""
    campaign = campaign_for_admin(request, slug)
    member = get_object_or_404(
        Membership.objects.select_related("user", "campaign"), campaign=campaign, pk=pk
    )
    if asked := ask_password(request):
        return asked
    people.remove_member(member=member, actor=signed_in(request))
    # Accounts that removed their own role may no longer see the campaign.
    return redirect("campaigns") if member.user == request.user else redirect("access", slug=slug)


@researcher_required
@require_POST
def people_add(request: HttpRequest, slug: str) -> HttpResponse:
    """Add accounts and new annotators with personal links; then open the campaign if asked."""
    campaign = campaign_for_admin(request, slug)
    form = PeopleForm(request.POST, campaign=campaign)
    if not form.is_valid():
        return _page(request, campaign, people_form=form)
    try:
        invitations = _add(campaign, **form.cleaned_data)
    except ValidationError as error:
        form.add_error(None, error)
        return _page(request, campaign, people_form=form)
    fresh_links.keep_invitations(request, campaign, invitations)
    if "open" in request.POST:
        open_or_say(request, campaign)
    return redirect("access", slug=slug)


@transaction.atomic
def _add(
    campaign: Campaign,
    users: QuerySet[User],
    count: int | None,
    expires_at: datetime | None,
    addresses: list[str],
) -> list[Invitation]:
    if users:
        add_annotators(campaign=campaign, users=users)
    if not count:
        return []
    made = places.invite(campaign=campaign, count=count, expires_at=expires_at)
    people = [each.annotator for each in made]
    places.set_addresses(campaign, dict(zip(people, addresses, strict=False)))
    return made


@researcher_required
@require_POST
def links_hide(request: HttpRequest, slug: str) -> HttpResponse:
    """Hide the links that were just made."""
    fresh_links.hide(request, campaign_for_admin(request, slug))
    return redirect("access", slug=slug)


@researcher_required
@require_POST
def invitation_renew(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Replace a personal link; the form gives its last day."""
    campaign = campaign_for_admin(request, slug)
    annotator = _annotator(campaign, pk)
    form, had_one = RenewForm(request.POST), annotator.token_hash is not None
    try:
        if not form.is_valid():
            raise ValidationError(form.errors.as_data()["expires_at"])
        expires_at = form.cleaned_data["expires_at"]
        made = places.replace(annotator=annotator, expires_at=expires_at)
    except ValidationError as error:
        messages.error(request, f"{annotator.label}: {sentences(messages_of(error))}")
        return redirect("access", slug=slug)
    fresh_links.keep_invitations(request, campaign, [made])
    if had_one:
        _confirm_revoked(request, annotator)
    return redirect("access", slug=slug)


@researcher_required
@require_POST
def invitation_revoke(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Revoke a personal link."""
    campaign = campaign_for_admin(request, slug)
    annotator = _annotator(campaign, pk)
    places.revoke(annotator=annotator)
    _confirm_revoked(request, annotator)
    return redirect("access", slug=slug)


def _confirm_revoked(request: HttpRequest, annotator: Annotator) -> None:
    revoked = message(
        "link.revoked",
        "The old link of {annotator} no longer works. Browsers that used it are signed out.",
        annotator=annotator.label,
    )
    messages.success(request, translated(revoked))


def _annotator(campaign: Campaign, pk: int) -> Annotator:
    return get_object_or_404(Annotator.objects.select_related("user"), campaign=campaign, pk=pk)


@researcher_required
@require_POST
def link_add(request: HttpRequest, slug: str) -> HttpResponse:
    """Make an access link."""
    campaign = campaign_for_admin(request, slug)
    form = AccessLinkForm(request.POST)
    if not form.is_valid():
        return _page(request, campaign, link_form=form)
    link, token = links.create_link(
        campaign=campaign, actor=signed_in(request), **form.cleaned_data
    )
    provider = AccessLink.Provider(link.provider)
    suffix = PARAMETERS.get(provider, "")
    fresh_links.keep(request, campaign, [(str(provider.label), token, suffix)])
    return redirect("access", slug=slug)


@researcher_required
@require_POST
def link_revoke(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Revoke an access link, so that it admits nobody else."""
    campaign = campaign_for_admin(request, slug)
    rows = AccessLink.objects.select_related("campaign")
    link = get_object_or_404(rows, campaign=campaign, pk=pk)
    links.revoke_link(link=link, actor=signed_in(request))
    messages.success(request, _("The link no longer admits anybody."))
    return redirect("access", slug=slug)


@researcher_required
@require_POST
def codes_check(request: HttpRequest, slug: str) -> HttpResponse:
    """Check each pasted completion code: whose it is, and whether the annotator has finished."""
    campaign = campaign_for_admin(request, slug)
    form = CodesForm(request.POST)
    if not form.is_valid():
        if wants_json(request):
            return JsonResponse({"error": str(form.errors["codes"][0])}, status=422)
        return _page(request, campaign, codes_form=form)
    verdicts = codes.check_codes(campaign, form.cleaned_data["codes"])
    if wants_json(request):
        return JsonResponse({"codes": [verdict.as_json() for verdict in verdicts]})
    return _page(request, campaign, codes_form=form, verdicts=verdicts)
