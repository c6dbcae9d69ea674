"""Agreement by layer: of a campaign, and averaged over a study's campaigns."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest
from django.http.request import QueryDict

from annotation.models import Campaign
from dashboards.layers.document import DEFAULT, STATISTICS, asked, choice_document
from dashboards.layers.names import PARTS
from dashboards.pages.page import Page, StudyPage
from dashboards.pages.selection import array
from dashboards.papers import latex
from dashboards.studies.averages import average, columns_of, latex_table, mark
from dashboards.trust.marks import forbidden
from metaeval.sensitivity import Profile, choose

Document = dict[str, Any]
# As tables 11 to 14 of Cheng et al. 2023 name F1.
SHORT = {"p": "P", "r": "R", "f": "F"}
COLUMNS = ("campaign", "metric", "key", "layer", "part", "value", "is_recommended", "is_best")


def ask(query: QueryDict) -> str:
    """The correlation of an address; FilterError for another."""
    return asked(query.get("statistic") or DEFAULT).correlation


def context(request: HttpRequest, campaign: Campaign, document: Document) -> dict[str, Any]:
    """Layers as rows and parts as columns, metric by metric."""
    return _choices(request) | {"panels": [_panel(metric) for metric in document["metrics"]]}


def choose_marks(document: Document, query: QueryDict) -> Document:
    """Recommend no layer where the verdict forbids marks; `refused` says why."""
    reason = forbidden(document.get("trust"))
    if not reason:
        return document
    metrics = [m | {"choice": None, "rows": _bare(m["rows"])} for m in document["metrics"]]
    return document | {"metrics": metrics, "rows": _bare(document["rows"]), "refused": reason}


def _bare(rows: Sequence[Document]) -> list[Document]:
    return [row | {"is_recommended": False, "is_best": False} for row in rows]


def _choices(request: HttpRequest) -> dict[str, Any]:
    return {
        "statistics": list(STATISTICS.items()),
        "chosen": ask(request.GET),
        "kept": [
            (name, value)
            for name, values in request.GET.lists()
            if name != "statistic"
            for value in values
        ],
    }


def _panel(metric: Document) -> Document:
    parts = list(dict.fromkeys(row["part"] for row in metric["rows"]))
    found = {(row["layer"], row["part"]): row for row in metric["rows"]}
    layers = list(dict.fromkeys(row["layer"] for row in metric["rows"]))
    return metric | {
        "parts": [PARTS.get(part, part or "score") for part in parts],
        "layers": [
            {"layer": layer, "cells": [found.get((layer, part)) for part in parts]}
            for layer in layers
        ],
        "names": {row["key"]: name_of(row) for row in metric["rows"]},
        "recommended_name": _chosen_name(metric, "recommended"),
        "best_name": _chosen_name(metric, "best"),
    }


def _chosen_name(metric: Document, which: str) -> str:
    if not metric["choice"]:
        return ""
    rows = {row["key"]: row for row in metric["rows"]}
    return name_of(rows[metric["choice"][which]])


def name_of(row: Document) -> str:
    """The name of a layer's measure as the study prints it, such as `layer.8.R`."""
    part = SHORT.get(row["part"], row["part"])
    return f"layer.{row['layer']}.{part}" if part else f"layer.{row['layer']}"


def tables(document: Document) -> list[latex.Table]:
    """One table a metric: layers as rows, parts as columns; bold what was recommended."""
    return [_layer_table(_panel(metric), document) for metric in document["metrics"]]


def _layer_table(panel: Document, document: Document) -> latex.Table:
    body = [
        [
            latex.Cell(str(row["layer"])),
            *(
                latex.number(cell and cell["value"], is_bold=bool(cell and cell["is_recommended"]))
                for cell in row["cells"]
            ),
        ]
        for row in panel["layers"]
    ]
    caption = (
        f"{panel['label']} by layer: {document['statistic_label']}, {document['name']}. Bold: "
        "recommended by held-out folds."
    )
    label = f"{document['campaign']}-{panel['metric']}-layers"
    head = latex.texts("Layer", *panel["parts"])
    return latex.Table(caption, label, "r" * len(head), [head], body)


def combine(campaigns: Sequence[Campaign], documents: Sequence[Document]) -> Document:
    """Average every layer over the campaigns of a study, and choose over all of them."""
    names = {m["metric"]: m["label"] for document in documents for m in document["metrics"]}
    metrics = [_average(name, label, documents) for name, label in names.items()]
    study = campaigns[0].study if campaigns else ""
    return {
        "study": study,
        "name": study,
        "columns": columns_of(campaigns),
        "statistic_label": documents[0]["statistic_label"] if documents else "",
        "metrics": metrics,
        "warnings": [
            f"{document['name']}: {warning}"
            for document in documents
            for warning in document["warnings"]
        ],
        "rows": [row for document in documents for row in document["rows"]],
    }


def _average(name: str, label: str, documents: Sequence[Document]) -> Document:
    found = [
        next((m for m in document["metrics"] if m["metric"] == name), None)
        for document in documents
    ]
    present = [metric for metric in found if metric]
    first = present[0]
    keys = [row["key"] for row in first["rows"]]
    values = [{row["key"]: row["value"] for row in m["rows"]} if m else {} for m in found]
    is_everywhere = len(present) == len(found) and all(
        [row["key"] for row in metric["rows"]] == keys for metric in present
    )
    rows = []
    for row in first["rows"]:
        mine = [by_key.get(row["key"]) for by_key in values]
        mean = average(mine)
        rows.append(
            {
                **{part: row[part] for part in ("key", "layer", "part")},
                "label": name_of(row),
                "values": mine,
                "average": mean,
                "value": mean,
            }
        )
    choice = None
    if is_everywhere:
        profiles = [
            Profile(
                array([row["value"] for row in metric["rows"]]),
                array(metric["train"]),
                array(metric["held_out"]),
            )
            for metric in present
        ]
        choice = choice_document(choose(profiles), keys, [row["average"] for row in rows])
    for row in rows:
        row["is_recommended"] = bool(choice and choice["recommended"] == row["key"])
    rows.sort(key=lambda row: float("inf") if row["average"] is None else -row["average"])
    return {
        "metric": name,
        "label": label,
        "checkpoint": first["checkpoint"],
        "choice": choice,
        "rows": mark(rows, []),
    }


def context_of_study(request: HttpRequest, study: str, document: Document) -> dict[str, Any]:
    """Rows as tables 11 to 14 have them, best average first."""
    panels = [
        metric
        | {
            "recommended_name": _chosen_name(metric, "recommended"),
            "best_name": _chosen_name(metric, "best"),
            "rows": [
                row
                | {"cells": list(zip([*row["values"], row["average"]], row["best"], strict=True))}
                for row in metric["rows"]
            ],
        }
        for metric in document["metrics"]
    ]
    return _choices(request) | {"panels": panels}


def study_tables(document: Document) -> list[latex.Table]:
    """Tables 8 and 11 to 14 of Cheng et al. 2023 with the study's own numbers."""
    chosen = [metric for metric in document["metrics"] if metric["choice"]]
    overview = latex.Table(
        f"Recommended layer of each encoder, chosen on held-out folds: "
        f"{document['statistic_label']}, averaged over campaigns.",
        "study-layers",
        "lrlrr",
        [latex.texts("Model", "Layer", "Type", "All segments", "Held out")],
        [_recommendation(metric) for metric in chosen],
    )
    return [
        overview,
        *(
            latex_table(
                f"{metric['label']} ({metric['checkpoint']}) by layer: "
                f"{document['statistic_label']}.",
                f"study-{metric['metric']}-layers",
                document["columns"],
                [("", metric["rows"])],
            )
            for metric in document["metrics"]
        ),
    ]


def _recommendation(metric: Document) -> list[latex.Cell]:
    choice = metric["choice"]
    row = next(row for row in metric["rows"] if row["key"] == choice["recommended"])
    return [
        latex.Cell(metric["checkpoint"].rsplit("/", 1)[-1]),
        latex.Cell(str(row["layer"])),
        latex.Cell(PARTS.get(row["part"], row["part"])),
        latex.number(choice["recommended_value"]),
        latex.number(choice["held_out"]),
    ]


LAYERS: Page[Any] = Page(
    name="layers",
    title="Layers",
    kind="layers",
    template="dashboards/layers.html",
    columns=COLUMNS,
    context=context,
    ask=ask,
    choose=choose_marks,
    tables=tables,
    takes=("statistic",),
)
STUDY_LAYERS: StudyPage[Any] = StudyPage(
    name="layers",
    title="Layers",
    kind="layers",
    template="dashboards/study_layers.html",
    columns=COLUMNS,
    context=context_of_study,
    ask=ask,
    choose=choose_marks,
    tables=study_tables,
    combine=combine,
    takes=("statistic",),
)
