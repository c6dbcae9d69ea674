"""The source code, the labels and the campaign file foretell nothing: only the secret does."""

import re
from pathlib import Path

import pytest

import annotation
from annotation.campaigns import open_campaign
from annotation.models import Assignment, Campaign
from annotation.models.campaign import new_secret
from annotation.prefill.trial import set_shares
from tests.annotation.blindness.attacking import answer_everything, attacks, open_again, table
from tests.annotation.blindness.worlds import WORLDS, Clock, Mode, make_blind_campaign
from tests.annotation.prefill.test_trial import SHARES, drafted


@pytest.mark.parametrize(
    ("mode", "protocol", "limit"), [*WORLDS, (Mode.STATIC, "contrastive-esa", 0)]
)
def test_the_source_code_foretells_nothing(
    db: None, clock: Clock, mode: str, protocol: str, limit: int
) -> None:
    campaign = make_blind_campaign(protocol, mode, limit=limit)
    real = answer_everything(campaign, clock)
    again = answer_everything(open_again(campaign), clock)
    found = attacks(real, again)
    assert {what: str(each) for what, each in found.items() if not each.is_chance} == {}


@pytest.mark.parametrize("mode", [Mode.STATIC, Mode.POOL])
def test_the_secret_would_tell_every_control(db: None, clock: Clock, mode: str) -> None:
    """The attack would succeed: what it lacks is the secret alone."""
    campaign = make_blind_campaign("esa", mode)
    real = answer_everything(campaign, clock)
    again = answer_everything(open_again(campaign, with_secret=True), clock)
    found = attacks(real, again)
    control, system = found["control by code"], found["system by code"]
    assert (control.misses, control.alarms) == (0, 0)
    assert mode == Mode.POOL or (system.misses, system.alarms) == (0, 0)


def test_the_conditions_of_a_trial_are_not_foretold(db: None) -> None:
    """Which documents are blank, or have a planted or withheld error, and for whom."""
    campaign = drafted(segments=40)
    Campaign.objects.filter(pk=campaign.pk).update(secret=new_secret())
    set_shares(campaign, SHARES, seed=1)
    campaign = open_campaign(campaign=campaign)
    real, again, owned = (
        conditions(each)
        for each in (campaign, open_again(campaign), open_again(campaign, with_secret=True))
    )
    assert owned == real
    assert {*real.values()} == {str(each) for each in SHARES}
    for condition in SHARES:
        attack = table((real[key] == condition, again[key] == condition) for key in real)
        assert attack.is_chance, (condition, str(attack))


def conditions(campaign: Campaign) -> dict[tuple[str, int], str]:
    rows = Assignment.objects.filter(annotator__campaign=campaign)
    values = rows.values_list("annotator__label", "position", "condition")
    return {(label, position): condition for label, position, condition in values}


def test_no_draw_is_seeded_but_from_the_secret() -> None:
    """Besides it stand the site's own key, and simulated people whom nobody must be blind to."""
    folder = Path(annotation.__file__).parent
    seeded = {
        str(file.relative_to(folder))
        for file in folder.rglob("*.py")
        if re.search(r"(Random|default_rng|seed)\([^)]", file.read_text(encoding="utf-8"))
    }
    assert seeded == {
        "models/campaign.py",
        "demo/load.py",
    }
