"""What a preference analysis is started with: metrics, conditions and their files."""

from collections.abc import Mapping
from typing import Any

from django import forms

from annotation.models import TestSet
from annotation.web.sentences import said
from metrics import catalogue
from metrics.forms.runs import Choice
from metrics.runs.waiting import hosts_for
from training.models import ParallelCorpus
from training.perturbations.files import GivenFile
from training.preferences import judging
from training.preferences.altering import FROM_FILE, LABELS

EXPLAINED = {
    "reorder": "All words of the reference in a random order.",
    "shuffle": "Half of the words, chosen at random, change places among themselves.",
    "repeat": "Four words in ten, chosen at random, are written twice in place.",
    "clauses": "Clauses in another order; a single one is cut in two.",
    "source-order": "The words of the reference in the order of the source.",
    "word-by-word": "Each source word by its first translation in a dictionary.",
    "texts": "What annotators wrote for each segment, such as translations word by word.",
}
FILE_HELP = {
    "source-order": "Alignments: for each segment a line of source and target places from 0, "
    "such as 0-0 1-2. Without a file the words are aligned here.",
    "word-by-word": "Dictionary: lines of word, tab, translation.",
    "texts": "One line a segment; an empty line leaves its segment out.",
}


class StartForm(forms.Form):
    """Metrics and conditions of one test set. A file that is sent chooses its condition."""

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
        help_text="Of random orders: the same seed gives the same texts.",
    )

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
                label=f"File for “{LABELS[condition]}”",
                help_text=FILE_HELP[condition],
            )

    def given(self) -> dict[str, Any]:
        """What :func:`training.preferences.starting.start` takes."""
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

    def refuse(self, wrong: Mapping[str, Any]) -> None:
        """Show errors of :func:`starting.start` where they belong."""
        for field, errors in wrong.items():
            place = f"file-{field}" if field in FROM_FILE else field
            self.add_error(place if place in self.fields else "conditions", errors)

    def groups(self) -> dict[str, list[Choice]]:
        """Metrics that can be asked, by family; those that need no reference first."""
        ticked = self["metrics"].value() or []
        groups: dict[str, list[Choice]] = {}
        offered = [info for info in self.infos if info.name not in self.refusals]
        hosts = hosts_for(offered, self.target_language)
        for info in sorted(offered, key=lambda info: info.needs_reference):
            choice = Choice(info, info.name in ticked, None, hosts[info.name])
            groups.setdefault(said(info.family_label), []).append(choice)
        return groups

    def condition_choices(self) -> list[dict[str, Any]]:
        """Conditions to choose, each with its words and, where it reads one, its file."""
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
