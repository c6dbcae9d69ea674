"""Stage 2: make items and control items, and give every annotator their own order.

Everything random is derived from the campaign's secret and seed: with both, the same test set and
the same annotators, opening a campaign gives the same items in the same orders. Without the secret
nobody can predict them.
"""

from annotation.campaigns.facts import describe
from annotation.campaigns.layouts import Screens
from annotation.campaigns.opening import close_campaign, open_campaign, reopen_campaign
from annotation.campaigns.people import (
    Invitation,
    add_annotators,
    renew_link,
    require_status,
    takes_annotators,
)
from annotation.campaigns.readiness import hindrances
from annotation.campaigns.shares import share_out
from annotation.controls import possible_traps

__all__ = [
    "Invitation",
    "Screens",
    "add_annotators",
    "close_campaign",
    "describe",
    "hindrances",
    "open_campaign",
    "possible_traps",
    "renew_link",
    "reopen_campaign",
    "require_status",
    "share_out",
    "takes_annotators",
]
