"""The rule of ReFreeEval's published code, which differs from its paper (`docs/refreeeval.md`)."""

import random


def by_release(text: str, language: str, k: int, rng: random.Random) -> list[str]:
    """One independent draw a text; languages play no part.

    Text of one token gives none (the code repeated the line before it).
    """
    drawn = [_released(text, rng) for _ in range(k)]
    return [each for each in drawn if each is not None]


def _released(text: str, rng: random.Random) -> str | None:
    if text.count(",") < 2:
        return _rotation(text, rng)
    if "，" in text:
        plain = text.strip().replace("。 」", " 」")
        parts = _cut(plain, "。：", "，")
        return None if parts is None else "，".join(_reordered(parts, rng)) + "。"
    stop = next((mark for mark in ("。", ".") if f" {mark}" in text), "")
    parts = _cut(text, ".:。：", ",")
    if parts is None:
        return None
    return ("," if stop else ", ").join(_reordered(parts, rng)) + stop


def _rotation(text: str, rng: random.Random) -> str | None:
    stop = next((mark for mark in (" 。", " .") if mark in text), "")
    units = (text.replace(stop, "") if stop else text).split(" ")
    if len(units) == 1:
        return None
    cut = rng.randint(1, len(units) - 1)
    return " ".join(units[cut:] + units[:cut]) + stop


def _cut(text: str, marks: str, comma: str) -> list[str] | None:
    """Cut at a comma and what counts as one; None where no other order exists."""
    parts = text.translate({ord(mark): comma for mark in marks}).split(comma)
    parts = parts if parts[-1] else parts[:-1]
    return parts if len(set(parts)) > 1 else None


def _reordered(parts: list[str], rng: random.Random) -> list[str]:
    """Shuffle until the order differs."""
    order = list(parts)
    while order == parts:
        rng.shuffle(order)
    return order
