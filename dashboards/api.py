"""Results for programs: the correlation tables and the quality of campaigns."""

from collections.abc import Mapping
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
from dashboards.correlations.page import CORRELATIONS
from dashboards.documents.results import Result
from dashboards.pages.answers import public
from dashboards.quality.page import QUALITY

SLUG = {"type": "string"}


@extend_schema(tags=["results"])
class ResultViewSet(TakesParameters, viewsets.ViewSet):
    """`/api/results/{campaign}/`: correlations and quality of one campaign, under filters.

    Without `scores` they are z-scores, and of penalties raw scores.
    """

    lookup_field = "slug"
    takes: ClassVar[Mapping[str, Texts]] = {"retrieve": FILTERS}

    @extend_schema(operation_id="results_list", responses={200: SLUG})
    def list(self, request: Request, format: str | None = None) -> Response:
        """Name the campaigns that can be asked for."""
        rows = visible_campaigns(request.user).order_by("slug")
        return Response(list(rows.values_list("slug", flat=True)))

    @extend_schema(
        parameters=[OpenApiParameter("slug", OpenApiTypes.STR, OpenApiParameter.PATH)],
        responses=dict.fromkeys((200, 202), OpenApiTypes.OBJECT),
    )
    def retrieve(self, request: Request, slug: str, format: str | None = None) -> Response:
        """Return both tables of a campaign; one that is not computed yet is null (202)."""
        rows = visible_campaigns(request.user).select_related("test_set")
        campaign = get_object_or_404(rows, slug=slug)
        filters = Filters.from_query(request.query_params)
        check(campaign, filters)
        body = {
            "correlations": _dated(CORRELATIONS.latest(QueryDict(), campaign, filters)),
            "quality": _dated(QUALITY.latest(QueryDict(), campaign, filters)),
        }
        status = 200 if all(body.values()) else 202
        return Response(body | {"filters": filters.as_json()}, status=status)


def _dated(result: Result[Any]) -> Any:
    """The document with the time of its numbers."""
    as_of = result.as_of.isoformat(timespec="seconds") if result.as_of else None
    document = result.document
    return None if document is None else msgspec.to_builtins(public(document, as_of=as_of))
