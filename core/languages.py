"""Check and normalise language codes, and look up their direction and script.

Codes are BCP 47 tags checked against the IANA registry that `langcodes` ships. Underscores and
three-letter codes of languages that have a two-letter one are accepted (`zh_CN`, `eng_Latn`).
People may also type a name, in English or in the language itself (`find`).
"""

import difflib
import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from babel import Locale
from django.conf.locale import LANG_INFO

from metaeval.messages import MessageError, message

if TYPE_CHECKING:
    from langcodes import Language

# Well-formed tags that are not languages of translations.
NOT_A_LANGUAGE = frozenset({"und", "mul", "mis", "zxx"})
RIGHT_TO_LEFT = frozenset(
    {"Adlm", "Arab", "Aran", "Hebr", "Mand", "Mend", "Nkoo", "Rohg", "Samr", "Syrc", "Thaa"}
)
# Scripts written without blanks between words: lengths are counted in characters.
WITHOUT_SPACES = frozenset(
    {"Hani", "Hans", "Hant", "Hira", "Jpan", "Kana", "Khmr", "Laoo", "Mymr", "Thai"}
)
# Enough to distinguish scripts.
TEXTS, LETTERS = 100, 100
HAN = ("CJK", "HIRAGANA", "KATAKANA", "BOPOMOFO")
# How the names of a script's letters begin, by its ISO code; other scripts are not recognised.
BEGINNINGS: dict[str, tuple[str, ...]] = {
    "Latn": ("LATIN",), "Cyrl": ("CYRILLIC",), "Grek": ("GREEK",), "Arab": ("ARABIC",),
    "Hebr": ("HEBREW",), "Deva": ("DEVANAGARI",), "Thai": ("THAI",), "Hang": ("HANGUL",),
    "Kore": ("HANGUL", "CJK"), "Hani": HAN, "Hans": HAN, "Hant": HAN, "Jpan": HAN,
    "Beng": ("BENGALI",), "Taml": ("TAMIL",), "Geor": ("GEORGIAN",), "Armn": ("ARMENIAN",),
    "Ethi": ("ETHIOPIC",),
}  # fmt: skip

NAMES: dict[str, str] = {
    **{code: info["name"] for code, info in LANG_INFO.items() if "name" in info},
    "zh": "Chinese", "cmn": "Mandarin Chinese", "yue": "Cantonese", "am": "Amharic",
    "as": "Assamese", "ceb": "Cebuano", "gu": "Gujarati", "ha": "Hausa", "iu": "Inuktitut",
    "lo": "Lao", "lzh": "Classical Chinese", "mt": "Maltese", "or": "Odia", "pa": "Punjabi",
    "ps": "Pashto", "si": "Sinhala", "so": "Somali", "xh": "Xhosa", "yo": "Yoruba",
    "zu": "Zulu",
}  # fmt: skip
# Other names that people give to languages.
OTHER_NAMES: dict[str, tuple[str, ...]] = {
    "zh": ("Mandarin", "中文"), "zh-Hans": ("简体中文",), "zh-Hant": ("繁體中文",),
    "pt-BR": ("Portuguese (Brazil)",), "pt-PT": ("Portuguese (Portugal)", "European Portuguese"),
    "en-US": ("American English", "English (US)", "English (United States)"),
    "en-GB": ("English (UK)", "English (United Kingdom)"), "nb": ("Norwegian Bokmaal",),
    "fa": ("Farsi",), "cs": ("Čeština",), "tl": ("Tagalog", "Filipino"), "or": ("Oriya",),
    "el": ("Modern Greek",),
    "my": ("Myanmar",), "he": ("Modern Hebrew",), "km": ("Cambodian",), "ga": ("Gaelic",),
}  # fmt: skip
LONGEST = 60  # characters of a code or a name that somebody types
# In which languages names are understood besides English and the language's own.
NAMED_IN = (
    "ar", "bg", "ca", "cs", "da", "de", "el", "es", "et", "fa", "fi", "fr", "he", "hi", "hr", "hu",
    "id", "is", "it", "ja", "ko", "lt", "lv", "nb", "nl", "pl", "pt", "ro", "ru", "sk", "sl", "sr",
    "sv", "tr", "uk", "vi", "zh", "zh_Hant",
)  # fmt: skip
# `zh - Chinese`, `Chinese (zh)`: a code beside a name.
BESIDE = re.compile(r"\s+[-–—:]\s+|\s*[()]\s*")


class LanguageError(MessageError, ValueError):
    """A text does not name a language, or a pair of languages."""


NO_LANGUAGE = message("language.missing", "The language is missing.")


@lru_cache(maxsize=1024)
def _language(code: str) -> "Language | None":
    # Its tables take 40 ms, 5% of the start of each process, and most processes do not need them.
    from langcodes import Language
    from langcodes.tag_parser import LanguageTagError

    try:
        language = Language.get(code.strip())
    except LanguageTagError:
        return None
    bare = language.language or "und"
    is_private = bare.startswith("x-")
    return (
        language if language.is_valid() and bare not in NOT_A_LANGUAGE and not is_private else None
    )


def is_valid(code: str) -> bool:
    """Return whether the code names a registered language, script and region."""
    return _language(code) is not None


def normalise(code: str) -> str:
    """Return the code in its standard spelling: `zh_cn` is `zh-CN`, `eng` is `en`.

    Raises LanguageError for a code that is not registered.
    """
    language = _language(code)
    if not code.strip():
        raise LanguageError(NO_LANGUAGE)
    if language is None:
        raise LanguageError(
            message(
                "language.code",
                "“{code}” is not a language code. Use a code such as en, de, zh or zh-Hans.",
                code=code,
            )
        )
    return language.to_tag()


def bare(code: str) -> str:
    """Return the language of a code without script and region."""
    return code.partition("-")[0]


def split_pair(pair: str) -> tuple[str, str]:
    """Return source and target of a pair as folders and files are named, in standard spelling.

    Codes may have three letters, script and region. A part in capitals is a region, not a
    language. Raises LanguageError if no hyphen separates two languages.

    >>> split_pair("zh-en"), split_pair("en-pt-BR"), split_pair("zh_CN-sah")
    (('zh', 'en'), ('en', 'pt-BR'), ('zh-CN', 'sah'))
    """
    if not pair:
        raise LanguageError(message("language.no-pair", "The language pair is missing."))
    parts = pair.split("-")
    for place in range(1, len(parts)):
        codes = "-".join(parts[:place]), "-".join(parts[place:])
        if (
            parts[0].split("_")[0].islower()
            and parts[place].split("_")[0].islower()
            and all(map(is_valid, codes))
        ):
            return normalise(codes[0]), normalise(codes[1])
    raise LanguageError(
        message(
            "language.pair",
            "“{pair}” is not a language pair. Use a pair such as zh-en or en-pt_BR.",
            pair=pair,
        )
    )


def find(text: str) -> str:
    """Return the code, in standard spelling, of a typed code, name or both.

    Names are English, the language's own or those of `NAMED_IN`; case, accents and the order of
    words do not matter: `chinese`, `Chinese (Simplified)`, `Deutsch`, `Englisch`, `zh - Chinese`.
    Raises LanguageError, with similar names, for anything else and for a name that several
    languages have.
    """
    text = unicodedata.normalize("NFC", " ".join(text.split()))[: LONGEST + 1]
    if not text:
        raise LanguageError(NO_LANGUAGE)
    parts = [part for part in BESIDE.split(text) if part]
    found = (
        _by_code_or_name(text)
        or (len(parts) == 2 and _by_code_or_name(parts[0]) & _by_code_or_name(parts[1]))
        or set()
    )
    if len(found) == 1:
        return found.pop()
    if found:
        raise LanguageError(
            message(
                "language.ambiguous",
                "“{name}” is the name of several languages. Use one of the codes {codes}.",
                name=text,
                codes=sorted(found),
            )
        )
    if near := _near(text):
        raise LanguageError(
            message(
                "language.unknown-near",
                "“{name}” is not a known code or name of a language. The closest are {near}. Use a "
                "code such as en, de, zh or zh-Hans.",
                name=text,
                near=near,
            )
        )
    raise LanguageError(
        message(
            "language.unknown",
            "“{name}” is not a known code or name of a language. Use a code such as en, de, zh or "
            "zh-Hans.",
            name=text,
        )
    )


def _by_code_or_name(text: str) -> set[str]:
    if is_valid(text):
        return {normalise(text)}
    words = _words(text)
    found = set(_names().get(words) or _names_elsewhere().get(words) or ())
    # “tiếng Anh (Anh)” is British English in the same words as “tiếng Anh”.
    return found if len(found) < 2 else {code for code in found if "-" not in code} or found


def _near(text: str) -> list[str]:
    known = {name.casefold(): f"{name} ({code})" for code, name in NAMES.items()}
    near = difflib.get_close_matches(text.casefold(), known, n=3, cutoff=0.6)
    return [known[name] for name in near]


@lru_cache(maxsize=1)
def _names() -> dict[frozenset[str], set[str]]:
    """Return the codes with a name, by the words of the name."""
    own = {code: info["name_local"] for code, info in LANG_INFO.items() if "name_local" in info}
    pairs = [*NAMES.items(), *own.items()]
    pairs += [(code, name) for code, names in OTHER_NAMES.items() for name in names]
    return _by_words(pairs)


@lru_cache(maxsize=1)
def _names_elsewhere() -> dict[frozenset[str], set[str]]:
    """Return the codes with a name of CLDR in another language; half a second, when needed."""
    # CLDR's names for all 600 languages would take words such as “even” for one.
    known = {normalise(code) for code in (*NAMES, *OTHER_NAMES) if is_valid(code)}
    return _by_words(
        (code, name)
        for place in NAMED_IN
        for code, name in Locale.parse(place).languages.items()
        if is_valid(code) and normalise(code) in known
    )


def _by_words(pairs: Iterable[tuple[str, str]]) -> dict[frozenset[str], set[str]]:
    codes: dict[frozenset[str], set[str]] = {}
    for code, name in pairs:
        if is_valid(code):
            codes.setdefault(_words(name), set()).add(normalise(code))
    return codes


def _words(name: str) -> frozenset[str]:
    """Return the set of words of a name without case and accents."""
    plain = unicodedata.normalize("NFKD", name.casefold())
    return frozenset(re.findall(r"\w+", "".join(c for c in plain if not unicodedata.combining(c))))


@lru_cache(maxsize=1)
def offered() -> tuple[tuple[str, str], ...]:
    """Return the choices of a picker: names that `find` knows, with local name and code."""
    own = {code: info.get("name_local", "") for code, info in LANG_INFO.items()}
    codes = sorted((name, code) for code, name in NAMES.items() if is_valid(code))
    return tuple(
        (name if _is_clear(name, code) else code, ", ".join(filter(None, (own.get(code), code))))
        for name, code in codes
    )


def _is_clear(name: str, code: str) -> bool:
    try:
        return find(name) == normalise(code)
    except ValueError:
        return False


def script(code: str) -> str:
    """Return the four-letter script a language is usually written in; `Latn` if unknown."""
    language = _language(code)
    return (language.maximize().script if language else None) or "Latn"


def direction(code: str) -> str:
    """Return `rtl` or `ltr`, the value of a `dir` attribute for texts in this language."""
    return "rtl" if script(code) in RIGHT_TO_LEFT else "ltr"


def is_character_based(code: str) -> bool:
    """Return whether lengths in this language are counted in characters rather than words.

    True for Chinese (any variety or region), Japanese, Thai, Lao, Khmer and Burmese, unless the
    code names another script, as `zh-Latn` does for romanised Chinese.
    """
    return script(code) in WITHOUT_SPACES


def display_name(code: str) -> str:
    """Return the English name, of the bare language where a variant has none, else the code."""
    language = _language(code)
    if language is None:
        return code
    tag, bare = language.to_tag(), language.language or ""
    if tag.lower() in NAMES:
        return NAMES[tag.lower()]
    return f"{NAMES[bare]} ({tag})" if bare in NAMES else tag


def is_written_as(texts: Iterable[str], language: str, other: str) -> bool:
    """Return whether most letters are those of `language` and few those of `other`.

    False where the two share letters, where a script is not known here, and without letters.

    >>> is_written_as(["Поезд идёт", "BMW"], "ru", "en"), is_written_as(["Zug"], "de", "en")
    (True, False)
    """
    mine = BEGINNINGS.get(script(language), ())
    others = BEGINNINGS.get(script(other), ())
    counts = _beginnings(texts)
    if not (mine and others) or set(mine) & set(others):
        return False
    total = counts.total()
    return sum(counts[b] for b in mine) > 2 * total / 3


def _beginnings(texts: Iterable[str]) -> Counter[str]:
    letters = (
        letter
        for text in itertools.islice(texts, TEXTS)
        for letter in itertools.islice(filter(str.isalpha, text), LETTERS)
    )
    return Counter(unicodedata.name(letter, "").split(" ")[0].split("-")[0] for letter in letters)
