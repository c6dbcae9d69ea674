"""The length of a text, and the shortest time in which it can be read."""

from core.languages import is_character_based

# Silent reading of English non-fiction in words per minute (Brysbaert 2019, a meta-analysis of 190
# studies), and of Japanese, the faster of the two languages without blanks, in characters per
# minute (Trauzettel-Klosinski and Dietz 2012).
WORDS, CHARACTERS = 238, 357
# Factor by which skimming is assumed to be faster, to avoid false alarms.
GENEROUS = 4


def words_in(text: str, language: str) -> int:
    """Count words, or characters without blanks if the language is measured in those.

    >>> words_in("The harbour was quiet.", "en"), words_in("港口很 安静。", "zh")
    (4, 6)
    """
    return sum(map(len, text.split())) if is_character_based(language) else len(text.split())


def seconds_to_read(text: str, language: str) -> float:
    """Return the shortest time in which a text can be skimmed: a quarter of silent reading."""
    per_minute = CHARACTERS if is_character_based(language) else WORDS
    return 60 * words_in(text, language) / (GENEROUS * per_minute)
