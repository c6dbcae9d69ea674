"""The form that starts preference analyses: metrics, conditions and their files."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from annotation.models import TestSet
from core.messages import translated
from metaeval.messages import Message
from metrics import catalogue
from metrics.forms.runs import Choice
from metrics.runs.waiting import hosts_for
from metrics.stock.inventory import checkpoints_of
from metrics.workers import idle
from training.forms import ANYWAY
from training.models import ParallelCorpus
from training.perturbations.files import GivenFile
from training.preferences import judging
from training.preferences.altering import FROM_FILE, LABELS

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
