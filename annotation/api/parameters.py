"""Parameters of the API: view sets list theirs in `takes`, and all others are refused."""

from collections.abc import Mapping
from typing import Any, ClassVar, NoReturn

from django.db import transaction
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ParseError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView, exception_handler

from annotation.api.repeating import Repeatable, RepeatedError, has_key
from annotation.api.throttling import TooManyRequests
from annotation.filters import FilterError
from annotation.filters.choice import LISTS
from annotation.models import ApiToken
from annotation.web.errors import CONTENT_TYPE, problem_details
from annotation.web.parameters import Parameters

Texts = Mapping[str, str]
# Of `annotation.api.pages.StrictPagination`.
PAGING = ("limit", "offset")
LEAVING_OUT: Texts = {
    "without": "An annotator to exclude, by public name or id.",
    "traps": "`out` excludes traps, bad references, references and gold items.",
    "documents": "Only judgments of this document.",
    "domains": "Only judgments of this domain, such as news.",
    "since": "The first day, UTC, such as 2026-03-31.",
    "until": "The last day, UTC.",
    "min_seconds": "The shortest time of an item on the server.",
    "max_seconds": "The longest time of an item on the server.",
    "systems": "Only this system, by name.",
    "without_systems": "A system to exclude, by name.",
}
FILTERS: Texts = {
    "scores": "`z` or `raw`; by default as the protocol defines.",
    "scale": "One of the campaign’s own scales, or HTER; by default the first.",
    **LEAVING_OUT,
    "humans": "`in` also compares metrics on human translations.",
    "outliers": "`out` compares metrics without outlier systems.",
    "unit": "`segments`: intervals and tests over segments; by default over documents, if the "
    "test set has documents.",
}


class ParameterSchema(AutoSchema):
    """Describe the parameters of `TakesParameters` in the OpenAPI schema."""

    def get_override_parameters(self) -> list[Any]:
        """Return the parameters of the view set's action."""
        found: list[Any] = super().get_override_parameters()
        view: Any = self.view
        texts = view.takes.get(getattr(view, "action", None), {})
        return [*found, *(_described(name, text) for name, text in texts.items())]


def _described(name: str, text: str) -> OpenApiParameter:
    return OpenApiParameter(name, str, description=text, many=name in LISTS)


class TakesParameters(APIView):
    """First base of every view set: answer 400 to unknown parameters and to a FilterError.

    `takes` has the parameters and their meanings by action; `paged` are the actions that answer in
    pages. `scope` is what a token needs for changes.
    """

    scope: ClassVar[str] = ApiToken.Scope.ANNOTATE_ADMIN
    takes: ClassVar[Mapping[str, Texts]] = {}
    paged: ClassVar[tuple[str, ...]] = ("list",)
    schema = ParameterSchema()

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        """Answer a request; one with an idempotency key in one transaction with its answer."""
        self.repeatable: Repeatable | None = None
        if not has_key(request):
            return super().dispatch(request, *args, **kwargs)
        with transaction.atomic():
            response = super().dispatch(request, *args, **kwargs)
            if response.status_code >= 400:
                transaction.set_rollback(True)
        return response

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check permissions first, then refuse parameters that would be ignored."""
        super().initial(request, *args, **kwargs)
        action = getattr(self, "action", None) or ""
        is_paged = action in self.paged and getattr(self, "paginator", None) is not None
        paging = getattr(getattr(self, "paginator", None), "parameters", PAGING) if is_paged else ()
        names = {*self.takes.get(action, {}), *paging}
        Parameters(frozenset(names)).check(request.query_params)
        if has_key(request):
            self.repeatable = Repeatable(request)

    def throttled(self, request: Request, wait: float | None) -> NoReturn:
        """Refuse a request of an account that has sent too many."""
        raise TooManyRequests(wait)

    def handle_exception(self, exc: Exception) -> Response:
        """Answer a FilterError as JSON, and a repeated request as before."""
        if isinstance(exc, RepeatedError):
            return exc.response
        if isinstance(exc, FilterError):
            exc = ParseError(str(exc), code=exc.message.code)
        return super().handle_exception(exc)

    def finalize_response(
        self, request: Request, response: Response, *args: Any, **kwargs: Any
    ) -> Response:
        """Return every refusal as a problem; store what a repeated request is answered."""
        found: Response = super().finalize_response(request, response, *args, **kwargs)
        if self.repeatable is not None and found.status_code < 400:
            self.repeatable.store(found)
        return as_problem(found)


def as_problem(response: Response) -> Response:
    """Change a refusal to problem details."""
    if response.status_code >= 400 and response.content_type != CONTENT_TYPE:
        response.data = problem_details(response.status_code, response.data)
        response.content_type = CONTENT_TYPE
    return response


def answer_exception(exc: Exception, context: dict[str, Any]) -> Response | None:
    """Answer an exception of any view of the API; `settings.REST_FRAMEWORK` names this function."""
    response = exception_handler(exc, context)
    return response and as_problem(response)
