"""Compute the maximum paid seconds of a screen from the campaign's limit and the words on it.

A document by one system counts as many screens as it has parts to be rated.
"""

from collections.abc import Sequence

from annotation.models import Campaign
from annotation.protocols import Layout
from core.reading import words_in


def limit_of(campaign: Campaign, texts: Sequence[str]) -> int:
    """Return the maximum paid seconds of a screen with these texts to be rated."""
    most = campaign.time_cap_seconds
    if campaign.judging.layout == Layout.DOCUMENT:
        most *= len(texts)
    if not campaign.seconds_per_word:
        return most
    n_words = sum(words_in(text, campaign.test_set.target_language) for text in texts)
    return most + round(campaign.seconds_per_word * n_words)
