"""How long a text is, and the seconds in which it can be read at all."""

from core.languages import is_character_based

# Silent reading of English non-fiction, words a minute (Brysbaert 2019, a meta-analysis of 190
# studies); Japanese, the faster of the two languages without blanks, characters a minute
# (Trauzettel-Klosinski and Dietz 2012).
WORDS, CHARACTERS = 238, 357
# Nobody is called too fast who could have skimmed.
GENEROUS = 4


def words_in(text: str, language: str) -> int:
    """Count words, or characters that are no blanks where the language has lengths in those.

    >>> words_in("The harbour was quiet.", "en"), words_in("港口很 安静。", "zh")
    (4, 6)
    """
    return sum(map(len, text.split())) if is_character_based(language) else len(text.split())


def seconds_to_read(text: str, language: str) -> float:
    """Return the seconds in which a text can be skimmed at best: a quarter of silent reading."""
    per_minute = CHARACTERS if is_character_based(language) else WORDS
    return 60 * words_in(text, language) / (GENEROUS * per_minute)
