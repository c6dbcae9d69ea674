"""Forms to choose metrics and systems for runs, and to filter runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from annotation.models import Output, System, TestSet
from core.messages import if_missing, translated
from metaeval.messages import Message, message, truncated
from metrics import catalogue
from metrics.base import MetricInfo, ScoreWarning
from metrics.contents import warn_of_blanks
from metrics.families.floor import KEY as FLOOR
from metrics.models import MetricRun
from metrics.models.fleet import purpose_of
from metrics.runs.starting import refusals_for
from metrics.runs.waiting import Hosts, hosts_for
from metrics.support import Budget, support_of


@dataclass(frozen=True)
class Choice:
    """One metric to choose: its description, whether it is selected, why it cannot be, and where it
    can run.

    `seconds` is the time for all texts of the test set there, None where it has not run yet.
    """

    info: MetricInfo
    is_checked: bool
    refusal: Message | None
    hosts: Hosts
    estimate: Any = None
    warnings: Sequence[ScoreWarning] = ()
    seconds: float | None = None

    @property
    def is_here(self) -> bool:
        """Return True if it can run now; also for a lexical one whose worker is not started yet."""
        can = bool(self.hosts.able) or self.info.queue == "cpu"
        return not self.refusal and not self.hosts.is_stuck and can

    def fits(self, query: str) -> bool:
        """Return True if each word of a search is in its name, family, description or checkpoint.

        English texts match in every language of the page.
        """
        info = self.info
        texts: list[str] = [info.name, info.label, info.checkpoint]
        for each in (info.family_label, info.description):
            texts += [str(each), translated(each) if isinstance(each, Message) else each]
        text = " ".join(texts).casefold()
        return all(word in text for word in query.casefold().split())


@dataclass(frozen=True)
class Family:
    """Metrics of one family on the form; `is_open` if they are unfolded at first."""

    label: Message | str
    choices: Sequence[Choice]
    is_open: bool

    @property
    def n_checked(self) -> int:
        """The number of selected metrics."""
        return sum(choice.is_checked for choice in self.choices)

    @property
    def names(self) -> Message:
        """Their labels, truncated."""
        labels = truncated([choice.info.label for choice in self.choices])
        return message("list.names", "{names}", names=labels)


# The metrics behind the 18 measures of Cheng et al. 2023.
STUDY = frozenset(
    {"bleu-star", "rouge", "wmt20-comet-da", "wmt21-comet-mqm", "wmt21-comet-qe-da", "bleurt-20"}
    | {f"bertscore-{name}" for name in ("mbert", "bart", "roberta", "deberta")}
)


# Metrics that belong to no set: they cost money, or are baselines.
def _is_aside(info: MetricInfo) -> bool:
    return info.family == FLOOR or support_of(info).has_budget


# With a budget, only what cannot be started at all is refused.
ANY_BUDGET = Budget(tokens=1)
# Number of metrics that fit a page with all families open.
FEW = 40
LEXICAL = frozenset({"bleu", "sentbleu", "chrf", "chrf++", "ter", "rouge"})


@dataclass(frozen=True)
class Recommended:
    """Metrics that are chosen in one click."""

    label: Message
    holds: Callable[[Choice], bool]


SETS = {
    "lexical": Recommended(
        message("metric-set.lexical", "Lexical"), lambda one: one.info.name in LEXICAL
    ),
    "here": Recommended(
        message("metric-set.here", "All that can run now"),
        lambda one: one.is_here and not _is_aside(one.info),
    ),
    "no-reference": Recommended(
        message("metric-set.no-reference", "Without a reference"),
        lambda one: one.is_here and not one.info.needs_reference and not _is_aside(one.info),
    ),
    "study": Recommended(
        message("metric-set.study", "Those of Cheng et al. (2023)"),
        lambda one: one.info.name in STUDY,
    ),
}


def _by_family(choices: Sequence[Choice], query: str) -> list[Family]:
    """Group the choices that match a search; fold large lists of which none is selected."""
    groups: dict[Message | str, list[Choice]] = {}
    for choice in choices:
        if choice.fits(query):
            groups.setdefault(choice.info.family_label, []).append(choice)
    is_open = bool(query) or len(choices) <= FEW
    return [
        Family(label, own, is_open or any(one.is_checked for one in own))
        for label, own in groups.items()
    ]


class StartForm(forms.Form):
    """Metrics and systems of one test set, and the budget of each paid metric."""

    metrics = forms.MultipleChoiceField(
        error_messages=if_missing("run.choose-metric", "Choose at least one metric."),
    )
    systems = forms.ModelMultipleChoiceField(
        System.objects.none(),
        error_messages=if_missing("run.choose-system", "Choose at least one system."),
    )

    money = forms.FloatField(
        required=False, min_value=0, label=_("Money, in the endpoint's currency")
    )
    tokens = forms.IntegerField(required=False, min_value=1, label=_("Tokens"))

    def __init__(
        self,
        test_set: TestSet,
        data: Mapping[str, Any] | None = None,
        *,
        ticked: Sequence[str] = (),
        asked_set: str = "",
        query: str = "",
    ) -> None:
        super().__init__(data, initial={"metrics": list(ticked)})
        self.asked_set = asked_set if data is None else ""
        self.query = query.strip()
        self.test_set, self.refusals = test_set, refusals_for(test_set)
        self.target_language = test_set.target_language
        self.infos = list(catalogue.infos().values())
        self.all_systems = list(test_set.systems.all())
        self.fields["metrics"].choices = [  # type: ignore[attr-defined]
            (info.name, info.label) for info in self.infos
        ]
        self.fields["systems"].queryset = test_set.systems.all()  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Refuse a metric that costs something without a budget; all that was chosen stays."""
        data = super().clean() or self.cleaned_data
        if not self.errors:
            budget = Budget(money=data["money"], tokens=data["tokens"])
            chosen = [info for info in self.infos if info.name in data["metrics"]]
            refused = [support_of(info).refusal(info, budget) for info in chosen]
            if found := [each for each in refused if each]:
                self.add_error("money", ValidationError(found))
        return data

    @property
    def without_worker(self) -> list[Message]:
        """Return the kinds of jobs that metrics of this form need and no worker takes."""
        served = {one.info.queue for one in self.choices if one.hosts.able or one.hosts.lacking}
        return [purpose_of(q) for q in sorted({one.info.queue for one in self.choices} - served)]

    @cached_property
    def choices(self) -> list[Choice]:
        """All metrics, ticked if they were asked for or belong to the set that was."""
        hosts = hosts_for(self.infos, self.target_language)
        n = self.n_texts
        ticked = self["metrics"].value() or []
        found = [
            Choice(
                info,
                info.name in ticked,
                self.refusals.get(info.name) or support_of(info).refusal(info, ANY_BUDGET),
                hosts[info.name],
                support_of(info).estimate(info, self.test_set),
                warn_of_blanks(info, self.target_language),
                hosts[info.name].seconds(n),
            )
            for info in self.infos
        ]
        belongs = SETS[self.asked_set].holds if self.asked_set in SETS else None
        if belongs is None:
            return found
        return [replace(one, is_checked=belongs(one) and not one.refusal) for one in found]

    @cached_property
    def n_texts(self) -> int:
        """The number of distinct texts of the test set, which a new metric has to score."""
        outputs = Output.objects.filter(system__in=self.all_systems).order_by()
        return outputs.values("content_key").distinct().count()

    @property
    def has_budgets(self) -> bool:
        """Return True if one of the metrics may cost money, so that a budget is needed."""
        return any(support_of(info).has_budget for info in self.infos)

    @property
    def chosen(self) -> dict[str, Any]:
        """The arguments of :func:`metrics.runs.starting.start`, once the form is valid."""
        given = self.cleaned_data
        return {
            "metrics": given["metrics"],
            "systems": given["systems"],
            "budget": Budget(money=given["money"], tokens=given["tokens"]),
        }

    @property
    def here(self) -> list[Family]:
        """Metrics that can run now, by family."""
        return _by_family([choice for choice in self.choices if choice.is_here], self.query)

    @property
    def elsewhere(self) -> list[Family]:
        """The others, by family."""
        return _by_family([choice for choice in self.choices if not choice.is_here], self.query)

    @property
    def is_elsewhere_ticked(self) -> bool:
        """Whether one that cannot run now is chosen."""
        return any(family.n_checked for family in self.elsewhere)

    def sets(self) -> list[tuple[str, Message, int, int]]:
        """Return sets to choose in one click: name, label, metrics, metrics able to run."""
        return [
            (name, each.label, len(of), sum(one.is_here for one in of))
            for name, each in SETS.items()
            for of in [[one for one in self.choices if each.holds(one)]]
        ]

    def system_choices(self) -> list[tuple[System, bool]]:
        """Return systems to choose; all of them are selected at first."""
        value = self["systems"].value()
        ticked = None if value is None else {str(pk) for pk in value}
        return [(row, ticked is None or str(row.pk) in ticked) for row in self.all_systems]


class FilterForm(forms.Form):
    """Which runs to list."""

    testset = forms.ModelChoiceField(
        TestSet.objects.all(),
        to_field_name="slug",
        required=False,
        label=_("Test set"),
        empty_label=_("All test sets"),
    )
    status = forms.ChoiceField(
        choices=[("", _("Any status")), *MetricRun.Status.choices],
        required=False,
        label=_("Status"),
    )
