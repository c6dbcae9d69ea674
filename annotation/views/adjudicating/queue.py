"""The queue of items on which annotators differ, and gold items from the decisions."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import (
    campaign_for_admin,
    campaign_for_reader,
    campaign_for_reader_or_reviewer,
    campaign_for_reviewer,
    researcher_required,
    reviews_campaign,
    runs_campaign,
    signed_in,
)
from annotation.adjudication import (
    MAX_TOLERANCE,
    decisions,
    disagreements,
    find,
    give,
    gold_targets,
    met_twice,
)
from annotation.exports import csv_lines
from annotation.exports.mtme import (
    Files,
    frame,
    placed,
    rating_line,
    safe,
    segment_scores,
    system_scores,
    text_files,
)
from annotation.exports.tables import zip_bytes
from annotation.judging.answers import rated_text
from annotation.models import Adjudication, Campaign, Item
from annotation.protocols import Span
from annotation.web.parameters import NOTHING, Parameters, page_of, takes
from core.messages import invalid, messages_of, sentences, translated
from metaeval.messages import plural

# Forms of adjudication: limits of the queue, and gold for another campaign.


class LimitsForm(forms.Form):
    """The limits of differences that reviewers decide."""

    gap = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=1_000,
        label=_("Difference in points"),
        help_text=_(
            "Between the highest and the lowest score of an item. Leave blank to ignore scores."
        ),
    )
    overlap = forms.FloatField(
        required=False,
        min_value=0.01,
        max_value=1,
        label=_("Maximum overlap of marked errors"),
        help_text=_(
            "F1 of the characters that two annotators marked, up to 1. Items with a smaller "
            "overlap are listed. Leave blank to ignore errors."
        ),
    )

    def __init__(self, *args: object, campaign: Campaign, **kwargs: object) -> None:
        super().__init__(*args, **{"label_suffix": ""} | kwargs)  # type: ignore[arg-type]
        self.fields["overlap"].widget.attrs["step"] = "any"
        if campaign.judging.spans is None:
            del self.fields["overlap"]

    def clean(self) -> dict[str, object]:
        """Require at least one limit."""
        data = super().clean() or self.cleaned_data
        if not self.errors and not any(value is not None for value in data.values()):
            raise invalid("queue.no-limit", "Enter at least one limit.")
        return data


class GiveForm(forms.Form):
    """The campaign that gets items from the decisions, and their kind."""

    target = forms.ChoiceField(label=_("Campaign"))
    kind = forms.ChoiceField(
        choices=[(Item.Kind.TUTORIAL, _("Practice, with feedback")), (Item.Kind.GOLD, _("Gold"))],
        label=_("Kind of items"),
        help_text=_(
            "Only gold items can be added to an open pool, for outputs that it does not rate."
        ),
    )
    tolerance = forms.IntegerField(
        initial=10,
        min_value=0,
        max_value=MAX_TOLERANCE,
        label=_("Tolerance in points"),
        help_text=_("Scores within this distance of the decision count as right."),
    )

    def __init__(self, *args: object, drafts: Iterable[Campaign], **kwargs: object) -> None:
        super().__init__(*args, **{"label_suffix": ""} | kwargs)  # type: ignore[arg-type]
        self.fields["target"].choices = [(each.slug, each.name) for each in drafts]  # type: ignore[attr-defined]


# Decisions of reviewers, as a table and in the layout of mt-metrics-eval. They are in separate
# files; files of judgments do not contain them.

RATER = "adjudicated"
COLUMNS = (
    "segment", "system", "source", "text", "score", "penalty", "ratings", "choices", "post_edit",
    "spans", "comment", "reviewer", "revision", "decided_at", "n_answers", "gap", "overlap",
)  # fmt: skip


def rows(campaign: Campaign) -> Iterator[Sequence[Any]]:
    """Yield the rows of the table under `COLUMNS`; spans and ratings are JSON."""
    for each in decisions(campaign).iterator(2_000):
        item, differed = each.item, getattr(each.item, "disagreement", None)
        yield (
            item.segment.key,
            item.output.system.name if item.output else "",
            item.segment.source,
            rated_text(item),
            each.score,
            each.penalty,
            json.dumps(each.ratings, ensure_ascii=False) if each.ratings else "",
            json.dumps(each.choices, ensure_ascii=False) if each.choices else "",
            each.post_edit,
            json.dumps(each.spans, ensure_ascii=False),
            each.comment,
            each.reviewer.get_username() if each.reviewer else "",
            each.revision,
            each.decided_at.isoformat(),
            differed and differed.n_answers,
            differed and differed.gap,
            differed and differed.overlap,
        )


def json_list(campaign: Campaign) -> Iterator[str]:
    """Yield the same as a JSON list of objects."""
    before = "["
    for row in rows(campaign):
        yield before + json.dumps(dict(zip(COLUMNS, row, strict=True)), ensure_ascii=False)
        before = ",\n"
    yield "]\n" if before != "[" else "[]\n"


def bundle(campaign: Campaign) -> Files:
    """Yield the test set with the decisions as human scores and, for errors, as ratings."""
    segments, systems = frame(campaign)
    yield from text_files(campaign, segments, systems)
    found = {
        (each.item.output.system_id, each.item.segment_id): each
        for each in decisions(campaign)
        if each.item.output
    }
    means = {place: each.value for place, each in found.items()}
    top, pair = safe(campaign.test_set.slug), campaign.test_set.direction
    path = f"{top}/human-scores/{pair}.{campaign.protocol}-{RATER}"
    yield f"{path}.seg.score", segment_scores(segments, systems, means)
    yield f"{path}.sys.score", system_scores(segments, systems, means)
    if campaign.judging.spans is not None:
        yield (
            f"{path}.seg.rating",
            (
                rating_line(campaign, name, _rating(found.get((system.pk, segment.pk))))
                for system, name in systems.items()
                for segment in segments
            ),
        )


def _rating(each: Adjudication | None) -> tuple[Sequence[Span], str] | None:
    if each is None:
        return None
    lengths = len(rated_text(each.item)), len(each.item.segment.source)
    return placed([Span(*span) for span in each.spans], *lengths), RATER


PER_PAGE = 50


@researcher_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@takes(Parameters(frozenset({"page"})))
def queue(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the queue; by POST, search for items that exceed the submitted limits."""
    campaign = campaign_for_reader_or_reviewer(request, slug)
    if request.method != "POST":
        return _page(request, campaign)
    campaign = campaign_for_reviewer(request, slug)
    form = LimitsForm(request.POST, campaign=campaign)
    if not form.is_valid():
        return _page(request, campaign, limits_form=form)
    limits = {"gap": None, "overlap": None} | form.cleaned_data
    found = find(campaign=campaign, **limits)
    new = ngettext("Added %(n)s item to the queue.", "Added %(n)s items to the queue.", found.n_new)
    gone = ngettext("Removed %(n)s item.", "Removed %(n)s items.", found.n_gone)
    for text, n in ((new, found.n_new), (gone, found.n_gone)):
        messages.success(request, text % {"n": f"{n:,}"})
    return redirect("adjudication", slug=slug)


def _page(request: HttpRequest, campaign: Campaign, **changed: Any) -> HttpResponse:
    found = disagreements(campaign)
    page = page_of(request, found.select_related("item__segment"), PER_PAGE)
    n_decided = found.filter(is_decided=True).count()
    limits = {"gap": campaign.review_gap, "overlap": campaign.review_overlap}
    drafts = gold_targets(campaign, request.user)
    context = {
        "campaign": campaign,
        "section": "campaigns",
        "tab": "adjudication",
        "page": page,
        "n_decided": n_decided,
        "n_gold": decisions(campaign).count(),
        "next": found.filter(is_decided=False).values_list("pk", flat=True).first(),
        "may_review": reviews_campaign(request.user, campaign),
        "limits_form": LimitsForm(initial=limits, campaign=campaign),
        "give_form": GiveForm(drafts=drafts) if drafts else None,
        "has_score": campaign.judging.has_score,
        "runs_it": runs_campaign(request.user, campaign),
    } | changed
    forms = [value for name, value in changed.items() if name.endswith("_form")]
    status = 422 if any(form.errors for form in forms) else 200
    return render(request, "annotation/adjudication.html", context, status=status)


@researcher_required
@require_POST
def gold_give(request: HttpRequest, slug: str) -> HttpResponse:
    """Add practice or gold items made from the decisions to another campaign."""
    campaign = campaign_for_admin(request, slug)
    drafts = gold_targets(campaign, request.user)
    form = GiveForm(request.POST, drafts=drafts)
    if not form.is_valid():
        return _page(request, campaign, give_form=form)
    target = next(each for each in drafts if each.slug == form.cleaned_data["target"])
    kind, tolerance = form.cleaned_data["kind"], form.cleaned_data["tolerance"]
    try:
        actor = signed_in(request)
        number = give(campaign=campaign, target=target, kind=kind, tolerance=tolerance, actor=actor)
        text = ngettext(
            "Added %(n)s item to %(campaign)s.", "Added %(n)s items to %(campaign)s.", number
        )
        messages.success(request, text % {"n": f"{number:,}", "campaign": target.name})
        if n_twice := met_twice(target):
            twice = plural(
                "gold.rated-twice",
                "{n} gold or practice item is also rated in that campaign, so its annotators see "
                "the same text twice.",
                "{n} gold or practice items are also rated in that campaign, so its annotators see "
                "the same texts twice.",
                n=n_twice,
            )
            messages.warning(request, translated(twice))
    except ValidationError as error:
        messages.error(request, sentences(messages_of(error)))
    return redirect("adjudication", slug=slug)


@researcher_required
@takes(NOTHING)
def gold_file(request: HttpRequest, slug: str, fmt: str) -> StreamingHttpResponse:
    """Return the decisions as CSV, JSON, or an archive in the layout of mt-metrics-eval."""
    campaign = campaign_for_reader(request, slug)
    pieces: Any
    if fmt == "csv":
        pieces, kind, suffix = csv_lines(COLUMNS, rows(campaign)), "text/csv", "csv"
    elif fmt == "json":
        pieces, kind, suffix = json_list(campaign), "application/json", "json"
    elif fmt == "mtme":
        pieces, kind, suffix = zip_bytes(bundle(campaign)), "application/zip", "mtme.zip"
    else:
        raise Http404
    headers = {"Content-Disposition": f'attachment; filename="{slug}-adjudicated.{suffix}"'}
    return StreamingHttpResponse(pieces, content_type=f"{kind}; charset=utf-8", headers=headers)
