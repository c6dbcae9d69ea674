"""Pages that rename, copy, archive and delete a resource, the archive, and recorded changes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import (
    researcher_required,
    run_projects,
    signed_in,
    site_admin_required,
    visible_campaigns,
)
from annotation.models import Campaign, ChangeEntry
from annotation.web.parameters import Parameters, page_of, takes
from annotation.web.password import ask_password
from core.messages import messages_of, sentences, translated
from core.text import key
from lifecycle import services
from lifecycle.resources import RESOURCE_TYPES, ResourceType
from lifecycle.resources.resource_type import counted
from metaeval.messages import Message, message

NOT_YOURS = message("lifecycle.not-yours", "Only the owner and site admins may do this.")
PER_PAGE = 100
MOST_ARCHIVED = 200


@dataclass(frozen=True)
class Found:
    """A resource with its type, and what a user may do with it."""

    kind: ResourceType[Any]
    resource: Any
    user: Any

    @property
    def allowed(self) -> dict[str, bool]:
        """Return whether the user may do it, by verb."""
        kind, resource, user = self.kind, self.resource, self.user
        changes = kind.may_change(user, resource)
        return {
            "rename": changes and bool(kind.title),
            "archive": changes and kind.archives,
            "restore": changes and kind.archives,
            "copy": kind.may_copy(user, resource),
            "study": changes and kind.studies,
            "title": changes and kind.studies,
            "project": kind.may_move(user, resource),
            "delete": kind.may_delete(user, resource),
        }

    @property
    def may(self) -> dict[str, bool]:
        """Return the allowed actions that apply: archiving, or restoring what is archived."""
        idle = "archive" if self.kind.is_archived(self.resource) else "restore"
        return self.allowed | {idle: False}

    @property
    def name(self) -> str:
        """Return the name of the resource."""
        return self.kind.called(self.resource)

    @property
    def address(self) -> str:
        """Return the address of the page of actions."""
        return reverse("manage", args=[self.kind.name, getattr(self.resource, self.kind.key)])


def find(user: Any, kind: str, which: str) -> Found:
    """Return a resource that a user may see; Http404 for any other."""
    if kind not in RESOURCE_TYPES or (RESOURCE_TYPES[kind].key == "pk" and not key(which)):
        raise Http404
    chosen = RESOURCE_TYPES[kind]
    return Found(chosen, get_object_or_404(chosen.seen(user), **{chosen.key: which}), user)


def _context(found: Found) -> dict[str, Any]:
    return {
        "found": found,
        "kind": found.kind,
        "resource": found.resource,
        "key": getattr(found.resource, found.kind.key),
        "page_address": found.kind.page(found.resource),
        "projects": run_projects(found.user) if found.kind.project == "project" else (),
        "studies": _studies(found) if found.kind.studies else (),
        "copy_address": found.kind.copy_address(found.resource),
        "archived_since": found.kind.archived_since(found.resource),
        "blocks_deletion": found.kind.blocks_deletion(found.resource),
        "blocks_archiving": found.kind.blocks_archiving(found.resource),
    }


def _studies(found: Found) -> list[str]:
    """Return the studies that a user may read, to choose from."""
    rows = visible_campaigns(found.user).exclude(study="").order_by("study")
    return list(rows.values_list("study", flat=True).distinct())


@researcher_required
@require_GET
def manage(request: HttpRequest, kind: str, which: str) -> HttpResponse:
    """Show what this user may do with a resource: rename, copy, archive, delete."""
    return render(request, "lifecycle/manage.html", _context(find(signed_in(request), kind, which)))


@researcher_required
@require_POST
def act(request: HttpRequest, kind: str, which: str, verb: str) -> HttpResponse:
    """Do an action that can be undone."""
    found = find(signed_in(request), kind, which)
    if verb not in VERBS:
        raise Http404
    if not found.allowed[verb]:
        raise PermissionDenied(NOT_YOURS)
    try:
        sentence, address = VERBS[verb](request, found)
    except ValidationError as error:
        messages.error(request, sentences(messages_of(error)))
        return redirect(found.address)
    messages.success(request, sentence)
    return redirect(address)


def _rename(request: HttpRequest, found: Found) -> tuple[str, str]:
    services.rename(found.kind, found.resource, found.user, request.POST.get("name", ""))
    return _("Renamed to %(name)s.") % {"name": found.name}, found.kind.page(found.resource)


def _archive(request: HttpRequest, found: Found) -> tuple[str, str]:
    services.archive(found.kind, found.resource, found.user)
    notice = _("Archived %(name)s. Lists no longer show it; its pages remain available.")
    return notice % {"name": found.name}, found.address


def _restore(request: HttpRequest, found: Found) -> tuple[str, str]:
    services.restore(found.kind, found.resource, found.user)
    return _("Restored %(name)s.") % {"name": found.name}, found.address


def _copy(request: HttpRequest, found: Found) -> tuple[str, str]:
    made: Campaign = services.copy(found.kind, found.resource, found.user)
    notice = _("Created %(name)s, a draft with the same settings.")
    return notice % {"name": made.name}, made.get_absolute_url()


def _study(request: HttpRequest, found: Found) -> tuple[str, str]:
    services.move(found.kind, found.resource, found.user, request.POST.get("study", ""))
    return translated(services.moved(found.resource)), found.address


def _title(request: HttpRequest, found: Found) -> tuple[str, str]:
    services.retitle(found.kind, found.resource, found.user, request.POST.get("title", ""))
    notice = _("Annotators now read “%(title)s”.")
    return notice % {"title": found.resource.title}, found.address


def _project(request: HttpRequest, found: Found) -> tuple[str, str]:
    slug, is_private = request.POST.get("project", ""), request.POST.get("private") == "yes"
    project = services.put(found.kind, found.resource, found.user, slug, is_private=is_private)
    if project is None:
        return _("%(name)s is in no project.") % {"name": found.name}, found.address
    notice = _("%(name)s is in the project %(project)s.")
    return notice % {"name": found.name, "project": project.name}, found.address


VERBS: dict[str, Callable[[HttpRequest, Found], tuple[str, str]]] = {
    "rename": _rename,
    "archive": _archive,
    "restore": _restore,
    "copy": _copy,
    "study": _study,
    "title": _title,
    "project": _project,
}


@researcher_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, kind: str, which: str) -> HttpResponse:
    """Show what would be deleted and what stays; delete it once confirmed."""
    found = find(signed_in(request), kind, which)
    if not found.allowed["delete"]:
        raise PermissionDenied(NOT_YOURS)
    errors: list[Message] = []
    sent = {name: request.POST.get(name, "") for name in ("seen", "typed", "reason")}
    if request.method == "POST":
        if asked := ask_password(request):
            return asked
        try:
            services.delete(found.kind, found.resource, found.user, **sent)
        except ValidationError as refused:
            errors = messages_of(refused)
        else:
            messages.success(request, _("Deleted %(name)s.") % {"name": found.name})
            return redirect(found.kind.home)
    context = _context(found) | {
        **sent,
        "errors": errors,
        "going": counted(dict(found.kind.going(found.resource))),
        "staying": found.kind.staying(found.resource),
        "judgments": counted({"judgment": found.kind.judgments(found.resource)}),
        "export": found.kind.export(found.resource),
        "seen": services.digest(found.kind, found.resource),
    }
    return render(request, "lifecycle/delete.html", context, status=422 if errors else 200)


@researcher_required
@require_GET
def archive(request: HttpRequest) -> HttpResponse:
    """Show archived resources by type."""
    user = signed_in(request)
    groups = [
        (kind, [Found(kind, resource, user) for resource in kind.archived(user)[:MOST_ARCHIVED]])
        for kind in RESOURCE_TYPES.values()
        if kind.archives
    ]
    context = {"groups": [(kind, found) for kind, found in groups if found], "most": MOST_ARCHIVED}
    return render(request, "lifecycle/archive.html", context)


@site_admin_required
@require_GET
@takes(Parameters(frozenset({"page"})))
def changes(request: HttpRequest) -> HttpResponse:
    """Show who did what to which resource or account, newest first."""
    page = page_of(request, ChangeEntry.objects.all(), PER_PAGE)
    labels = {name: kind.label for name, kind in RESOURCE_TYPES.items()}
    entries = [(row, labels.get(row.kind, row.kind), counted(row.counts)) for row in page]
    return render(request, "lifecycle/changes.html", {"page": page, "entries": entries})


urlpatterns = [
    path("archive/", archive, name="archive"),
    path("changes/", changes, name="changes"),
    path("manage/<slug:kind>/<str:which>/", manage, name="manage"),
    path("manage/<slug:kind>/<str:which>/delete/", delete, name="manage-delete"),
    path("manage/<slug:kind>/<str:which>/<slug:verb>/", act, name="manage-act"),
]
