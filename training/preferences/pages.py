"""Pages of preference analyses and the form that starts them: metrics, conditions, their files."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_safe
from django.views.decorators.vary import vary_on_headers

from annotation.access import researcher_required, signed_in, test_set_for_reader
from annotation.filters import FilterError
from annotation.filters.choice import quoted
from annotation.models import TestSet
from annotation.views.uploads import is_too_large, too_large_sentence
from annotation.web.errors import refuse
from annotation.web.parameters import Parameters, takes
from core.messages import translated
from dashboards.charts import files as figures
from dashboards.pages.answers import data_response
from dashboards.papers import latex
from metaeval.messages import Message, message
from metrics import catalogue
from metrics.forms.runs import Choice
from metrics.runs.waiting import hosts_for
from metrics.stock.inventory import checkpoints_of
from metrics.workers import idle
from training.forms import ANYWAY
from training.jobs import presenting
from training.models import ParallelCorpus, PreferenceResult, TrainingJob
from training.perturbations.files import GivenFile
from training.preferences import documents, judging, starting, tables
from training.preferences.altering import CONDITIONS, FROM_FILE, LABELS
from training.preferences.tables import FIGURES

EXPLAINED = {
    "reorder": _("The words of the reference in random order."),
    "shuffle": _("A random half of the words of the reference, exchanged with each other."),
    "repeat": _("A random four in ten words of the reference, repeated in place."),
    "clauses": _("The clauses of the reference in another order. A single clause is split in two."),
    "source-order": _("The words of the reference in the order of the source."),
    "word-by-word": _("Each word of the source, translated with a dictionary."),
    "texts": _("Texts that annotators wrote for each segment, such as word-by-word translations."),
}
FILE_HELP = {
    "source-order": _(
        "Alignments: one line per segment with pairs of source and target positions from 0, such "
        "as 0-0 1-2. Without a file, words are aligned automatically."
    ),
    "word-by-word": _("A dictionary: lines of word, tab, translation."),
    "texts": _("One line per segment. A segment with an empty line is excluded."),
}


class StartForm(forms.Form):
    """Metrics and conditions of one test set. An uploaded file chooses its condition."""

    metrics = forms.MultipleChoiceField(required=False)
    conditions = forms.MultipleChoiceField(required=False, choices=list(LABELS.items()))
    corpora = forms.ModelMultipleChoiceField(
        ParallelCorpus.objects.none(), to_field_name="name", required=False
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=2**31 - 1,
        initial=0,
        required=False,
        label=_("Seed"),
        help_text=_("The same seed gives the same random texts."),
    )

    anyway = forms.BooleanField(required=False, label=ANYWAY)

    def __init__(self, test_set: TestSet, data: Any = None, files: Any = None) -> None:
        super().__init__(data, files)
        self.infos = list(catalogue.infos().values())
        self.refusals = judging.refusals(test_set)
        self.target_language = test_set.target_language
        self.fields["metrics"].choices = [  # type: ignore[attr-defined]
            (info.name, info.label) for info in self.infos
        ]
        rows = ParallelCorpus.objects.filter(
            source_language=test_set.source_language, target_language=test_set.target_language
        )
        self.fields["corpora"].queryset = rows  # type: ignore[attr-defined]
        self.all_corpora = list(rows)
        for condition in FROM_FILE:
            self.fields[f"file-{condition}"] = forms.FileField(
                required=False,
                allow_empty_file=True,
                label=_now("File for “%(condition)s”")
                % {"condition": translated(LABELS[condition])},
                help_text=FILE_HELP[condition],
            )

    def clean(self) -> dict[str, Any]:
        """Refuse what no worker can do, unless it may wait."""
        data = super().clean() or self.cleaned_data
        if not self.errors and data.get("metrics") and self.missing and not data.get("anyway"):
            self.add_error("anyway", ValidationError(list(self.missing)))
        return data

    @cached_property
    def missing(self) -> list[Message]:
        """Return what no worker has for the chosen metrics."""
        ticked = set(self["metrics"].value() or ())
        chosen = [info for info in self.infos if info.name in ticked]
        queue = "gpu" if any(info.queue != "cpu" for info in chosen) else "cpu"
        return idle.missing(queue, [name for info in chosen for name in checkpoints_of(info)])

    def corpus_choices(self) -> list[tuple[ParallelCorpus, bool]]:
        """Return parallel text to choose, with what is ticked."""
        ticked = self["corpora"].value() or ()
        return [(corpus, corpus.name in ticked) for corpus in self.all_corpora]

    def given(self) -> dict[str, Any]:
        """Return the arguments of :func:`training.preferences.starting.start`."""
        data = self.cleaned_data
        sent = {name: data[f"file-{name}"] for name in FROM_FILE if data.get(f"file-{name}")}
        files = {name: GivenFile(file.name, file.read()) for name, file in sent.items()}
        return {
            "metrics": data["metrics"],
            "conditions": [*data["conditions"], *files],
            "files": files,
            "seed": data["seed"] or 0,
            "corpora": list(data["corpora"]),
        }

    def refuse(self, refusals: Mapping[str, Any]) -> None:
        """Show errors of :func:`starting.start` at their fields."""
        for field, errors in refusals.items():
            place = f"file-{field}" if field in FROM_FILE else field
            position = place if place in self.fields else "conditions"
            self.add_error(position, ValidationError(errors))

    def groups(self) -> dict[Message | str, list[Choice]]:
        """Return metrics that can be used, by family; those without references first."""
        ticked = self["metrics"].value() or []
        groups: dict[Message | str, list[Choice]] = {}
        offered = [info for info in self.infos if info.name not in self.refusals]
        hosts = hosts_for(offered, self.target_language)
        for info in sorted(offered, key=lambda info: info.needs_reference):
            choice = Choice(info, info.name in ticked, None, hosts[info.name])
            groups.setdefault(info.family_label, []).append(choice)
        return groups

    def condition_choices(self) -> list[dict[str, Any]]:
        """Return the conditions to choose from, with their description and file field."""
        ticked = self["conditions"].value() or []
        return [
            {
                "key": name,
                "label": label,
                "about": EXPLAINED[name],
                "is_checked": name in ticked,
                "file": self[f"file-{name}"] if name in FROM_FILE else None,
            }
            for name, label in LABELS.items()
        ]


MAIN = "word-by-word"


@researcher_required
@require_safe
@takes(lambda figure="", **at: Parameters(frozenset(figures.MARKS if figure else ())))
@vary_on_headers("HX-Request")
def preferences(
    request: HttpRequest, slug: str, fmt: str = "", figure: str = ""
) -> HttpResponseBase:
    """Show preferences on a test set; with `fmt` as json, csv or tex."""
    test_set = test_set_for_reader(request, slug)
    if request.headers.get("HX-Request"):
        return _running(request, test_set)
    document = documents.of_test_set(test_set)
    files = reverse("preferences", args=[slug]).removesuffix("/")
    drawn = figures.figures(FIGURES, document, f"{files}/", "")
    if figure:
        if figure not in drawn:
            raise Http404
        return figures.response(request, drawn[figure], fmt, f"{slug}-preferences")
    if fmt:
        return _file(fmt, test_set, document)
    context = {
        "section": "testsets",
        "test_set": test_set,
        "document": document,
        "files": files,
        "summary": tables.summary(document),
        "parts": tables.parts(document, drawn),
        **_jobs(test_set),
    }
    return render(request, "training/preferences.html", context)


def _jobs(test_set: TestSet) -> dict[str, Any]:
    jobs = starting.under_way(test_set)
    last = starting.ended(test_set)
    warnings = last.warnings if last else []
    idle = presenting.idle(jobs)
    return {"jobs": jobs, "idle": idle, "last": last, "last_warnings": warnings}


def _running(request: HttpRequest, test_set: TestSet) -> HttpResponse:
    """Return the part that changes while workers run; reload the page once they are done."""
    context = {"test_set": test_set, **_jobs(test_set)}
    response = render(request, "training/_preference_jobs.html", context)
    if not context["jobs"]:
        response["HX-Refresh"] = "true"
    return response


def _file(fmt: str, test_set: TestSet, document: documents.OfTestSet) -> HttpResponseBase:
    name = f"{test_set.slug}-preferences"
    if fmt == "tex":
        return latex.response(tables.as_latex(document), name)
    if fmt == "json":
        document = documents.in_full(test_set, document)
    return data_response(fmt, name, documents.COLUMNS, document.rows, document)


@researcher_required
@require_http_methods(["GET", "HEAD", "POST"])
def preferences_start(request: HttpRequest, slug: str) -> HttpResponse:
    """Choose metrics and conditions, upload files, and start."""
    if is_too_large(request):
        return refuse(request, 413, str(_("This upload is too large")), too_large_sentence())
    test_set = test_set_for_reader(request, slug)
    form = StartForm(test_set, request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        try:
            started = starting.start(test_set=test_set, user=signed_in(request), **form.given())
        except ValidationError as error:
            form.refuse(error.error_dict)
        else:
            _notify(request, *started)
            return redirect("preferences", slug)
    context = {"section": "testsets", "form": form, "test_set": test_set}
    status = 422 if form.errors else 200
    return render(request, "training/preferences_start.html", context, status=status)


def _notify(request: HttpRequest, job: TrainingJob, is_new: bool) -> None:
    n = len(starting.metrics_of(job))
    if is_new:
        notice = ngettext(
            "Started an analysis of %(n)s metric.", "Started an analysis of %(n)s metrics.", n
        )
        messages.success(request, notice % {"n": n})
    else:
        messages.info(request, _("The same analysis is already running."))


@researcher_required
@require_safe
@takes(Parameters(frozenset({"condition"})))
def preference_table(request: HttpRequest, fmt: str = "") -> HttpResponseBase:
    """Show every metric by language pair, over all test sets; with `fmt` as json, csv or tex."""
    known = set(PreferenceResult.objects.values_list("condition", flat=True).distinct())
    offered = [name for name in CONDITIONS if name in known]
    first = MAIN if MAIN in offered or not offered else offered[0]
    condition = request.GET.get("condition", first)
    if condition not in CONDITIONS:
        raise FilterError(
            message(
                "preferences.no-condition",
                "Unknown condition: {condition}. Expected one of: {known}.",
                condition=quoted(condition),
                known=list(CONDITIONS),
            )
        )
    document = documents.across(condition, request.user)
    if fmt == "tex":
        return latex.response([tables.across_as_latex(document)], "preferences")
    if fmt:
        columns = documents.ACROSS_COLUMNS
        return data_response(fmt, "preferences", columns, document.rows, document)
    context = {
        "section": "testsets",
        "document": document,
        "lines": tables.by_direction(document),
        "offered": [(name, LABELS[name]) for name in offered],
        "query": f"?condition={condition}",
    }
    return render(request, "training/preference_table.html", context)
