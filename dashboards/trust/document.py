"""What limits trust in a campaign's numbers, for every page that shows some."""

from typing import Any

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.trust.verdict import trust_of

VERSION = 1


def compute(campaign: Campaign, filters: Filters) -> dict[str, Any]:
    """Return the verdict; `rows` has a dict for every reason."""
    found = trust_of(campaign, filters)
    return found | {"rows": found["reasons"]}
