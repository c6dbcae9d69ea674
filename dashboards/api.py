"""Results for programs: the correlation tables and the quality of campaigns."""

from django.http.request import QueryDict
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import viewsets
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import visible_campaigns
from annotation.quality import quality_report
from annotation.quality.tables import as_json
from dashboards.filters import RAW, USUAL, Filters, Z
from dashboards.metric_table import CORRELATIONS

SLUG = {"type": "string"}


@extend_schema(tags=["results"])
class ResultViewSet(viewsets.ViewSet):
    """`/api/results/{campaign}/`: correlations (`?scores=z|raw`) and quality of one campaign.

    Without `scores` they are z-scores, and of penalties raw scores.
    """

    lookup_field = "slug"

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
        """Return both tables of a campaign; `correlations` is null (202) until it is computed."""
        rows = visible_campaigns(request.user).select_related("test_set")
        campaign = get_object_or_404(rows, slug=slug)
        asked = request.query_params.get("scores", USUAL)
        scores = asked if asked in (RAW, Z) else USUAL
        result = CORRELATIONS.latest(QueryDict(), campaign, Filters(scores=scores))
        as_of = result.as_of.isoformat(timespec="seconds") if result.as_of else None
        table = result.document and {**result.document, "as_of": as_of}
        body = {"correlations": table, "quality": as_json(campaign, quality_report(campaign))}
        return Response(body, status=200 if table else 202)
