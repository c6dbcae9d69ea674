"""When a control of a pool is due: one in every part, at no place more likely than at another."""

from collections import Counter

import pytest
from scipy.stats import chisquare

from annotation.models import Annotator, Campaign
from annotation.pool.mixing import SCREENS_PER_CONTROL, State, is_due

N_PEOPLE, N_PARTS = 300, 4


def places_of(label: str, limit: int) -> list[int]:
    """Where one annotator gets controls who finds one ready whenever one is due."""
    campaign = Campaign(seed=1, secret="of this test", items_per_annotator=limit)
    annotator = Annotator(campaign=campaign, label=label)
    places: list[int] = []
    for n in range(N_PARTS * SCREENS_PER_CONTROL):
        since = n - 1 - places[-1] if places else n
        state = State(n - 1, n, n, len(places), since, 0)
        if is_due(annotator, state, N_PARTS):
            places.append(n)
    return places


@pytest.mark.parametrize("limit", [0, N_PARTS * SCREENS_PER_CONTROL])
def test_no_place_in_a_part_is_without_controls(limit: int) -> None:
    phases = Counter[int]()
    for number in range(N_PEOPLE):
        places = places_of(f"A{number}", limit)
        assert [place // SCREENS_PER_CONTROL for place in places] == list(range(N_PARTS))
        phases.update(place % SCREENS_PER_CONTROL for place in places)
    # Chance alone goes beyond this once in a hundred thousand seeds; this one is fixed.
    assert chisquare([phases[phase] for phase in range(SCREENS_PER_CONTROL)]).pvalue > 1e-5
