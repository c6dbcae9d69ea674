from django.http import Http404, HttpRequest, HttpResponse


def run_list(request: HttpRequest, **kwargs: object) -> HttpResponse:
    raise Http404


def run_detail(request: HttpRequest, **kwargs: object) -> HttpResponse:
    raise Http404


def run_cancel(request: HttpRequest, **kwargs: object) -> HttpResponse:
    raise Http404


def run_start(request: HttpRequest, **kwargs: object) -> HttpResponse:
    raise Http404
