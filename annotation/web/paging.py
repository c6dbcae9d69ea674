"""One page of a list: the one that the address names, or a refusal."""

from typing import Any

from django.core.paginator import EmptyPage, Page, PageNotAnInteger, Paginator
from django.http import Http404, HttpRequest

from annotation.filters import FilterError


def page_of(request: HttpRequest, rows: Any, size: int) -> Page[Any]:
    """Return the page that `page=` names, the first without it.

    Raises FilterError for what is no number, and Http404 behind the last page.
    """
    asked = request.GET.get("page") or "1"
    try:
        return Paginator(rows, size).page(asked)
    except PageNotAnInteger as error:
        raise FilterError(f"page must be a whole number from 1, not {asked!r}") from error
    except EmptyPage as error:
        raise Http404 from error
