"""Words as BERT's basic tokenizer counts them, which is what the paper's data rule counts."""

import pytest
from transformers.models.bert.tokenization_bert import BasicTokenizer

from training.remap import alignment


@pytest.mark.parametrize(
    "text",
    [
        "The harbour's quay, rebuilt in 1998–2003, cost £3.5m (or so).",
        "28岁厨师被发现死于旧金山一家商场。",
        "Straße, naïve café & co. #1 $5 a+b=c",
        "  blanks\tand  more ",
        "",
    ],
)
def test_words_are_those_of_bert(text: str) -> None:
    reference = BasicTokenizer(do_lower_case=False, strip_accents=False)
    assert alignment.split_words(text) == reference.tokenize(text)
