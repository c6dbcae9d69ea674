"""Show shorter forms over the campaigns of a study that share a test set."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import permutations
from typing import Any

import numpy as np
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_safe

from annotation.access import researcher_required
from annotation.filters import RAW, FilterError, Filters
from annotation.filters.chosen import fitted, read_judgments
from annotation.filters.form import filter_choices
from annotation.models import Annotator, Campaign
from annotation.web.parameters import OF_METRICS, takes
from dashboards.documents import results
from dashboards.documents.head import (
    OfCampaign,
    StudyDocument,
    WithUnits,
    about,
    units_among,
    units_of,
)
from dashboards.documents.reasons import StudyTrust, Verdict
from dashboards.pages.answers import (
    cells,
    data_response,
    is_unfinished,
    no_document,
    parameters,
    public,
)
from dashboards.pages.page import study_campaigns, view, with_units
from dashboards.panel.choice import Choice, general
from dashboards.panel.human import ALL
from dashboards.panel.panel import Panel, read_panel
from dashboards.papers import latex
from dashboards.trust.shown import comments, judged, worst_of
from extensions.shortness.page import N_RESAMPLES, SHORTNESS, Forms, Side, loss_rows, side_of
from metaeval.messages import Message, message, plural

# Compare the same systems at two length ratios that were judged in different campaigns.

VERSION = 4
OTHER_QUESTIONS = message(
    "forms.other-questions",
    "The two campaigns ask different questions, so the humans’ losses compare judgments of "
    "different questions.",
)
UNKNOWN_ANNOTATORS = message(
    "forms.unknown-annotators",
    "It is not known which annotators judged in both campaigns, so severity may differ between "
    "them. The intervals are over segments and do not cover this.",
)


@dataclass(frozen=True)
class AcrossChoice(Choice):
    """`shorter` is the campaign of the shorter forms, by its slug."""

    shorter: str = ""


FILTERS = AcrossChoice


@dataclass(frozen=True, kw_only=True)
class AcrossForms(WithUnits, OfCampaign):
    """Longer forms of one campaign and shorter forms of another, over the same test set.

    `n_annotators` judged in at least one of them, and `n_both` (identified by accounts) in both.
    """

    shorter: str
    shorter_name: str
    systems: Sequence[str]
    n_annotators: int
    n_both: int
    n_resamples: int = N_RESAMPLES
    seed: int
    rows: Sequence[Forms]


DOCUMENT = AcrossForms


def others(campaign: Campaign, filters: Filters) -> list[Campaign]:
    """Return the other campaign, whose judgments are also used. Raises FilterError."""
    if not isinstance(filters, AcrossChoice):
        return []
    rows = Campaign.objects.filter(test_set=campaign.test_set).exclude(pk=campaign.pk)
    if not (found := rows.filter(slug=filters.shorter).first()):
        raise FilterError(
            message(
                "forms.no-campaign",
                "shorter: this test set has no other campaign “{campaign}”.",
                campaign=filters.shorter,
            )
        )
    return [found]


def compute(campaign: Campaign, filters: Filters) -> AcrossForms:
    """Return the losses from raw scores, because z-scores of each campaign have a mean of 0."""
    (shorter,) = others(campaign, filters)
    raw = replace(general(filters), scores=RAW)
    pair = (campaign, shorter)
    long, short = (read_panel(each, fitted(each, pair, raw)) for each in pair)
    names = _names(long, short)
    rows, notes = (
        loss_rows(_only(long, names), _only(short, names), campaign.seed) if names else ([], [])
    )
    n_annotators, n_both = _people(pair)
    warnings = [*long.human.warnings, *short.human.warnings, *_cautions(pair, n_annotators, n_both)]
    return AcrossForms(
        **about(campaign),
        **units_of(long.human.clusters),
        shorter=shorter.slug,
        shorter_name=shorter.name,
        systems=names,
        n_annotators=n_annotators,
        n_both=n_both,
        seed=campaign.seed,
        rows=rows,
        warnings=list(dict.fromkeys([*warnings, *notes])),
    )


def _names(long: Panel, short: Panel) -> list[str]:
    """Return the systems of both campaigns that have a smaller length ratio in the second."""
    shorter = {each.name: each.length_ratio for each in short.human.systems}
    systems = long.human.systems
    return [s.name for s in systems if shorter.get(s.name, s.length_ratio) < s.length_ratio]


def _only(panel: Panel, names: Sequence[str]) -> Side:
    place = {each.name: n for n, each in enumerate(panel.human.systems)}
    return side_of(panel, [place[name] for name in names])


def _people(pair: Sequence[Campaign]) -> tuple[int, int]:
    """Return how many annotators judged in either campaign, and in both.

    Annotators without an account count once per campaign.
    """
    judged = [key for each in pair for key in np.unique(read_judgments(each, ALL)[0].annotator)]
    rows = Annotator.objects.filter(pk__in=map(int, judged)).values_list("user", "pk")
    people = Counter(("user", user) if user else ("only", pk) for user, pk in rows)
    return len(people), sum(n > 1 for n in people.values())


def _cautions(pair: Sequence[Campaign], n_annotators: int, n_both: int) -> list[Message]:
    found = [OTHER_QUESTIONS] if pair[0].question_text != pair[1].question_text else []
    if not n_annotators:
        return [*found, UNKNOWN_ANNOTATORS]
    if n_both < n_annotators:
        found.append(
            message(
                "forms.other-annotators",
                "Only {both} of {annotators} annotators are known to have judged in both "
                "campaigns. If one group is more severe than the other, the humans’ losses "
                "change, and the intervals, which are over segments, do not account for this. "
                "Losses of measures are not affected.",
                both=n_both,
                annotators=n_annotators,
            )
        )
    return found


TITLE = message("forms.title", "Outputs and their shorter forms")
DISTRUSTED = message("forms.distrusted", "These judgments cannot show which metric is good.")
UNSCORED = message("forms.unscored", "No metric has scored both forms of judged outputs.")
COLUMNS = (
    "longer", "shorter", "key", "label", "long", "short", "excess", "low", "high", "metric_loss",
    "human_loss", "metric_prefers_longer", "human_prefers_longer", "n",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Line(Forms):
    """A measure's losses between two campaigns, named by their slugs."""

    longer: str
    shorter: str


@dataclass(frozen=True, kw_only=True)
class StudyForms(StudyDocument):
    """The pairs of campaigns with systems at two lengths; `missing` are still being computed."""

    pairs: Sequence[AcrossForms]
    missing: Sequence[str]

    @property
    def rows(self) -> list[Line]:
        """The rows of all pairs."""
        return [
            Line(**{f.name: getattr(row, f.name) for f in fields(Forms)},
                 longer=pair.campaign, shorter=pair.shorter)
            for pair in self.pairs for row in pair.rows
        ]  # fmt: skip


def summary(pair: AcrossForms, trust: StudyTrust | None = None) -> Message:
    """Return the result of a pair, where the judgments support one."""
    if trust is not None and trust.verdict == Verdict.DO_NOT_USE:
        return DISTRUSTED
    known = [row for row in pair.rows if row.low is not None and row.high is not None]
    if not pair.rows:
        return UNSCORED
    if not known:
        return plural(
            "forms.no-interval",
            "There is no interval, because only {n} output has scores of both forms.",
            "There is no interval, because only {n} outputs have scores of both forms.",
            n=max(row.n for row in pair.rows),
        )
    more = sum(row.low > 0 for row in known if row.low is not None)
    less = sum(row.high < 0 for row in known if row.high is not None)
    if not more + less:
        return plural(
            "forms.none-differs",
            "The loss of {n} metric cannot be distinguished from the humans’ loss.",
            "The losses of all {n} metrics cannot be distinguished from the humans’ loss.",
            n=len(known),
        )
    return message(
        "forms.counts",
        "Loss for shorter forms, compared with the humans: larger for {more} of {total} metrics, "
        "smaller for {less}, not distinguishable for {alike} (95% intervals, without correction).",
        more=more,
        less=less,
        total=len(known),
        alike=len(known) - more - less,
    )


def _asked(campaigns: Sequence[Campaign]) -> Iterator[tuple[Campaign, Campaign]]:
    """Yield pairs of campaigns over one test set, the longer forms first."""
    for long, short in permutations(campaigns, 2):
        if long.test_set_id == short.test_set_id and long.length_ratio > short.length_ratio:
            yield long, short


def study_forms(
    slug: str, campaigns: Sequence[Campaign], filters: Filters
) -> tuple[StudyForms, results.Result[Any]]:
    """Return the newest documents of all pairs with a verdict, and the state of all of them."""
    asked = list(_asked(campaigns))
    own = {each: fitted(each, campaigns, filters) for each in campaigns}
    found = [
        (f"{long.name} and {short.name}", results.latest("forms", long, AcrossChoice(
            **vars(own[long]), shorter=short.slug)))
        for long, short in asked
    ]  # fmt: skip
    verdicts = {
        each: results.latest("trust", each, own[each])
        for each in dict.fromkeys(campaign for pair in asked for campaign in pair)
    }
    pairs = [
        judged(result.document, verdicts[long].document)
        for (long, _), (_, result) in zip(asked, found, strict=True)
        if result.document
    ]
    document = StudyForms(
        study=slug,
        pairs=pairs,
        missing=[name for name, r in found if not r.document and not r.message],
        warnings=[
            message(
                "forms.failed",
                "The numbers of {campaigns} could not be computed. {error}",
                campaigns=name,
                error=result.message,
            )
            for name, result in found
            if result.message
        ],
        trust=worst_of([verdict.document for verdict in verdicts.values()]),
        units=units_among(pairs),
    )
    every: list[results.Result[Any]] = [*(result for _, result in found), *verdicts.values()]
    return document, results.together(every, lambda documents: documents)


@researcher_required
@require_safe
@takes(parameters("trust", without=tuple(OF_METRICS)))
def study_shortness(request: HttpRequest, slug: str, fmt: str = "") -> HttpResponseBase:
    """Show the losses of metrics and humans for shorter forms, over the campaigns of a study."""
    campaigns = study_campaigns(request, slug)
    filters = Filters.from_query(request.GET)
    document, result = study_forms(slug, campaigns, filters)
    name = filters.file_name(f"{slug}-shortness")
    if fmt and is_unfinished(result):
        return no_document(result)
    as_of = result.as_of.isoformat(timespec="seconds") if result.as_of else None
    if fmt == "tex":
        table = latex.plain_table(TITLE, name, COLUMNS, cells(document.rows, COLUMNS))
        head = f"% {name}, as of {as_of}\n{comments(document.trust)}"
        return latex.response(with_units([table], document.over), name, head=head)
    if fmt:
        data = public(document, rows=document.rows, as_of=as_of, filters=filters.as_json())
        return data_response(fmt, name, COLUMNS, document.rows, data)
    shown = {
        "study": slug,
        "campaigns": campaigns,
        "document": document,
        "pairs": [(pair, summary(pair, document.trust)) for pair in document.pairs],
        "section": "studies",
        "tab": "shortness",
        "query": filters.query(),
        "filters": filters,
        "filter_choices": filter_choices(request.GET, campaigns, filters, has_scores=False),
    }
    return render(request, "shortness/study.html", shown)


urlpatterns = [
    path("campaigns/<slug:slug>/shortness/", view(SHORTNESS), name="shortness"),
    path("campaigns/<slug:slug>/shortness.<str:fmt>", view(SHORTNESS), name="shortness-data"),
    path("studies/<slug:slug>/shortness/", study_shortness, name="study-shortness"),
    path("studies/<slug:slug>/shortness.<str:fmt>", study_shortness, name="study-shortness-data"),
]
