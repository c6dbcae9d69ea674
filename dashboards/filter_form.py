"""The form of the filters: what there is to choose, and what was chosen."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponseBase, JsonResponse, QueryDict

from annotation.models import Annotator, Campaign, Segment
from annotation.views.errors import refuse
from dashboards.filters import FilterError, Filters

NAMES = frozenset(field.name for field in fields(Filters))
TITLE = "These filters do not fit"


class Choice(NamedTuple):
    """Something that can be ticked."""

    value: str
    is_chosen: bool


@dataclass(frozen=True)
class Choices:
    """What the form offers; `others` are the page's own parameters, which a form must keep."""

    annotators: list[Choice]
    documents: list[Choice]
    others: list[tuple[str, str]]

    @property
    def clear(self) -> str:
        """The query of the same page without filters."""
        return urlencode(self.others)


def filter_choices(query: QueryDict, campaigns: Sequence[Campaign], filters: Filters) -> Choices:
    """Return what the form shows for some campaigns together: two small queries."""
    people = Annotator.objects.filter(campaign__in=campaigns).order_by("campaign", "pk")
    labels: dict[str, set[str]] = {}
    for label, pk in people.values_list("label", "pk"):
        labels.setdefault(label, set()).add(str(pk))
    rows = Segment.objects.filter(test_set__campaigns__in=campaigns).exclude(document="")
    documents = rows.order_by("document").values_list("document", flat=True).distinct()
    left_out = set(filters.without)
    return Choices(
        annotators=[
            Choice(label, label in left_out or bool(keys & left_out))
            for label, keys in labels.items()
        ],
        documents=[Choice(name, name in filters.documents) for name in documents],
        others=own_parameters(query),
    )


def own_parameters(query: QueryDict) -> list[tuple[str, str]]:
    """Return the parameters of an address that are no filters."""
    return [(name, value) for name in query if name not in NAMES for value in query.getlist(name)]


def refused(request: HttpRequest, error: FilterError, fmt: str = "") -> HttpResponseBase:
    """400 with the sentence, as a page or as JSON."""
    if fmt:
        return JsonResponse({"error": str(error)}, status=400)
    return refuse(request, 400, TITLE, f"{error}.")
