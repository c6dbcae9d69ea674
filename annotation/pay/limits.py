"""How many seconds of a screen are paid at most: the campaign's, and more where there are words."""

from collections.abc import Iterable

from annotation.languages import is_character_based
from annotation.models import Campaign


def limit_of(campaign: Campaign, texts: Iterable[str]) -> int:
    """Return the seconds that are paid at most for a screen with these texts to be rated."""
    if not campaign.seconds_per_word:
        return campaign.time_cap_seconds
    n_words = sum(words_in(text, campaign.test_set.target_language) for text in texts)
    return campaign.time_cap_seconds + round(campaign.seconds_per_word * n_words)


def words_in(text: str, language: str) -> int:
    """Count words, or characters that are no blanks where the language has lengths in those.

    >>> words_in("The harbour was quiet.", "en"), words_in("港口很 安静。", "zh")
    (4, 6)
    """
    return sum(map(len, text.split())) if is_character_based(language) else len(text.split())
