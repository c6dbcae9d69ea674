"""Recognise the encodings that Excel and old programs write, by the letters of languages.

The readings of a text by all encodings are compared: each costs as many bits as its letters take in
the language that they fit best. Letters by frequency are from Wikipedia's tables; characters of
Chinese and Japanese from lists of the most frequent ones.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

# What people call an encoding, and Python's name of it. Of equal readings the first is named.
ENCODINGS = {
    "Windows-1252": "cp1252", "Windows-1250": "cp1250", "Windows-1251": "cp1251",
    "Windows-1253": "cp1253", "Windows-1254": "cp1254", "Windows-1255": "cp1255",
    "Windows-1256": "cp1256", "Windows-1257": "cp1257", "Windows-874": "cp874",
    "Shift JIS": "cp932", "EUC-JP": "euc_jp", "GB 18030": "gb18030", "Big5": "cp950",
    "CP949": "cp949", "KOI8-R": "koi8-r", "KOI8-U": "koi8-u", "ISO 8859-2": "iso8859-2",
    "ISO 8859-5": "iso8859-5", "ISO 8859-15": "iso8859-15", "CP850": "cp850", "CP852": "cp852",
    "CP866": "cp866", "Mac Roman": "mac-roman", "Mac Central European": "mac-latin2",
    "Mac Cyrillic": "mac-cyrillic",
}  # fmt: skip
# Bits that an encoding costs before any text: programs seldom write these.
SELDOM = {"koi8-r": 3.0, "koi8-u": 5.0, "iso8859-2": 5.0, "iso8859-15": 6.0, "euc_jp": 3.0}
SELDOM |= dict.fromkeys(("iso8859-5", "cp850", "cp852", "cp866"), 11.0)
SELDOM |= dict.fromkeys(("mac-roman", "mac-latin2", "mac-cyrillic"), 11.0)
# The letters of languages beside a–z, or of other scripts all of them, the most frequent first.
ALPHABETS = (
    "äüöß", "éèàçêùâîôûëïœ", "áóíéñúü¿¡", "ãçéáíóêõàâú", "èàòùéìÈ", "éëïèöü", "äåö", "åäöéø",
    "øåæéö", "äöõüšž", "áíðéóþæúýö", "íáéěýřžčůšúťóňď", "áéíčýšžľúťňôóďäĺŕ", "ąłęóżśćźń",
    "áéőóíöüúű", "ăîâțșţş", "čšžđć", "ıüşçğöİâî", "ėųšįžūąčę", "āīēšūņļžģķč", "ëç",
    "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё", "оаинетрсвлкудмпязьгбчийхжїцшюєщґ",
    "аиоентрсвдлкпмзугябчъцжйщшюфхь", "аоиенртсвујдкмлпзгбчњшцљћжђхфџ",
    "αοιετνσρκπημυλςωδγάίόέήθχύφβξώζψ", "ויהלאתרמבשנעםדקחפכןטגצסזךףץ",
    "اليمنوترةبعدفهكسقحجشصطأخىضغءذئظزثإآؤپچگیک", "านรอกเงมยลวดทสตะปบคหแจพชขใไโผซณฐธศภญฉฟฮษถ่้ีิุัู์ื็ำึๆ",
    "đàáảãạăằắẳẵặâầấẩẫậèéẻẽẹêềếểễệìíỉĩịòóỏõọôồốổỗộơờớởỡợùúủũụưừứửữựỳýỷỹỵ",
)  # fmt: skip
CHINESE = (
    "的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小么心多天而能好都然没"
    "日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长知民样现分将外但身些与高意进把法此实回二理美"
    "点月明其种声全工己话儿者向情部正名定女问力机给等几很业最间新什打便位因重被走电四第门相次东政海口使教西再平真听世气信北少关"
    "并内加化由却代军产入先山五太水万市眼体别处总才场师书比住员九笑性通目华报立马命张活难神数件安表原车白应路期叫死常提感金何更"
    "反合放做系计或司利受光王果亲界及今京务制解各任至清物台象记边共风战干接它许八特觉望直服毛林题建南度统色字请交爱让认算论百"
)
TRADITIONAL = (
    "的一是不了人我在有他這中大來上國個到說們為子和你地出道也時年得就那要下以生會自著去之過家學對可她裡後小麼心多天而能好都然沒"
    "日於起還發成事只作當想看文無開手十用主行方又如前所本見經頭面公同三已老從動兩長知民樣現分將外但身些與高意進把法此實回二理美"
    "點月明其種聲全工己話兒者向情部正名定女問力機給等幾很業最間新什打便位因重被走電四第門相次東政海口使教西再平真聽世氣信北少關"
    "並內加化由卻代軍產入先山五太水萬市眼體別處總才場師書比住員九笑性通目華報立馬命張活難神數件安表原車白應路期叫死常提感金何更"
    "反合放做系計或司利受光王果親界及今京務制解各任至清物台象記邊共風戰干接它許八特覺望直服毛林題建南度統色字請交愛讓認算論百"
)
JAPANESE = (
    "日一国人年大十二本中長出三時行見月分後前生五間上東四今金九入学高円子外八六下来気小七山話女北午百書先名川千水半男西電校語"
    "土木聞食車何南万毎白天母火右読友左休父雨会同事自社発者地業方新場員立開手力問代明動京目通言理体田主題意不作用度強公持野以"
    "思家世多正安院心界教文元重近考画海売知道集別物使品計死特私始朝運終台広住無真有口少町料工建空急止送切転研足究楽起着店病質"
    "待試族銀早映親験英医仕去味写字答夜音注帰古歌買悪図議民連対部合市内相定回選米実関決全表戦経最現調化当約首法性要制治務成期"
    "取都和機平加受続進数記初指権支産点報済活原共得解交資予向際勝面告反判認参利組信在件側任引求所次必須文字列値形式認証許可除"
)
KOREAN = (
    "이다는의에가을고로한하지를은시도어인사기자나리아대수정스라서해과일들보부장전제여그주국습니합입력니까있없않용할된되선택값"
    "확변경오류소속간년월명성적원유구상신안모든야와게으면트"
)
# Signs between words, and those that nobody writes within one.
TYPESET = frozenset(
    "‚„…‹›‘’“”•–—™€«»¿¡°§©®·½¼¾²³±×£¥\xa0№、。「」『』，．：；？！（）《》〈〉【】・ー～％…“”"
)
QUOTES, FREE, RARE = frozenset("‘’“”„–…«»\xa0"), frozenset("’‘¿¡°·\xa0"), "\x7f"
WIDE = "\u2e80"  # East Asian scripts
WORD = re.compile(r"[A-Za-z\x80-\U0010ffff]+")
# Bits: of a letter that a language does not have, of a sign, of a line of another language.
UNKNOWN, ODD, SIGN, QUOTE, MORE, OTHER_LINE = 12.0, 24.0, 6.0, 3.5, 4.0, 10.0
# How much more the next reading must cost, and how much one letter may on average.
CERTAIN, PLAUSIBLE = 10.0, 8.0
MOST_LINES, LONGEST_LINE, SHOWN = 400, 1_000, 40


def codec_of(encoding: str) -> str:
    """Return Python's codec of an encoding that is called so, or by Python. Raises LookupError."""
    own = {name.casefold(): codec for name, codec in ENCODINGS.items()}
    codec = codecs.lookup(own.get(encoding.casefold(), encoding)).name
    "".encode(codec)  # LookupError for codecs of bytes
    return codec


class Reading(NamedTuple):
    """A text by one encoding, with the bits that its letters take, and those per letter."""

    encoding: str
    bits: float
    mean: float
    sample: str


def readings(data: bytes) -> list[Reading]:
    """Return the readings of bytes that are not UTF-8, the likeliest first; equal ones once."""
    lines = [line[:LONGEST_LINE] for line in _special_lines(data)]
    found: dict[str, Reading] = {}
    for name, codec in ENCODINGS.items():
        try:
            texts = [line.decode(codec, "ignore" if len(line) == LONGEST_LINE else "strict")
                     for line in lines]  # fmt: skip
        except UnicodeDecodeError:
            continue
        whole = "\n".join(texts)
        if whole in found or any((c < " " and c not in "\t\n\r\f\v") or "\x7f" <= c < "\xa0"
                                 for c in set(whole)):  # fmt: skip
            continue
        bits = _bits(texts) + SELDOM.get(codec, 0)
        n = sum(1 + (ord(c) > 0x2E7F) for c in whole if c > "\x7f")
        found[whole] = Reading(name, bits, bits / max(1, n), _sample(texts))
    return sorted(found.values(), key=lambda each: each.bits)


def is_certain(found: Sequence[Reading]) -> bool:
    """Return True if the first reading is likely, and all others are much less so."""
    return bool(found) and found[0].mean < PLAUSIBLE and (
        len(found) == 1 or found[1].bits - found[0].bits > CERTAIN
    )  # fmt: skip


def _special_lines(data: bytes) -> list[bytes]:
    """Return lines that are not ASCII, from the whole file."""
    lines = [line for line in data.splitlines() if not line.isascii()]
    return lines[:: 1 + len(lines) // MOST_LINES]


def _sample(texts: Iterable[str]) -> str:
    line = max(islice(texts, 20), key=lambda text: sum(c > "\x7f" for c in text[:500]), default="")
    first = next((n for n, c in enumerate(line) if c > "\x7f"), 0)
    return line[max(0, first - SHOWN // 2) :][:SHOWN].strip()


def _bits(texts: Sequence[str]) -> float:
    """Return what the letters of lines take: in the language that the lines fit best, or others."""
    by_line = [Counter(_letters(text)) for text in texts]
    costs = [[sum(n * _cost(c, own) for c, n in line.items()) for own in _languages()]
             for line in by_line]  # fmt: skip
    sums = list(map(sum, zip(*costs, strict=True)))
    main = sums.index(min(sums)) if sums else 0
    return sum(min(line[main], min(line) + OTHER_LINE) for line in costs)


def _letters(text: str) -> Iterator[str]:
    """Yield the characters beyond ASCII in lower case, and a blank for odd ones.

    Odd are signs beside letters, capitals behind small letters, and letters of two scripts, of
    which one of East Asia alone. Behind
    an accented capital, and the second of two accented letters, a sign says so.
    """
    for match in WORD.finditer(text):
        word = match[0]
        if word.isascii():
            continue
        is_latin = any(map(str.isascii, word))
        for before, character, after in zip(f" {word}", word, f"{word[1:]} ", strict=False):
            if character <= "\x7f":
                continue
            beside = sum(each.isalpha() and each < WIDE for each in (before, after))
            is_odd = (
                (character.isupper() and before.islower())
                or (is_latin and "\u0370" <= character < "\u2000")
                or (is_latin and character > WIDE and max(before, after) < WIDE)
                or (character in TYPESET - FREE and beside > (character in QUOTES))
            )
            yield " " if is_odd else character.lower()
            is_second = "\x7f" < before < "\u0250" and character.isalpha()
            if character < "\u0250" and (is_second or character.isupper()):
                yield RARE


@lru_cache(maxsize=1)
def _languages() -> tuple[dict[str, float], ...]:
    """Return the bits of the letters of each language."""
    alphabets = [_ranked(letters, 2.0 if ord(letters[0]) < 0x370 else 3.0) for letters in ALPHABETS]
    kana = {chr(n): 6.0 for n in range(0x3041, 0x3097)} | {
        chr(n): 8.0 for n in range(0x30A1, 0x30FB)
    }
    hangul = {chr(n): 13.0 for n in range(0xAC00, 0xD7A4)}
    return (
        *alphabets,
        _ranked(CHINESE, 6.0),
        _ranked(TRADITIONAL, 6.0),
        _ranked(JAPANESE, 7.0) | kana,
        hangul | _ranked(KOREAN, 5.0),
    )


def _ranked(letters: str, most: float) -> dict[str, float]:
    unique = dict.fromkeys(letters)
    return {letter: most + (1 + rank).bit_length() * 0.6 for rank, letter in enumerate(unique)}


def _cost(character: str, own: dict[str, float]) -> float:
    cost = own.get(character)
    if cost is not None:
        return cost
    if character == " ":
        return ODD
    if character == RARE:
        return MORE
    if character in TYPESET:
        if character in QUOTES:
            return QUOTE
        return SIGN if character < "\u3000" or len(own) > 150 else 2 * UNKNOWN
    if "\u4e00" <= character <= "\u9fff" and "一" in own:
        return 16.0
    return UNKNOWN if character < WIDE else 2 * UNKNOWN
