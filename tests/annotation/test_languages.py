"""Language codes: which are real, and how their texts are cut and set."""

import pytest

from annotation import languages


@pytest.mark.parametrize("code", ["en", "zh", "zh-Hans", "zh_CN", "pt-BR", "ar", "eng", "yue"])
def test_real_codes(code: str) -> None:
    assert languages.is_valid(code)


@pytest.mark.parametrize("code", ["", "xx", "english", "en-", "zz-ZZ", "und", "mul", "e", "12"])
def test_codes_that_name_no_language(code: str) -> None:
    assert not languages.is_valid(code)
    with pytest.raises(ValueError, match="no language code"):
        languages.normalise(code)


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
