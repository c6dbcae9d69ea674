"""Pages of projects: the list, one project, its people and its limits."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from annotation import projects
from annotation.access import (
    is_admin,
    is_site_admin,
    researcher_required,
    run_projects,
    signed_in,
    site_admin_required,
    visible_projects,
)
from annotation.forms.access import AccountForm
from annotation.models import Project, ProjectMember
from annotation.projects import LIMITS, NOT_YOURS
from annotation.web.password import ask_password
from lifecycle.projects.usage import contents, usage_of

MB = 1024**2
MOST_DECISIONS = 50


class NameForm(forms.Form):
    """The name of a new project."""

    name = forms.CharField(max_length=120, label=gettext_lazy("Name"))


class MemberForm(AccountForm):
    """An account and its role in a project."""

    role = forms.ChoiceField(label=gettext_lazy("Role"), choices=ProjectMember.Role.choices)


class LimitsForm(forms.ModelForm):  # type: ignore[type-arg]  # Django has no parameters
    """The limits of a project; blank for none."""

    max_bytes = forms.FloatField(
        required=False, min_value=0, max_value=10**9, label=gettext_lazy("Storage in MB")
    )

    class Meta:
        model = Project
        fields = LIMITS
        labels = {
            "max_starts": gettext_lazy("Metric runs and trainings within 30 days"),
            "max_tokens": gettext_lazy("Tokens of judges"),
            "max_money": gettext_lazy("Cost of judges"),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.max_bytes is not None:
            self.initial["max_bytes"] = round(self.instance.max_bytes / MB, 2)

    def clean_max_bytes(self) -> int | None:
        """Return bytes."""
        given: float | None = self.cleaned_data["max_bytes"]
        return None if given is None else round(given * MB)


@researcher_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_list(request: HttpRequest) -> HttpResponse:
    """List the projects of a user; campaign admins create more."""
    form = NameForm(request.POST if request.method == "POST" else None)
    if request.method == "POST":
        if not is_admin(request.user):
            raise PermissionDenied
        if form.is_valid():
            try:
                made = projects.create(name=form.cleaned_data["name"], actor=signed_in(request))
                return redirect(made)
            except ValidationError as error:
                form.add_error("name", error.error_dict.get("name", [error])[0])
    rows = visible_projects(request.user).annotate(
        n_test_sets=Count("test_sets", distinct=True),
        n_campaigns=Count("campaigns", distinct=True),
        n_members=Count("members", distinct=True),
    )
    context = {"projects": rows.order_by("name"), "form": form, "section": "testsets"}
    status = 422 if form.errors else 200
    return render(request, "lifecycle/projects.html", context, status=status)


@researcher_required
@require_http_methods(["GET", "HEAD"])
def project_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a project: what it holds, what it uses of its limits, its people."""
    return _page(request, get_object_or_404(visible_projects(request.user), slug=slug))


def _page(request: HttpRequest, project: Project, **changed: Any) -> HttpResponse:
    context = {
        "project": project,
        "section": "testsets",
        "usage": usage_of(project),
        "held": list(contents(project, request.user)),
        "members": project.members.select_related("user").order_by("user__username"),
        "runs_it": run_projects(request.user).filter(pk=project.pk).exists(),
        "is_site_admin": is_site_admin(request.user),
        "member_form": MemberForm(),
        "limits_form": LimitsForm(instance=project),
        "audit": project.audit.select_related("actor").order_by("-pk")[:MOST_DECISIONS],
    }
    status = 422 if any(form.errors for form in changed.values()) else 200
    return render(request, "lifecycle/project.html", context | changed, status=status)


def _to_run(request: HttpRequest, slug: str) -> Project:
    project = get_object_or_404(visible_projects(request.user), slug=slug)
    if not run_projects(request.user).filter(pk=project.pk).exists():
        raise PermissionDenied(NOT_YOURS)
    return project


@researcher_required
@require_POST
def member_set(request: HttpRequest, slug: str) -> HttpResponse:
    """Give an account a role in a project, or change its role."""
    project = _to_run(request, slug)
    if asked := ask_password(request):
        return asked
    form = MemberForm(request.POST)
    if form.is_valid():
        try:
            projects.set_member(project=project, actor=signed_in(request), **form.cleaned_data)
            notice = _("Set the role of %(name)s.")
            messages.success(request, notice % {"name": form.cleaned_data["username"]})
            return redirect(project)
        except ValidationError as error:
            form.add_error(None, error)
    return _page(request, project, member_form=form)


@researcher_required
@require_POST
def member_remove(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Remove an account from a project."""
    project = _to_run(request, slug)
    rows = project.members.select_related("user", "project")
    member = get_object_or_404(rows, pk=pk)
    if asked := ask_password(request):
        return asked
    projects.remove_member(member=member, actor=signed_in(request))
    still = visible_projects(request.user).filter(pk=project.pk).exists()
    return redirect(project) if still else redirect("projects")


@site_admin_required
@require_POST
def limits_set(request: HttpRequest, slug: str) -> HttpResponse:
    """Change the limits of a project."""
    project = get_object_or_404(Project, slug=slug)
    form = LimitsForm(request.POST, instance=get_object_or_404(Project, slug=slug))
    if not form.is_valid():
        return _page(request, project, limits_form=form)
    projects.set_limits(project=project, limits=form.cleaned_data, actor=signed_in(request))
    messages.success(request, _("Changed the limits."))
    return redirect(project)


urlpatterns = [
    path("projects/", project_list, name="projects"),
    path("projects/<slug:slug>/", project_detail, name="project"),
    path("projects/<slug:slug>/members/", member_set, name="project-member-set"),
    path(
        "projects/<slug:slug>/members/<int:pk>/remove/", member_remove, name="project-member-remove"
    ),
    path("projects/<slug:slug>/limits/", limits_set, name="project-limits"),
]
