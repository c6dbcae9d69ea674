"""Results for programs: the correlation tables and the quality of campaigns."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import viewsets
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.models import Campaign
from annotation.quality import quality_report
from annotation.quality.tables import as_json
from dashboards.selectors import RAW, Z
from dashboards.views import result_document


@extend_schema(tags=["results"], responses=OpenApiTypes.OBJECT)
class ResultViewSet(viewsets.ViewSet):
    """`/api/results/{campaign}/`: correlations (`?scores=z|raw`) and quality of one campaign."""

    lookup_field = "slug"

    def list(self, request: Request) -> Response:
        """Name the campaigns that can be asked for."""
        return Response(list(Campaign.objects.order_by("slug").values_list("slug", flat=True)))

    def retrieve(self, request: Request, slug: str) -> Response:
        """Return both tables of a campaign."""
        campaign = get_object_or_404(Campaign.objects.select_related("test_set"), slug=slug)
        scores = RAW if request.query_params.get("scores") == RAW else Z
        return Response(
            {
                "correlations": result_document(campaign, scores),
                "quality": as_json(campaign, quality_report(campaign)),
            }
        )
