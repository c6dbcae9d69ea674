"""Language codes: which are real, and how their texts are cut and set."""

import pytest

from core import languages


@pytest.mark.parametrize("code", ["en", "zh", "zh-Hans", "zh_CN", "pt-BR", "ar", "eng", "yue"])
def test_real_codes(code: str) -> None:
    assert languages.is_valid(code)


@pytest.mark.parametrize("code", ["", "xx", "english", "en-", "zz-ZZ", "und", "mul", "e", "12"])
def test_codes_that_name_no_language(code: str) -> None:
    assert not languages.is_valid(code)
    with pytest.raises(languages.LanguageError) as refused:
        languages.normalise(code)
    assert refused.value.message.code == ("language.code" if code else "language.missing")


@pytest.mark.parametrize(
    ("code", "standard"), [("zh_cn", "zh-CN"), ("eng", "en"), ("PT-br", "pt-BR")]
)
def test_spelling(code: str, standard: str) -> None:
    assert languages.normalise(code) == standard


def test_direction_and_characters() -> None:
    assert [languages.direction(code) for code in ("ar", "he", "fa", "ur", "en", "zh")] == [
        *["rtl"] * 4,
        *["ltr"] * 2,
    ]
    for code in ("zh", "ja", "zh-Hant", "yue"):
        assert languages.is_character_based(code)
    for code in ("en", "ko", "ar", "de"):
        assert not languages.is_character_based(code)


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        ("Chinese", "zh"), ("chinese", "zh"), ("zh - Chinese", "zh"), ("Chinese (zh)", "zh"),
        ("Chinese (Simplified)", "zh-Hans"), ("traditional chinese", "zh-Hant"),
        ("Deutsch", "de"), ("  german ", "de"), ("Espanol", "es"), ("Français", "fr"),
        ("Cestina", "cs"), ("Portuguese (Brazil)", "pt-BR"), ("中文", "zh"), ("zh_CN", "zh-CN"),
        ("eng", "en"), ("Lao", "lo"), ("Englisch", "en"), ("Anglais", "en"), ("немецкий", "de"),
        ("英语", "en"), ("chinois simplifié", "zh-Hans"), ("tiếng Anh", "en"), ("Tysk", "de"),
    ],
)  # fmt: skip
def test_names_find_codes(typed: str, code: str) -> None:
    assert [languages.find(typed) for _ in range(2)] == [code, code]


@pytest.mark.parametrize(
    ("typed", "code", "near"),
    [
        ("Chinnese", "language.unknown-near", "Chinese (zh)"),
        # Words of headers that CLDR has as names of small languages.
        ("Even", "language.unknown", None),
        ("Note", "language.unknown", None),
        ("de - Chinese", "language.unknown-near", None),
        ("", "language.missing", None),
        ("x" * 10_000, "language.unknown", None),
    ],
)
def test_names_that_find_nothing(typed: str, code: str, near: str | None) -> None:
    with pytest.raises(languages.LanguageError) as refused:
        languages.find(typed)
    message = refused.value.message
    assert message.code == code
    assert near is None or near in message.parameters["near"]
    assert len(message.text) < 400


def test_a_name_of_several_languages_is_no_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(languages.OTHER_NAMES, "ga", ("Gaelic",))
    monkeypatch.setitem(languages.OTHER_NAMES, "gd", ("Gaelic",))
    languages._names.cache_clear()
    try:
        with pytest.raises(languages.LanguageError) as refused:
            languages.find("gaelic")
        assert refused.value.message.code == "language.ambiguous"
    finally:
        languages._names.cache_clear()


def test_pickers_offer_only_what_is_understood() -> None:
    offered = languages.offered()
    assert ("German", "Deutsch, de") in offered
    assert {languages.find(name) for name, _ in offered} >= {"de", "zh", "en", "cs", "ar"}
    assert languages.find("Deutsch") == languages.find("de") == "de"
