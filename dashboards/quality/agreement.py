"""Agreement on outputs so far, for the monitor: it has to be there soon and often."""

from typing import Any

from annotation.filters import Filters
from annotation.models import Campaign, Item
from annotation.quality import agreement_of, read_columns
from dashboards.documents.plain import plain

VERSION = 1


def compute(campaign: Campaign, filters: Filters) -> dict[str, Any]:
    """Return agreement on outputs with its intervals; `figures` is empty where nothing has two
    ratings. Filters are not asked for: the monitor has none."""
    columns = read_columns(campaign)
    found = agreement_of(columns, columns.is_kind(Item.Kind.TARGET), seed=campaign.seed)
    if found is None or not found.n_units:
        return {"n_units": 0, "figures": {}, "doubts": []}
    document: dict[str, Any] = plain(
        {
            "n_units": found.n_units,
            "figures": {name: one.to_dict() for name, one in found.figures.items()},
            "doubts": found.doubts,
        }
    )
    return document
