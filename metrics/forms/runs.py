"""Which metrics to run over which systems, and which runs to list."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms

from annotation.models import System, TestSet
from metrics import catalogue
from metrics.base import MetricInfo
from metrics.models import MetricRun
from metrics.runs.starting import refusals_for
from metrics.runs.waiting import Hosts, hosts_for


@dataclass(frozen=True)
class Choice:
    """One metric to choose: its description, whether it is ticked, why it cannot be, and where it
    can run."""

    info: MetricInfo
    is_checked: bool
    refusal: str | None
    hosts: Hosts


class StartForm(forms.Form):
    """Metrics and systems of one test set."""

    metrics = forms.MultipleChoiceField(
        error_messages={"required": "Choose at least one metric."},
    )
    systems = forms.ModelMultipleChoiceField(
        System.objects.none(),
        error_messages={"required": "Choose at least one system."},
    )

    def __init__(
        self,
        test_set: TestSet,
        data: Mapping[str, Any] | None = None,
        *,
        ticked: Sequence[str] = (),
    ) -> None:
        super().__init__(data, initial={"metrics": list(ticked)})
        self.refusals = refusals_for(test_set)
        self.target_language = test_set.target_language
        self.infos = list(catalogue.infos().values())
        self.all_systems = list(test_set.systems.all())
        self.fields["metrics"].choices = [  # type: ignore[attr-defined]
            (info.name, info.label) for info in self.infos
        ]
        self.fields["systems"].queryset = test_set.systems.all()  # type: ignore[attr-defined]

    def groups(self) -> dict[str, list[Choice]]:
        """Metrics to choose, by family."""
        ticked = self["metrics"].value() or []
        groups: dict[str, list[Choice]] = {}
        hosts = hosts_for(self.infos, self.target_language)
        for info in self.infos:
            refusal = self.refusals.get(info.name)
            choice = Choice(info, info.name in ticked, refusal, hosts[info.name])
            groups.setdefault(info.family_label, []).append(choice)
        return groups

    def system_choices(self) -> list[tuple[System, bool]]:
        """Systems to choose; all of them are ticked at first."""
        value = self["systems"].value()
        ticked = None if value is None else {str(pk) for pk in value}
        return [(row, ticked is None or str(row.pk) in ticked) for row in self.all_systems]


class FilterForm(forms.Form):
    """Which runs to list."""

    testset = forms.ModelChoiceField(
        TestSet.objects.all(),
        to_field_name="slug",
        required=False,
        label="Test set",
        empty_label="All test sets",
    )
    status = forms.ChoiceField(
        choices=[("", "Any status"), *MetricRun.Status.choices], required=False
    )
