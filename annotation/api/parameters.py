"""Which parameters the API takes: a view set says it as `takes`, and any other is refused."""

from collections.abc import Mapping
from typing import Any, ClassVar

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ParseError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.filters import FilterError
from annotation.filters.choice import LISTS
from annotation.web.parameters import Parameters

Texts = Mapping[str, str]
PAGING = ("limit", "offset")
LEAVING_OUT: Texts = {
    "without": "An annotator to leave out, by public name or id.",
    "traps": "`out` leaves out traps, bad references, references and gold items.",
    "documents": "Only judgments of this document.",
    "since": "The first day, UTC, such as 2026-03-31.",
    "until": "The last day, UTC.",
    "min_seconds": "The least time of an item on the server.",
    "max_seconds": "The most time of an item on the server.",
    "systems": "Only this system, by name.",
    "without_systems": "A system to leave out, by name.",
}
FILTERS: Texts = {
    "scores": "`z` or `raw`; without it what the protocol says.",
    "scale": "One of the campaign’s own scales, or HTER; without it the first.",
    **LEAVING_OUT,
    "humans": "`in` compares metrics on human translations too.",
    "outliers": "`out` compares metrics without outlier systems.",
    "unit": "`segments`: intervals and tests over segments; without it over documents, where the "
    "test set has any.",
}


class ParameterSchema(AutoSchema):
    """Describes in the OpenAPI schema what `TakesParameters` takes."""

    def get_override_parameters(self) -> list[Any]:
        """Return the parameters of the view set's action."""
        found: list[Any] = super().get_override_parameters()
        view: Any = self.view
        texts = view.takes.get(getattr(view, "action", None), {})
        return [*found, *(_described(name, text) for name, text in texts.items())]


def _described(name: str, text: str) -> OpenApiParameter:
    return OpenApiParameter(name, str, description=text, many=name in LISTS)


class TakesParameters(APIView):
    """The first base of every view set: 400 for what an address should not hold.

    `takes` has, by action, the parameters with what they mean; `paged` are the actions that answer
    in pages. FilterError is an answer of 400, too.
    """

    takes: ClassVar[Mapping[str, Texts]] = {}
    paged: ClassVar[tuple[str, ...]] = ("list",)
    schema = ParameterSchema()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse strangers first, then parameters that would be ignored."""
        super().initial(request, *args, **kwargs)
        action = getattr(self, "action", None) or ""
        is_paged = action in self.paged and getattr(self, "paginator", None) is not None
        names = {*self.takes.get(action, {}), *(PAGING if is_paged else ())}
        Parameters(frozenset(names)).check(request.query_params)

    def handle_exception(self, exc: Exception) -> Response:
        """Say a FilterError as JSON."""
        if isinstance(exc, FilterError):
            exc = ParseError(str(exc))
        return super().handle_exception(exc)
