"""Change a figure's specification for a phone: narrow, with its panels below each other."""

from typing import Any

from dashboards.charts.style import Spec

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
