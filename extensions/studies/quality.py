"""Show the quality of annotation of every campaign of a study."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

from annotation.models import Campaign
from dashboards.documents.head import StudyDocument
from dashboards.quality.document import Quality
from dashboards.quality.page import QUALITY


@dataclass(frozen=True, kw_only=True)
class QualityOfStudy(StudyDocument):
    """The campaigns of a study below each other, as in tables 2-5 of Cheng et al. 2023."""

    campaigns: Sequence[Quality]


def combine(campaigns: Sequence[Campaign], documents: Sequence[Quality]) -> QualityOfStudy:
    """Combine the documents."""
    return QualityOfStudy(study=campaigns[0].study if campaigns else "", campaigns=documents)


def context(request: HttpRequest, study: str, document: QualityOfStudy) -> dict[str, Any]:
    """Return every document with its campaign."""
    slugs = [each.campaign for each in document.campaigns]
    campaigns = {
        row.slug: row for row in Campaign.objects.filter(slug__in=slugs).select_related("test_set")
    }
    return {"lines": [(campaigns[each.campaign], each) for each in document.campaigns]}


STUDY_QUALITY = QUALITY.of_study(
    template="studies/quality.html",
    rows=lambda document: [row for each in document.campaigns for row in each.annotators],
    context=context,
    combine=combine,
)
