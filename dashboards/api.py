"""Results for programs: correlations, quality and error spans of campaigns."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import msgspec
from django.http.request import QueryDict
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import viewsets
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import visible_campaigns
from annotation.api.parameters import FILTERS, TakesParameters, Texts
from annotation.filters import Filters
from annotation.filters.chosen import check
from core.messages import as_json
from dashboards.correlations.page import CORRELATIONS
from dashboards.documents.results import Result
from dashboards.pages.answers import is_unfinished, public
from dashboards.quality.page import QUALITY
from dashboards.spans.document import SpansChoice
from dashboards.spans.page import SPANS

SLUG = {"type": "string"}
SHOWN = "`shown` adds rows of baselines and human ceiling."


@extend_schema(tags=["results"])
class ResultViewSet(TakesParameters, viewsets.ViewSet):
    """`/api/results/{campaign}/`: correlations and quality of one campaign, under filters.

    Without `scores`, human scores are z-scores, or raw scores where they are penalties. Where
    annotators mark error spans, the answer includes how well metrics find them.
    """

    lookup_field = "slug"
    takes: ClassVar[Mapping[str, Texts]] = {"retrieve": {**FILTERS, "bounds": SHOWN}}

    @extend_schema(operation_id="results_list", responses={200: SLUG})
    def list(self, request: Request, format: str | None = None) -> Response:
        """List the campaigns that you may read."""
        rows = visible_campaigns(request.user).order_by("slug")
        return Response(list(rows.values_list("slug", flat=True)))

    @extend_schema(
        parameters=[OpenApiParameter("slug", OpenApiTypes.STR, OpenApiParameter.PATH)],
        responses=dict.fromkeys((200, 202, 500), OpenApiTypes.OBJECT),
    )
    def retrieve(self, request: Request, slug: str, format: str | None = None) -> Response:
        """Return the tables of a campaign; a table that is not computed yet is null (202).

        `Retry-After` then says when to ask again. The status is 500, with the error, where
        computing failed.
        """
        rows = visible_campaigns(request.user).select_related("test_set")
        campaign = get_object_or_404(rows, slug=slug)
        filters = Filters.from_query(request.query_params)
        check(campaign, filters)
        table = CORRELATIONS.latest(QueryDict(), campaign, filters)
        quality = QUALITY.latest(QueryDict(), campaign, filters)
        wanted = QueryDict(mutable=True)
        wanted["bounds"] = request.query_params.get("bounds", "")
        body = {
            "correlations": _dated(table, lambda found: CORRELATIONS.choose(found, wanted)),
            "quality": _dated(quality),
        }
        found = [table, quality]
        if campaign.judging.spans is not None:
            spans = SPANS.latest(QueryDict(), campaign, SpansChoice(**vars(filters)))
            body["spans"] = _dated(spans, lambda found: replace(found, missed=()))
            found.append(spans)
        body["filters"] = filters.as_json()
        waiting = [each for each in found if is_unfinished(each)]
        if problem := next((each.message for each in waiting if each.message), None):
            return Response({"error": as_json(problem)}, status=500)
        if waiting:
            return Response(body, status=202, headers={"Retry-After": "2"})
        return Response(body)


def _dated(result: Result[Any], choose: Callable[[Any], Any] = lambda found: found) -> Any:
    """Return the chosen part of a document, with the time of its numbers."""
    as_of = result.as_of.isoformat(timespec="seconds") if result.as_of else None
    if is_unfinished(result):
        return None
    return msgspec.to_builtins(public(choose(result.document), as_of=as_of))
