"""MT systems over the campaigns of a study: tables 9 and 10 of Cheng et al. (2023)."""

from collections.abc import Sequence
from typing import Any

from annotation.models import Campaign
from dashboards.systems.document import by_name

Document = dict[str, Any]


def study_table(campaigns: Sequence[Campaign], documents: Sequence[Document]) -> Document:
    """Return a block for the humans, for every measure and for lengths; None where one lacks.

    A block has a line for each system, with a cell for each campaign.
    """
    heads = [
        {"slug": c.slug, "direction": c.test_set.direction, "percent": c.percent, "name": c.name}
        for c in campaigns
    ]
    names = list(dict.fromkeys(name for each in documents for name in each["systems"]))
    labels = {c["key"]: c["label"] for each in documents for c in each["columns"]}
    blocks = [_block("human", "Human score", names, [by_name(d["human"]) for d in documents])]
    for key, label in labels.items():
        blocks.append(_block(key, label, names, [_column(d, key) for d in documents]))
    lengths = [_lengths(each) for each in documents]
    blocks.append(_block("length", "Mean deviation from the wanted length", names, lengths))
    return {
        "campaigns": heads,
        "blocks": [block for block in blocks if block["lines"]],
        "rows": [row for block in blocks for row in _rows(block, heads)],
        "basis": [
            {"name": campaign.name, "slug": campaign.slug, "sentences": document["basis"]}
            for campaign, document in zip(campaigns, documents, strict=True)
        ],
        "warnings": _warnings(campaigns, documents),
    }


def _warnings(campaigns: Sequence[Campaign], documents: Sequence[Document]) -> list[str]:
    """Every sentence once, after the names of its campaigns."""
    told: dict[str, list[str]] = {}
    for campaign, document in zip(campaigns, documents, strict=True):
        for warning in document["warnings"]:
            told.setdefault(warning, []).append(campaign.name)
    return [f"{', '.join(names)}: {warning}" for warning, names in told.items()]


def _column(document: Document, key: str) -> dict[str, Document]:
    own = [column for column in document["columns"] if column["key"] == key]
    return by_name(own[0]["rows"]) if own else {}


def _lengths(document: Document) -> dict[str, Document]:
    rows = document["lengths"]["rows"]
    return {row["system"]: {"score": row["statistic"], "mark": "", "rank": None} for row in rows}


def _block(
    key: str, label: str, names: Sequence[str], cells: Sequence[dict[str, Document]]
) -> Document:
    lines = [{"system": name, "cells": [own.get(name) for own in cells]} for name in names]
    kept = [line for line in lines if any(line["cells"])]
    return {"key": key, "label": label, "lines": kept}


def _rows(block: Document, heads: Sequence[Document]) -> list[Document]:
    return [
        {
            "measure": block["key"],
            "system": line["system"],
            "campaign": head["slug"],
            "score": cell["score"],
            "mark": cell["mark"],
        }
        for line in block["lines"]
        for head, cell in zip(heads, line["cells"], strict=True)
        if cell
    ]
