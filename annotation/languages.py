"""Language codes: which are real, how they are written, in which direction and script they read.

Codes are BCP 47 tags checked against the IANA registry that `langcodes` ships. Underscores and
three-letter codes of languages that have a two-letter one are accepted (`zh_CN`, `eng_Latn`).
"""

from functools import lru_cache

from django.conf.locale import LANG_INFO
from langcodes import Language
from langcodes.tag_parser import LanguageTagError

# Tags that are well formed but name no language that a translation could be in.
NOT_A_LANGUAGE = frozenset({"und", "mul", "mis", "zxx"})
RIGHT_TO_LEFT = frozenset(
    {"Adlm", "Arab", "Aran", "Hebr", "Mand", "Mend", "Nkoo", "Rohg", "Samr", "Syrc", "Thaa"}
)
# Scripts written without blanks between words: lengths are counted in characters.
WITHOUT_SPACES = frozenset(
    {"Hani", "Hans", "Hant", "Hira", "Jpan", "Kana", "Khmr", "Laoo", "Mymr", "Thai"}
)

NAMES: dict[str, str] = {
    **{code: info["name"] for code, info in LANG_INFO.items() if "name" in info},
    "zh": "Chinese", "cmn": "Mandarin Chinese", "yue": "Cantonese", "am": "Amharic",
    "as": "Assamese", "ceb": "Cebuano", "gu": "Gujarati", "ha": "Hausa", "iu": "Inuktitut",
    "lo": "Lao", "lzh": "Classical Chinese", "mt": "Maltese", "or": "Odia", "pa": "Punjabi",
    "ps": "Pashto", "si": "Sinhala", "so": "Somali", "xh": "Xhosa", "yo": "Yoruba",
    "zu": "Zulu",
}  # fmt: skip


@lru_cache(maxsize=1024)
def _language(code: str) -> Language | None:
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
    """Whether the code names a registered language, with registered script and region if any."""
    return _language(code) is not None


def normalise(code: str) -> str:
    """Return the code in its standard spelling: `zh_cn` is `zh-CN`, `eng` is `en`.

    Raises ValueError for a code that names no language.
    """
    language = _language(code)
    if language is None:
        raise ValueError(f"“{code}” is no language code. Use one such as en, de, zh or zh-Hans.")
    return language.to_tag()


def split_pair(pair: str) -> tuple[str, str]:
    """Return source and target of a pair as folders and files are named, in standard spelling.

    Codes may be of three letters and have script and region. A part in capitals is a region, not
    a language of its own. Raises ValueError where no hyphen parts two languages.

    >>> split_pair("zh-en"), split_pair("en-pt-BR"), split_pair("zh_CN-sah")
    (('zh', 'en'), ('en', 'pt-BR'), ('zh-CN', 'sah'))
    """
    parts = pair.split("-")
    for place in range(1, len(parts)):
        codes = "-".join(parts[:place]), "-".join(parts[place:])
        if (
            parts[0].islower()
            and parts[place].split("_")[0].islower()
            and all(map(is_valid, codes))
        ):
            return normalise(codes[0]), normalise(codes[1])
    raise ValueError(f"“{pair}” is no language pair. Write one such as zh-en or en-pt_BR.")


def script(code: str) -> str:
    """Return the four-letter script a language is usually written in; `Latn` if unknown."""
    language = _language(code)
    return (language.maximize().script if language else None) or "Latn"


def direction(code: str) -> str:
    """Return `rtl` or `ltr`, the value of a `dir` attribute for texts in this language."""
    return "rtl" if script(code) in RIGHT_TO_LEFT else "ltr"


def is_character_based(code: str) -> bool:
    """Whether lengths in this language are counted in characters rather than words.

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
