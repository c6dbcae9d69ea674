"""The replication bundle as a document, so that a worker builds it and data and numbers agree."""

import base64
from typing import Any

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.bundle import BundleChoice, build

VERSION = 4
FILTERS = BundleChoice


def compute(campaign: Campaign, filters: Filters) -> dict[str, Any]:
    """Return the manifest, a row for every file, and the zip file in base64.

    The files hold the whole campaign; the filters stand in the commands.
    """
    if not isinstance(filters, BundleChoice):
        filters = BundleChoice(**vars(filters))
    archive, manifest = build(campaign, filters)
    files = manifest["files"].items()
    return {
        "campaign": campaign.slug,
        "filters": filters.as_json(),
        "warnings": [f"{key}: {why}." for key, why in manifest["left_out"].items()],
        "trust": manifest["trust"],
        "tables": manifest["tables"],
        "statistics": [question.statistic.key for question in filters.questions],
        "versions": manifest["versions"],
        "bytes": len(archive),
        "rows": [{"file": name, "sha256": digest} for name, digest in files],
        "zip": base64.b64encode(archive).decode(),
    }
