"""The replication bundle as a document, so that a worker builds it and data and numbers agree."""

import base64
from typing import Any

from annotation.models import Campaign
from dashboards.bundle import build
from dashboards.filters import Filters

VERSION = 1


def compute(campaign: Campaign, filters: Filters) -> dict[str, Any]:
    """Return the manifest, a row for every file, and the zip file in base64.

    It holds the whole campaign: of the filters only the form of the scores counts.
    """
    archive, manifest = build(campaign, Filters(scores=filters.scores))
    files = manifest["files"].items()
    return {
        "campaign": campaign.slug,
        "warnings": [f"{key}: {why}." for key, why in manifest["left_out"].items()],
        "tables": manifest["tables"],
        "versions": manifest["versions"],
        "bytes": len(archive),
        "rows": [{"file": name, "sha256": digest} for name, digest in files],
        "zip": base64.b64encode(archive).decode(),
    }
