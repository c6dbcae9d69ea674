"""The comparison has the agreement of the same judgments with the digits of other pages."""

from django.test import Client

from annotation.filters import Filters
from annotation.models import Campaign
from extensions.comparison.document import compute
from tests.dashboards.quality.test_agreement import NAMES, of_monitor


def test_agreement_has_the_digits_of_the_monitor(rated: Campaign, as_researcher: Client) -> None:
    compared = {one.statistic: one for one in compute(rated, Filters()).numbers}
    names = dict(zip(NAMES, ("r", "alpha_z", "alpha_raw"), strict=True))
    found = {name: compared[f"{key}_without_traps"] for name, key in names.items()}
    assert {name: (one.value, one.low, one.high) for name, one in found.items()} == of_monitor(
        as_researcher, rated.slug
    )
