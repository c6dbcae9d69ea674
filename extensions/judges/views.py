"""Pages and forms of judges: endpoints, templates, versions of a template, new templates."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_http_methods

from annotation.access import is_site_admin, researcher_required, site_admin_required
from core.messages import messages_of, translated
from extensions.judges import endpoints, templates
from extensions.judges.options import QUEUE
from extensions.judges.prompts import CLASSES, ESA, KINDS, LONGEST
from metaeval.messages import MessageError
from metrics.models import JudgeSpending, JudgeTemplate
from metrics.workers import idle

PLACEHOLDERS = _(
    "Placeholders: {source}, {reference}, {source_language}, {target_language} and {output}; {a} "
    "and {b} for two outputs, {outputs} for all of them."
)


class VersionForm(forms.Form):
    """The text of a version."""

    system = forms.CharField(
        required=False,
        max_length=LONGEST,
        label=_("Role"),
        help_text=_("Sent first, as the system message. May be blank."),
        widget=forms.Textarea(attrs={"rows": 4}),
        strip=False,
    )
    user = forms.CharField(
        max_length=LONGEST,
        label=_("Question"),
        help_text=PLACEHOLDERS,
        widget=forms.Textarea(attrs={"rows": 14}),
        strip=False,
    )

    second = forms.CharField(
        required=False,
        max_length=LONGEST,
        label=_("Second question"),
        help_text=_("Only for ESA: asks for the score. {errors} is the reply to the first one."),
        widget=forms.Textarea(attrs={"rows": 8}),
        strip=False,
    )
    classes = forms.CharField(
        required=False,
        max_length=LONGEST,
        label=_("Classes"),
        help_text=_("Only for classes: one per line, the worst first."),
        widget=forms.Textarea(attrs={"rows": 5}),
    )

    def clean_classes(self) -> list[str]:
        """Return the lines."""
        return [line.strip() for line in self.cleaned_data["classes"].splitlines() if line.strip()]

    def clean(self) -> None:
        """Normalise the line endings that browsers send."""
        for name in ("system", "user", "second"):
            if name in self.cleaned_data:
                self.cleaned_data[name] = self.cleaned_data[name].replace("\r\n", "\n")


class NewTemplateForm(VersionForm):
    """The first version of a template."""

    name = forms.CharField(
        max_length=40,
        label=_("Name"),
        help_text=_("Use a–z, 0–9 and -"),
        validators=JudgeTemplate._meta.get_field("name").validators,
    )
    kind = forms.ChoiceField(label=_("Kind of answer"))
    field_order = ("name", "kind", "system", "user", "second", "classes")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kinds: Any = self.fields["kind"]
        kinds.choices = [(kind, translated(label)) for kind, label in KINDS.items()]

    def clean_name(self) -> str:
        """Refuse names of other templates, and the name that is part of an address."""
        name = str(self.cleaned_data["name"])
        if name == "add" or templates.versions_of(name):
            raise ValidationError(gettext("There is already a template with this name."))
        return name


class TemplateFileForm(forms.Form):
    """A template in a file. After `is_valid`, `given` is what it says."""

    file = forms.FileField(
        label=_("File"),
        help_text=_(
            "JSON with name, kind, user and, where needed, system, second, classes and examples. A "
            "name that exists gets a new version."
        ),
    )

    def clean(self) -> None:
        """Read the file; an error names the file and the field."""
        if file := self.cleaned_data.get("file"):
            try:
                self.given = templates.read(file.name, file.read())
            except MessageError as error:
                self.add_error("file", ValidationError([error.message]))


@researcher_required
@require_GET
def judge_list(request: HttpRequest) -> HttpResponse:
    """List declared endpoints, without their keys, and the newest version of each template."""
    newest = {template.name: template for template in reversed(templates.all_templates().values())}
    context = {
        "section": "server",
        "tab": "judges",
        "endpoints": [
            (each, endpoints.lacking(each.name)) for each in endpoints.declared().values()
        ],
        "templates": [(each, KINDS[each.kind]) for each in reversed(newest.values())],
        "latest": JudgeSpending.objects.select_related("run__test_set").order_by("-pk")[:10],
        "may_configure": is_site_admin(request.user),
        "missing": idle.missing(QUEUE) if endpoints.declared() else [],
    }
    return render(request, "judges/judges.html", context)


@site_admin_required
@require_http_methods(["GET", "HEAD", "POST"])
def judge_template_add(request: HttpRequest) -> HttpResponse:
    """Write a template with a new name, or read a file with a template or a new version."""
    sent = request.POST if request.method == "POST" else None
    is_file = "file" in request.FILES or "from-file" in (sent or {})
    form = NewTemplateForm(None if is_file else sent)
    file = TemplateFileForm(*((sent, request.FILES) if is_file else ()))
    used: forms.Form = file if is_file else form
    given = file.given if is_file and file.is_valid() else used.is_valid() and used.cleaned_data
    if given and _save(request, used, **given):
        return redirect("judge-template", given["name"])
    context = {"section": "server", "form": form, "file": file}
    status = 422 if used.errors else 200
    return render(request, "judges/template_add.html", context, status=status)


@researcher_required
@require_http_methods(["GET", "HEAD", "POST"])
def judge_template(request: HttpRequest, template: str) -> HttpResponse:
    """Show all versions of a template; a site admin can add one."""
    versions = templates.versions_of(template)
    if not versions:
        raise Http404
    newest, may_edit = versions[0], is_site_admin(request.user)
    sent = request.POST if request.method == "POST" and may_edit else None
    texts = {name: getattr(newest, name) for name in ("system", "user", "second")}
    form = VersionForm(sent, initial=texts | {"classes": "\n".join(newest.classes)})
    for name, kind in (("second", ESA), ("classes", CLASSES)):
        if newest.kind != kind:
            del form.fields[name]
    kept = {"name": template, "kind": newest.kind, "examples": newest.examples}
    if form.is_valid() and _save(request, form, **kept, **form.cleaned_data):
        return redirect("judge-template", template)
    context = {
        "section": "server",
        "name": template,
        "kind": KINDS[newest.kind],
        "versions": versions,
        "form": form if may_edit else None,
    }
    status = 403 if request.method == "POST" and not may_edit else 422 if form.errors else 200
    return render(request, "judges/template.html", context, status=status)


def _save(request: HttpRequest, form: forms.Form, **given: Any) -> bool:
    """Store a version; show errors in the form."""
    try:
        template = templates.add(by=request.user, **given)
    except ValidationError as error:
        form.add_error(None, ValidationError(messages_of(error)))
        return False
    saved = gettext("Saved %(template)s. It can be used for new judges now.")
    messages.success(request, saved % {"template": template.key})
    return True


urlpatterns = [
    path("judges/", judge_list, name="judges"),
    path("judges/templates/add/", judge_template_add, name="judge-template-add"),
    path("judges/templates/<slug:template>/", judge_template, name="judge-template"),
]
