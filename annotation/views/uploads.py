from django.http import Http404, HttpRequest, HttpResponse


def testset_list(request: HttpRequest, **kwargs: object) -> HttpResponse:
    raise Http404


def upload(request: HttpRequest, **kwargs: object) -> HttpResponse:
    raise Http404


def testset_detail(request: HttpRequest, **kwargs: object) -> HttpResponse:
    raise Http404
