"""Read scores that are words, such as those of Likert scales, and ranks, by a stated order."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain

from annotation.uploads.problems import WORDS, Report
from annotation.uploads.tables.rows import Table
from metaeval.files.cells import is_missing, read_score
from metaeval.files.names import is_called
from metaeval.messages import message, printable, truncated

# The levels of scales from the worst to the best; words of one level are separated by a bar.
SCALES = (
    "strongly disagree|completely disagree < disagree|somewhat disagree|rather disagree < "
    "neutral|neither agree nor disagree|undecided|neither < agree|somewhat agree|rather agree < "
    "strongly agree|completely agree",
    "very bad|very poor|terrible < bad|poor < fair|average|ok|okay|acceptable|medium|neutral < "
    "good < very good|excellent|perfect",
    "bad < poor < fair < good < excellent",
    "bad < good", "no < yes", "false < true", "incorrect < correct", "wrong < right",
    "unacceptable < acceptable", "low < medium < high",
    "very low < low < medium|moderate|average < high < very high",
    "none < little|little meaning < much|much meaning < most|most meaning < all|all meaning",
    "incomprehensible < disfluent|disfluent english < non-native|non-native english < good|good "
    "english < flawless|flawless english",
    "stimme überhaupt nicht zu|stimme gar nicht zu|trifft überhaupt nicht zu|trifft gar nicht zu|"
    "trifft nicht zu < stimme nicht zu|stimme eher nicht zu|lehne ab|trifft eher nicht zu < "
    "neutral|teils-teils|teils teils|teils/teils|weder noch|unentschieden < stimme zu|stimme eher "
    "zu|trifft eher zu < stimme voll und ganz zu|stimme völlig zu|stimme voll zu|trifft voll und "
    "ganz zu|trifft völlig zu|trifft voll zu|trifft zu",
    "sehr schlecht < schlecht < mittel|mittelmäßig|befriedigend|durchschnittlich|neutral < gut < "
    "sehr gut",
    "schlecht < gut", "nein < ja", "falsch < richtig", "niedrig < mittel < hoch",
    "非常不同意|完全不同意|强烈不同意 < 不同意|比较不同意 < 中立|一般|不确定 < 同意|比较同意 < "
    "非常同意|完全同意|强烈同意",
    "很差|非常差 < 差|较差 < 一般|中等 < 好|较好|良好 < 很好|非常好|优秀",
    "差 < 好", "不好 < 好", "否 < 是", "错误 < 正确", "低 < 中 < 高",
)  # fmt: skip
# `5 - Excellent`, `1 (bad)`: a number with its label.
LABELLED = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*[-–—:.=(|/]+\s*[^\W\d].*", re.DOTALL)
# `4/5`, `4 von 5`: a number and the highest one; `★★★★☆`.
OF_HIGHEST = re.compile(
    r"\s*(\d+(?:\.\d+)?)\s*(?:/|out\s+of|of|von|sur|su|de|z|из|／)\s*(\d+)\s*", re.IGNORECASE
)
STARS = re.compile(r"\s*((?:[★⭐]\ufe0f?)*)([☆✩]*)\s*")
# The beginnings of months in Czech, Dutch, English, French, German, Italian, Polish, Spanish.
MONTH = re.compile(
    r"^\s*\d{1,2}\.?[\s./-]*(?:jan|gen|led|sty|feb|f[ée]v|[úu]no|lut|m[aä]r|maa|mrt|mar|b[řr]e|apr|avr|"
    r"abr|dub|kwi|ma[iyjg]|kv[ěe]|jun|jui|giu|czn|čer|cze|jul|lug|aug|ao[uû]|ago|srp|sie|sep|set|"
    r"z[áa][řr]|wrz|o[ck]t|ott|[řr][íi]j|pa[źz]|nov|lis|de[czs]|d[ée]c|dic|pro|gru)\w{0,7}\.?"
    r"(?:[\s./-]*\d{2,4})?\s*$",
    re.IGNORECASE,
)
MOST_WORDS = 11
RANKS = ("rank", "ranks", "ranking", "rank_order", "Rang", "Rangfolge", "rango", "rang", "排名",
         "名次", "順位", "ранг", "순위")  # fmt: skip
PREFERENCES = ("preference", "preferred", "preferred_system", "winner", "better", "best", "choice",
               "chosen", "vote", "Präferenz", "préférence", "preferencia", "偏好")  # fmt: skip


def read_words(
    table: Table, column: str, report: Report, scale: tuple[float, float] | None = None
) -> None:
    """Replace the words of a column of scores by numbers: whole ones of a scale, or 1, 2, 3, …

    Their order is that of a known scale, or as stated; otherwise the column is an error.
    """
    title = table.titles.get(column, column)
    cells = [cell for cell in table.column(column) if not is_missing(cell)]
    stated = report.choice(title, WORDS)
    if not stated and (not cells or all(read_score(cell) is not None for cell in cells)):
        if cells and scale and is_called(title, RANKS):
            _refuse_ranks(table, column, report)
        return
    if not stated and _without_labels(table, column, cells, report, scale):
        return
    words = sorted({str(cell).strip() for cell in cells}, key=str.casefold)
    levels = _levels(stated) if stated else _known(words)
    are_words = all(any(map(str.isalpha, word)) for word in words)
    if not stated and not levels and not (are_words and 2 <= len(words) <= MOST_WORDS):
        return
    if not stated or levels:
        known = {word for level in levels for word in level}
        # All levels, so that reading again with this order reads the same numbers.
        order = [
            "|".join([w for w in words if w.casefold() in level] or level[:1]) for level in levels
        ]
        seen = report.files.get(printable(table.file))
        words_of = {**(seen.words if seen else {}), title: stated or " < ".join(order or words)}
        report.saw(table.file, words=words_of)
    if absent := [word for word in words if not levels or word.casefold() not in known]:
        refusal = message(
            "scores.words",
            "The scores are words: {words}. Enter their order from the worst to the best (command "
            "line: --column “(words)=bad < fair < good”; API: columns).",
            words=truncated(absent, MOST_WORDS),
        )
        report.error(refusal, table.head._replace(field=title))
        return
    numbers = {word: _number(n, len(levels), scale) for n, level in enumerate(levels)
               for word in level}  # fmt: skip
    for _, row in table.rows:
        if not is_missing(row.get(column)):
            row[column] = numbers[str(row[column]).strip().casefold()]
    text = message(
        "scores.words-read",
        "The scores are words. They were read as {numbers}. Change their order if it is wrong.",
        numbers=[f"{word} = {numbers[word.casefold()]}" for word in
                 sorted(words, key=lambda word: float(numbers[word.casefold()]))],
    )  # fmt: skip
    (report.note if stated else report.warn)(text, table.head._replace(field=title))


def _labelled(cell: object) -> tuple[str, str] | None:
    """Return the number of a cell that has more, and the highest one if the cell has it.

    >>> _labelled("5 - Excellent"), _labelled("4/5"), _labelled("★★★☆☆"), _labelled("4")
    (('5', ''), ('4', '5'), ('3', '5'), None)
    """
    text = str(cell)
    if match := LABELLED.fullmatch(text):
        return match[1], ""
    if match := OF_HIGHEST.fullmatch(text):
        return match[1], match[2]
    if text.strip() and (match := STARS.fullmatch(text)):
        n = len(match[1].replace("\ufe0f", ""))
        return str(n), str(n + len(match[2])) if match[2] else ""
    return None


def _without_labels(
    table: Table,
    column: str,
    cells: Sequence[object],
    report: Report,
    scale: tuple[float, float] | None,
) -> bool:
    """Take the labels off numbers, and return whether there are any and nothing else.

    Numbers with different highest ones are of several scales, or dates, and stay.
    """
    found = {str(cell): _labelled(cell) for cell in cells}
    if not any(found.values()) or not all(m or read_score(c) is not None for c, m in found.items()):
        return False
    numbers = [float(match[0]) if match else read_score(cell) or 0 for cell, match in found.items()]
    highest = {match[1] for match in found.values() if match and match[1]}
    if len(highest) > 1 or any(number > float(each) for number in numbers for each in highest):
        return False
    if date := next((cell for cell in found if MONTH.search(cell)), ""):
        refusal = message(
            "scores.dates",
            "“{text}” looks like a date: spreadsheets take numbers such as 1.4 for dates. Correct "
            "the column.",
            text=date.strip()[:60],
        )
        report.error(refusal, table.head._replace(field=table.titles.get(column, column)))
        return True
    for _, row in table.rows:
        if match := found.get(str(row.get(column))):
            row[column] = match[0]
    text, example = next((cell, match) for cell, match in found.items() if match)
    note = message(
        "scores.labels",
        "The scores are numbers with labels: “{text}” was read as {number}.",
        text=text.strip()[:60],
        number=example[0],
    )
    place = table.head._replace(field=table.titles.get(column, column))
    report.note(note, place)
    if scale and highest and float(*highest) != scale[1]:
        warning = message(
            "scores.other-highest",
            "The highest score is {highest}, but the scale ends at {end}. State the scale.",
            highest=next(iter(highest)),
            end=f"{scale[1]:g}",
        )
        report.warn(warning, place)
    return True


@lru_cache(maxsize=64)
def _levels(order: str) -> tuple[tuple[str, ...], ...]:
    """Return the words of each level of an order such as `bad < fair|ok < good`."""
    return tuple(
        tuple(word.strip().casefold() for word in level.split("|")) for level in order.split("<")
    )


def _known(words: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the scale of the fewest levels that has all of several words; none if none has."""
    folded = {word.casefold() for word in words}
    fitting = [levels for levels in map(_levels, SCALES) if folded <= {*chain(*levels)}]
    return min(fitting, key=len, default=())


def are_levels(cells: Iterable[object]) -> bool:
    """Return True for cells with the words of a known scale, or numbers with labels."""
    words = {str(cell).strip() for cell in cells if not is_missing(cell)}
    return bool(words) and (bool(_known(sorted(words))) or all(map(_labelled, words)))


def _number(level: int, n_levels: int, scale: tuple[float, float] | None) -> str:
    if scale is None:
        return str(level + 1)
    low, high = scale
    return f"{round(low + (high - low) * level / max(1, n_levels - 1), 2):g}"


def refuse_orders(tables: Sequence[Table], report: Report) -> bool:
    """Report a column of ranks or preferences in tables without scores; return if there is one."""
    for table in tables:
        for column in table.columns:
            title = table.titles.get(column, column)
            if is_called(title.rstrip("0123456789 _"), RANKS) or re.fullmatch(
                r"system\d+rank", title.casefold()
            ):
                _refuse_ranks(table, column, report)
                return True
            if is_called(title, PREFERENCES):
                refusal = message(
                    "scores.preferences",
                    "“{column}” says which of two outputs is better. Only scores can be imported. "
                    "Write a daRR file (columns LP, SID, BETTER and WORSE, separated by blanks), "
                    "and use it with: metaeval correlate --ranks FILE.",
                    column=title,
                )
                report.error(refusal, table.head._replace(field=title))
                return True
    return False


def _refuse_ranks(table: Table, column: str, report: Report) -> None:
    title = table.titles.get(column, column)
    refusal = message(
        "scores.ranks",
        "“{column}” has ranks, and only scores can be imported. To store ranks as scores, choose "
        "the column as the score and enter the order from the worst to the best (command line: "
        "--column “{column}=score” --column “(words)=5 < 4 < 3 < 2 < 1”). To keep the comparisons, "
        "write a daRR file (columns LP, SID, BETTER and WORSE, separated by blanks), and use it "
        "with: metaeval correlate --ranks FILE.",
        column=title,
    )
    report.error(refusal, table.head._replace(field=title))
