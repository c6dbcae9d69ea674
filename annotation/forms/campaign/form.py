"""The form of a campaign."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from decimal import Decimal
from string import Formatter
from typing import Any

from django import forms
from django.core.validators import MaxValueValidator
from django.db import transaction
from django.utils.functional import cached_property
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from annotation import protocols
from annotation.access import project_of_new
from annotation.campaigns import possible_traps
from annotation.campaigns.facts import ASSIGNMENT
from annotation.campaigns.sampling import draw, sampled, store_sample
from annotation.controls.traps import too_few_traps
from annotation.forms.campaign.answers import AnswersField, Rows, rows_of
from annotation.forms.campaign.checks import check_design, judging
from annotation.forms.campaign.fields import FIELDS, GROUPS, HELP, LABELS, LIMITS, WIDGETS
from annotation.forms.campaign.instructions import QuestionsField
from annotation.forms.campaign.sample import SampleField, cells_of
from annotation.forms.campaign.summary import summary
from annotation.models import Campaign, System, TestSet
from annotation.presets import (
    Preset,
    fill,
    fitting,
    mark_missing,
    preset_of,
    propose,
    ratio_label,
)
from annotation.projects import hidden_slug
from annotation.protocols import Layout, composed
from annotation.quality.reach import ADVICE, UNSCORED, Reach, reach_of
from annotation.quality.verdict import ITEMS, PAIRS_TO_FAIL, PAIRS_TO_PASS
from core.messages import if_missing, translated
from core.text import whole
from metaeval.messages import Message, message, truncated

UNPAIRED_BRACES = message(
    "campaign-form.braces",
    "The question has a single brace. Write {percent} for the length, and {{ or }} for a brace.",
    percent="{percent}",
)
TRAP_RATIO = message(
    "campaign-form.trap-ratio", "The length of the traps must be between 0.01 and 0.99."
)
# Slugs that are addresses of pages.
RESERVED = frozenset({"new", "import"})
REQUIRED = (
    "name",
    "length_ratio",
    "systems",
    "shown_text",
    "annotators_per_item",
    "traps_per_annotator",
    "trap_ratio",
    "seed",
)


class CampaignForm(forms.ModelForm):  # type: ignore[type-arg]
    """All settings of a campaign over one test set."""

    length_ratio = forms.TypedChoiceField(
        coerce=Decimal,
        label=_("Length ratio"),
        help_text=_("Outputs of the test set with this length ratio are judged."),
    )
    systems = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        label=_("Systems"),
        error_messages=if_missing(
            "campaign-form.choose-system", "Choose at least one system to judge."
        ),
    )
    notify_webhook = forms.URLField(
        label=LABELS["notify_webhook"],
        max_length=200,
        assume_scheme="https",
        help_text=_("An address that is notified once every item has its ratings."),
    )

    class Meta:
        model = Campaign
        fields = tuple(name for name in FIELDS if name != "practice")
        labels = LABELS
        help_texts = HELP
        widgets = WIDGETS

    answers = AnswersField(required=False, label=LABELS["answers"], help_text=HELP["answers"])
    sample = SampleField(required=False, label=LABELS["sample"], help_text=HELP["sample"])
    comprehension = QuestionsField(
        required=False, label=LABELS["comprehension"], help_text=HELP["comprehension"]
    )
    practice = forms.BooleanField(
        required=False,
        label=_("Two practice items first"),
        help_text=_(
            "A reference that deserves a high score, and a reference of another source. Annotators "
            "get feedback after each. Only for protocols with scores, and test sets with "
            "references."
        ),
    )

    def __init__(
        self, *args: Any, test_set: TestSet, preset: Preset | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **{"label_suffix": ""} | kwargs)
        self.test_set = test_set
        self.chosen: list[System] = []
        self.drawn: dict[int, float] | None = None
        rows = list(test_set.systems.values_list("name", "length_ratio"))
        ratios = sorted({ratio for _, ratio in rows})
        names = sorted({name for name, _ in rows})
        self.fields["length_ratio"].choices = [  # type: ignore[attr-defined]
            (str(ratio), translated(ratio_label(ratio))) for ratio in ratios
        ]
        self.fields["systems"].choices = [(name, name) for name in names]  # type: ignore[attr-defined]
        self.fields["assignment_mode"].choices = [  # type: ignore[attr-defined]
            (mode, translated(label)) for mode, label in ASSIGNMENT.items()
        ]
        for name in self._with_default():
            self.fields[name].required = False
        for name, limit in LIMITS.items():
            self.fields[name].validators.append(MaxValueValidator(limit))
            self.fields[name].widget.attrs["max"] = limit
        self.too_small: Message | None = None
        if not self.is_bound:
            values, self.too_small = propose(preset or fitting(test_set), test_set)
            hidden = bool(test_set.project_id)
            self.initial = {**self.initial, "is_private": hidden, **values, "practice": True}

    def _with_default(self) -> Iterator[str]:
        """Yield fields that can be left blank, because the campaign has a default."""
        return (name for name in FIELDS if name not in (*REQUIRED, "practice"))

    def groups(self) -> Iterator[dict[str, Any]]:
        """Yield every group with a summary, its fields, its folds, and whether it is unfolded."""
        for group in GROUPS:
            folds = [self._fold(title, names) for title, names in group.folds]
            yield self._fold(group.title, group.names) | {
                "name": group.name,
                "summary": self.summaries[group.name],
                "folds": folds,
                "is_open": any(self[name].errors for name in group.all_names),
            }

    def _fold(self, title: Any, names: Iterable[str]) -> dict[str, Any]:
        fields = [self[name] for name in names]
        is_open = any(field.errors for field in fields)
        return {"title": title, "fields": fields, "is_open": is_open}

    @cached_property
    def summaries(self) -> dict[str, str]:
        """How the fields of each group are set."""
        return {group.name: " · ".join(map(str, summary(self, group.name))) for group in GROUPS}

    @property
    def preset(self) -> Preset | None:
        """The preset whose protocol is chosen; None for custom answers."""
        name, ratio = self["protocol"].value(), str(self["length_ratio"].value())
        if name not in protocols.PROTOCOLS or self.composed != Rows():
            return None
        return preset_of(name, is_short=ratio not in ("1", "1.00"))

    @property
    def carried(self) -> list[Any]:
        """The fields that the page of custom answers does not show."""
        return [self[name] for name in FIELDS if name != "answers"]

    @property
    def answers_text(self) -> str:
        """Custom answers as the hidden field of the task page sends them."""
        value = self.cleaned_data.get("answers") if self.is_bound else self["answers"].value()
        return json.dumps(value) if value else ""

    @property
    def questions(self) -> dict[str, dict[str, object]]:
        """What the page's script needs for each protocol, by the systems on its screen."""
        return {
            name: {
                systems: [own.question, own.length_question]
                for systems in composed.GRID["systems"]
                for own in [composed.compose(protocol, {"systems": systems})]
            }
            | {
                "together": protocol.layout.has_systems,
                "scored": protocol.has_score,
                "about": str(protocol.description),
            }
            for name, protocol in protocols.PROTOCOLS.items()
        }

    @property
    def control_warnings(self) -> dict[str, Any]:
        """Whether the numbers of control items suffice, for the page and its script."""
        found, has_score = self.reach()
        return {
            "messages": [(state.value, ADVICE[state], state == found) for state in ADVICE],
            "unscored": UNSCORED,
            "is_unscored": not has_score,
            "is_none": found == Reach.ENOUGH and has_score and not self.too_small,
            "rule": {"items": ITEMS, "fail": PAIRS_TO_FAIL, "pass": PAIRS_TO_PASS},
        }

    def reach(self) -> tuple[Reach, bool]:
        """Return what the control items can find out, and whether the protocol has a score."""
        protocol = judging({"protocol": self["protocol"].value()})
        has_score = protocol is None or protocol.has_score
        traps, bad_references = (
            whole(str(self[field].value())) or 0
            for field in ("traps_per_annotator", "bad_references_per_annotator")
        )
        return reach_of(traps=traps, bad_references=bad_references, has_score=has_score), has_score

    def clean_question(self) -> str:
        """Refuse placeholders other than {percent}."""
        question: str = self.cleaned_data["question"]
        try:
            names = {
                name for _text, name, *_rest in Formatter().parse(question) if name is not None
            }
        except ValueError as error:
            raise forms.ValidationError([UNPAIRED_BRACES]) from error
        if unknown := names - {"percent"}:
            raise forms.ValidationError(
                [
                    message(
                        "campaign-form.placeholder",
                        "The question has unknown placeholders: {names}. Only {known} is replaced.",
                        names=[f"{{{name}}}" for name in sorted(unknown)],
                        known="{percent}",
                    )
                ]
            )
        return question

    def clean_trap_ratio(self) -> Decimal:
        """Refuse traps that keep nothing or lose nothing."""
        ratio: Decimal = self.cleaned_data["trap_ratio"]
        if not 0 < ratio < 1:
            raise forms.ValidationError([TRAP_RATIO])
        return ratio

    def clean(self) -> dict[str, Any]:
        """Fill in defaults, find the chosen systems, and check fields that depend on each other."""
        data = super().clean() or self.cleaned_data
        fresh = Campaign()
        for name in self._with_default():
            if data.get(name) in (None, "") and name not in self.errors:
                data[name] = getattr(fresh, name)
        if not self.cleaned_data.get("question") or not self.data.get("question", "").strip():
            protocol = judging(data) or protocols.get(protocols.DEFAULT)
            data["question"] = protocol.ask(data.get("length_ratio") or Decimal(1))
        self._check_answers(data)
        self._choose_systems(data)
        self._draw(data)
        for name, fault in check_design(self.test_set, data, self.drawn):
            self.add_error(name, forms.ValidationError([fault]))
        return data

    def _draw(self, data: dict[str, Any]) -> None:
        rule, seed = data.get("sample"), data.get("seed")
        if rule is None or seed is None or not self.chosen:
            return
        try:
            self.drawn = draw(self.test_set, self.chosen, rule, seed)
        except forms.ValidationError as error:
            self.add_error("sample", error)

    @property
    def n_drawn(self) -> int | None:
        """The number of drawn segments; None where the whole test set is judged."""
        if self.is_bound or self.instance.sample is None:
            return None if self.drawn is None else len(self.drawn)
        return int(self.instance.sampled_segments.count())

    @property
    def covered(self) -> str:
        """How many of the test set's segments are judged, in words."""
        total, n_drawn = self.test_set.segments.count(), self.n_drawn
        if n_drawn is not None:
            return translated(sampled(n_drawn, total))
        return ngettext("%(n)s segment", "%(n)s segments", total) % {"n": f"{total:,}"}

    @property
    def sample_cells(self) -> dict[str, str]:
        """What the cells of the sample show."""
        return cells_of(self["sample"].value())

    @property
    def composed(self) -> Rows:
        """What the cells of custom answers show."""
        return rows_of(self["answers"].value())

    def _check_answers(self, data: dict[str, Any]) -> None:
        """Report errors in custom answers, with row and field."""
        if not data.get("answers") or "answers" in self.errors:
            return
        protocol = protocols.get(data.get("protocol") or protocols.DEFAULT)
        for path, fault in composed.check(protocol, data["answers"]):
            error = (
                message("campaign-form.answers", "{path}: {fault}", path=path, fault=fault)
                if path
                else fault
            )
            self.add_error("answers", forms.ValidationError([error]))

    def _choose_systems(self, data: dict[str, Any]) -> None:
        ratio, names = data.get("length_ratio"), data.get("systems") or []
        if ratio is None or not names:
            return
        self.chosen = list(self.test_set.systems.filter(name__in=names, length_ratio=ratio))
        missing = sorted(set(names) - {system.name for system in self.chosen})
        if missing:
            error = message(
                "campaign-form.no-outputs",
                "These systems have no outputs at {length}: {names}.",
                length=ratio_label(ratio),
                names=truncated(missing),
            )
            self.add_error("systems", forms.ValidationError([error]))

    @transaction.atomic
    def create(self, user: Any, *, slug: str = "") -> Campaign:
        """Store the draft. Raises ValidationError if the test set has too few possible traps."""
        campaign: Campaign = super().save(commit=False)
        campaign.test_set, campaign.created_by = self.test_set, user
        campaign.project = project_of_new(self.test_set, user)
        campaign.slug, campaign.slug_follows = slug or free_slug(campaign), not slug
        mark_missing(campaign)
        campaign.save()
        campaign.systems.set(self.chosen)
        store_sample(campaign)
        check_traps(campaign)
        fill(campaign, with_practice=self.cleaned_data["practice"])
        return campaign


def check_traps(campaign: Campaign) -> None:
    """Raise ValidationError if fewer segments can be cut than traps are wanted."""
    possible = len(possible_traps(campaign)) if campaign.traps_per_annotator else 0
    if possible < campaign.traps_per_annotator and campaign.judging.layout == Layout.SINGLE:
        raise forms.ValidationError({"traps_per_annotator": [too_few_traps(possible)]})


def slug_stem(campaign: Campaign) -> str:
    """Return the slug that a campaign would get if no other campaign had it."""
    stem = slugify(campaign.title.replace("%", " percent"))[:70] or "campaign"
    is_hidden = campaign.is_private or campaign.project is not None
    return hidden_slug(stem, campaign.project or campaign.created_by) if is_hidden else stem


def free_slug(campaign: Campaign) -> str:
    """Return an unused slug made from what annotators read: they see it in addresses, too."""
    stem = slug_stem(campaign)
    taken = set(Campaign.objects.filter(slug__startswith=stem).values_list("slug", flat=True))
    taken |= RESERVED
    candidates: Iterable[str] = (stem, *(f"{stem}-{number}" for number in range(2, 10_000)))
    return next(slug for slug in candidates if slug not in taken)
