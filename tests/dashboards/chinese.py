"""English words left in a page or a sentence in Chinese, but for names, code and stored texts."""

import re
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser

from django.utils import translation

from annotation.web.sentences import said
from dashboards.results.answer import Answer

CHINESE = "zh-hans"
# Names of people, methods, measures, formats, programs and languages.
_NAMES = """
API Appraise atanh auto Ave BART baseline Benjamini BERT BERTScore bigrams BLEU BLEURT Bonferroni
BOTH bpe Brackets Carlo Celery Cheng Chinese CHK chrF clauses clp CLP Cohen cohen COMET cosine CPU
cpu CSV Ctrl DA data DeBERTa Deutsch Dropout English Enter ESA Fisher fit full German GiB Google GPU
gpu Graham HIT HMAC Hochberg Holm HTML hub idf info ISO IWSLT judges JSON JSONL Kendall KiB
Krippendorff LaTeX Lin Lines Liu Lo log Mann Markdown Mechanical MiB min MLQE MNLI Monte MoverScore
mqm MQM mteval none notebook numpy Och Ollama Pango Parquet PDF Pearmut Pearson PERM pip PNG
Perrella Popović Prism Procrustes Prolific Python RankME RCSLS ReFreeEval released RoBERTa ROUGE
rouge scipy score seed sentBLEU SentSim SHA Shift Spearman Summarize SVG tau-b TED TER TeX TGT then
torch Touchstone Transformer Translate TSV Turk umd UMD Unicode unigram unigrams Unix UTC UTF
WeasyPrint Webhook webhook Wilcoxon Williams Wilson WMT Wu XBERTScore XCOMET XLM XMoverScore YiSi
Zhang Zhao Zou Čeština
"""
NAMES = frozenset(_NAMES.split())
# Texts that name columns of tables, and a published set.
STORED = re.compile(r"start_indices|^media 列|^检查 spans")
TWO_AUTHORS = re.compile(r"[A-Z]\w+ and [A-Z]\w+(?= \d{4})")
SKIPPED = frozenset({"datalist", "script", "style", "code", "pre", "kbd", "textarea", "template"})
READ_ALOUD = frozenset({"alt", "title", "aria-label", "placeholder", "data-of", "data-label"})
VOID = frozenset({"input", "img", "br", "meta", "link", "hr", "wbr", "col", "source"})
# A letter or digit, but no Chinese character: English words may stand between those.
_LETTER = r"[^\W\u4e00-\u9fff]"
WORD = re.compile(rf"(?<!{_LETTER})(?<![./@%{{&-])[A-Za-z][a-z]{{2,}}(?!{_LETTER})(?![./@}}-])")


class Visible(HTMLParser):
    """What a reader sees or hears of a page, without code and texts of other languages."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[tuple[str, bool]] = []
        self.texts: list[str] = []
        self.links: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        if tag == "a":
            self.links.append(known.get("href") or "")
        is_other = tag != "html" and "lang" in known
        hidden = tag in SKIPPED or is_other or any(hides for _, hides in self.open)
        if not hidden:
            self.texts += [value for name, value in attrs if name in READ_ALOUD and value]
        if tag not in VOID:
            self.open.append((tag, hidden))

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not any(hides for _, hides in self.open):
            self.texts.append(data)


def left_over(page: str, stored: Sequence[str]) -> Iterator[str]:
    """The texts of a page that still have English words."""
    for text in Visible(page).texts:
        yield from left_in(text, stored)


def left_in(text: str, stored: Sequence[str] = ()) -> Iterator[str]:
    """The English words of a text, with the text; names that are stored are none."""
    whole = bare = TWO_AUTHORS.sub(" ", " ".join(text.split()))
    for name in stored:
        bare = bare.replace(name, " ")
    if not STORED.search(whole) and (words := set(WORD.findall(bare)) - NAMES):
        yield f"{sorted(words)} in {whole!r}"


def told(*texts: str, names: Sequence[str] = ()) -> None:
    """See that a page in Chinese can say these English texts, but for the names in them."""
    with translation.override(CHINESE):
        shown = [said(text) for text in texts]
    left = [words for text in shown for words in left_in(text, names)]
    assert left == []


def told_answer(found: Answer, names: Sequence[str] = ()) -> None:
    """The same of an answer, whose pieces pages translate one by one."""
    known = [*(part.text for part in found.parts if part.key), *names]
    told(*(part.text for part in found.parts if not part.key), found.detail, names=known)
