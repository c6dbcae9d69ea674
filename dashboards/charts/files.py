"""Draw one specification as SVG, PDF and PNG, or offer it to the browser.

Drawing blocks the process for 40 to 70 ms, and the first time for half a second, so a page never
draws: it shows an image, and the request of the image draws it. Drawings are cached under a hash of
the specification, so they are never out of date.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import Any

from django.core.cache import cache
from django.http import Http404, HttpResponse, HttpResponseNotModified, JsonResponse
from django.http.request import HttpRequest
from django.http.response import HttpResponseBase

from core.messages import sentences, translated
from dashboards.charts.style import Spec
from dashboards.documents.computing import digest
from metaeval.messages import Message

# Change a figure's specification for a phone: narrow, with its panels below each other.

# Widths with and without names, of small multiples, and sizes of cells of a heat map.
BESIDE_NAMES, ALONE, MULTIPLE, CELL, LINE = 170, 230, 95, 8, 14
NAMES, MULTIPLES = 96, 2


def narrow(spec: Spec) -> Spec:
    """Return a figure for a width of 330 px; the page around it has its heading."""
    found = {key: value for key, value in _part(spec).items() if key != "title"}
    config = found.get("config", {})
    axis = config.get("axis", {}) | {"labelLimit": NAMES}
    legend = config.get("legend", {}) | {"orient": "bottom", "columns": 2, "labelLimit": 120}
    return found | {
        "config": config | {"axis": axis, "legend": legend},
        "padding": {"left": 4, "top": 4, "right": 8, "bottom": 4},
    }


def _part(spec: Spec) -> Spec:
    """Change a panel, or a container of panels."""
    changed = dict(spec)
    if "hconcat" in spec:
        changed["vconcat"] = [_part(each) for each in changed.pop("hconcat")]
    if "concat" in spec:
        changed |= {"concat": [_part(each) for each in spec["concat"]], "columns": 1}
    if "spec" in spec:
        is_wrapped = spec.get("columns", 1) > 1
        changed["spec"] = _part(spec["spec"])
        if is_wrapped:
            changed |= {"columns": MULTIPLES, "spec": changed["spec"] | {"width": MULTIPLE}}
    if "width" in spec:
        changed |= _sizes(spec)
    plain: Spec = _plain(changed)
    return plain


def _sizes(spec: Spec) -> Spec:
    """Return the sizes; cells of a heat map are too narrow for numbers."""
    if isinstance(spec["width"], dict):
        layers = [each for each in spec["layer"] if each["mark"]["type"] != "text"]
        return {"width": {"step": CELL}, "height": {"step": LINE}, "layer": layers}
    return {"width": BESIDE_NAMES if _has_names(spec) else ALONE}


def _has_names(spec: Spec) -> bool:
    """Return whether a vertical axis has names, which need space beside the panel."""
    layers = [spec, *spec.get("layer", ())]
    channels = [layer.get("encoding", {}).get("y", {}) for layer in layers]
    return any(channel.get("type") == "nominal" for channel in channels)


def _plain(spec: Any) -> Any:
    """Remove own limits on names, and set the names horizontally."""
    if isinstance(spec, list):
        return [_plain(each) for each in spec]
    if not isinstance(spec, dict):
        return spec
    others = {key: value for key, value in spec.items() if key not in ("labelLimit", "labelAngle")}
    return {key: value if key == "data" else _plain(value) for key, value in others.items()}


# vl-convert's newest Vega-Lite, and the one in static/vendor.
VEGA_LITE = "6.4"
KEEP_SECONDS = 24 * 3600
# What `Figure.image` adds to an address: `drawn` changes nothing else, `phone` the drawing.
PHONE = "phone"
MARKS = ("drawn", PHONE)
TYPES = {"svg": "image/svg+xml", "pdf": "application/pdf", "png": "image/png"}
SIZE = re.compile(rb'width="([\d.]+)" height="([\d.]+)"')
# Characters that are two of JavaScript's, and the length of texts that no label shortens.
BEYOND, SHORT = re.compile("[\U00010000-\U0010ffff]"), 4
_drawing = Lock()
# The functions that draw the figures of a page, by the name in the address.
Draws = Mapping[str, Callable[[Any], Spec | None]]


@dataclass(frozen=True)
class Figure:
    """A figure of a page. `address` lacks its extension; `query` begins with `?` or is empty."""

    name: str
    spec: Spec
    address: str
    query: str = ""

    def __post_init__(self) -> None:
        if not self.description:
            raise ValueError(f"figure {self.name!r} has no description")

    @property
    def title(self) -> str:
        """The heading of the drawing."""
        return str(self.spec.get("title", ""))

    @property
    def description(self) -> str:
        """The text alternative of the figure."""
        return str(self.spec.get("description", ""))

    @property
    def image(self) -> str:
        """The address of the drawing, with a hash of it.

        A page that swaps in newer numbers would otherwise keep the image that it has loaded.
        """
        mark = f"drawn={digest(VEGA_LITE, self.spec)[:12]}"
        return f"{self.address}.svg{self.query}{'&' if self.query else '?'}{mark}"

    @cached_property
    def phone(self) -> "Figure":
        """The same figure for a phone."""
        query = f"{self.query}{'&' if self.query else '?'}{PHONE}=1"
        return replace(self, spec=narrow(self.spec), query=query)

    @cached_property
    def size(self) -> tuple[int, int] | None:
        """Width and height in pixels, where it has been drawn, so that pages reserve the space."""
        found: tuple[int, int] | None = cache.get(_key(self.spec, "size"))
        return found


def figures(draws: Draws, document: Any, address: str, query: str) -> dict[str, Figure]:
    """Return, by name, the figures of a document in the language of the page."""
    drawn = {name: in_language(draw(document)) for name, draw in draws.items()}
    return {
        name: Figure(name, spec, f"{address}figures/{name}", query)
        for name, spec in drawn.items()
        if spec
    }


def in_language(spec: Any) -> Any:
    """Return a specification with its messages as text in the language of the page.

    Several messages of a description become one text.
    """
    if isinstance(spec, Message):
        return translated(spec)
    if isinstance(spec, dict):
        return {key: _in_language(key, value) for key, value in spec.items()}
    return [in_language(each) for each in spec] if isinstance(spec, list) else spec


def _in_language(key: str, value: Any) -> Any:
    is_several = key == "description" and isinstance(value, list)
    return sentences(value) if is_several else in_language(value)


def response(request: HttpRequest, figure: Figure, fmt: str, filename: str) -> HttpResponseBase:
    """Answer with a figure as svg, pdf, png or json; 404 for another format."""
    if request.GET.get(PHONE):
        figure = figure.phone
    if fmt == "json":
        return JsonResponse(figure.spec, json_dumps_params={"ensure_ascii": False})
    if fmt not in TYPES:
        raise Http404
    tag = f'"{digest(figure.spec, fmt)[:20]}"'
    if request.headers.get("If-None-Match") == tag:
        return HttpResponseNotModified()
    headers = {
        "ETag": tag,
        "Cache-Control": "private, no-cache",
        "Content-Disposition": f'inline; filename="{filename}-{figure.name}.{fmt}"',
    }
    return HttpResponse(draw(figure.spec, fmt), content_type=TYPES[fmt], headers=headers)


def draw(spec: Mapping[str, Any], fmt: str) -> bytes:
    """Return a specification as svg, pdf or png, from the cache where it was drawn today."""
    key = _key(spec, fmt)
    drawn: bytes | None = cache.get(key)
    if drawn is None:
        with _drawing:
            drawn = _convert(dict(spec), fmt)
        cache.set(key, drawn, KEEP_SECONDS)
        if fmt == "svg" and (found := SIZE.search(drawn)):
            cache.set(_key(spec, "size"), tuple(map(_pixels, found.groups())), KEEP_SECONDS)
    return drawn


def _pixels(number: bytes) -> int:
    return math.ceil(float(number))


def drawable(spec: Any) -> Any:
    """Return a specification with boxes for characters beyond U+FFFF, such as emoji, in long texts.

    Vega counts such a character as two; where it shortens a label between them, drawing fails.
    """
    if isinstance(spec, str):
        return BEYOND.sub(_box, spec) if len(spec) > SHORT else spec
    if isinstance(spec, dict):
        return {drawable(key): drawable(value) for key, value in spec.items()}
    return [drawable(each) for each in spec] if isinstance(spec, list | tuple) else spec


def _box(found: re.Match[str]) -> str:
    """Return a character for private use, another one for each emoji."""
    return chr(0xE000 + ord(found[0]) % 6400)


def _convert(spec: dict[str, Any], fmt: str) -> bytes:
    # Loaded with the first figure: 100 MB that most processes never need.
    import vl_convert

    spec = drawable(spec)
    if fmt == "pdf":
        return vl_convert.vegalite_to_pdf(spec, vl_version=VEGA_LITE)
    if fmt == "png":
        return vl_convert.vegalite_to_png(spec, vl_version=VEGA_LITE, scale=2)
    return vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE).encode()


def _key(spec: Mapping[str, Any], fmt: str) -> str:
    return f"figure:{fmt}:{digest(VEGA_LITE, spec)}"
