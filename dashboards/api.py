"""Results for programs: the correlation tables and the quality of campaigns."""

from collections.abc import Mapping
from typing import ClassVar

from django.http.request import QueryDict
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import viewsets
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import visible_campaigns
from annotation.api_parameters import FILTERS, TakesParameters, Texts
from annotation.filters import Filters
from annotation.filters.chosen import check
from annotation.filters.report import filtered_report
from annotation.quality.tables import as_json
from dashboards.metric_table import CORRELATIONS


@extend_schema(tags=["results"], responses=OpenApiTypes.OBJECT)
class ResultViewSet(TakesParameters, viewsets.ViewSet):
    """`/api/results/{campaign}/`: correlations and quality of one campaign, under filters.

    Without `scores` they are z-scores, and of penalties raw scores.
    """

    lookup_field = "slug"
    takes: ClassVar[Mapping[str, Texts]] = {"retrieve": FILTERS}

    def list(self, request: Request, format: str | None = None) -> Response:
        """Name the campaigns that can be asked for."""
        rows = visible_campaigns(request.user).order_by("slug")
        return Response(list(rows.values_list("slug", flat=True)))

    def retrieve(self, request: Request, slug: str, format: str | None = None) -> Response:
        """Return both tables of a campaign; `correlations` is null (202) until it is computed."""
        rows = visible_campaigns(request.user).select_related("test_set")
        campaign = get_object_or_404(rows, slug=slug)
        filters = Filters.from_query(request.query_params)
        check(campaign, filters)
        result = CORRELATIONS.latest(QueryDict(), campaign, filters)
        as_of = result.as_of.isoformat(timespec="seconds") if result.as_of else None
        table = result.document and {**result.document, "as_of": as_of}
        quality = as_json(campaign, filtered_report(campaign, filters))
        body = {"correlations": table, "quality": quality, "filters": filters.as_json()}
        return Response(body, status=200 if table else 202)
