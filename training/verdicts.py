"""What a training learned and whether to use it, in three sentences, from its result."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from metaeval.messages import Message, message

Json = Mapping[str, Any]
UNDETERMINED = "remap.underdetermined"
Z_95 = 1.96


@dataclass(frozen=True)
class Verdict:
    """What was learned, how well it does on held-out texts, and what to do with it.

    `use` is None if the result does not decide it.
    """

    use: bool | None
    sentences: tuple[Message, ...]


def verdict_of(kind: str, options: Json, result: Json, warnings: list[Message]) -> Verdict | None:
    """Return the verdict of a result; None for other kinds, and for an incomplete result."""
    if kind not in VERDICTS:
        return None
    try:
        use, *sentences = VERDICTS[kind](options, result, {each.code for each in warnings})
    except (KeyError, TypeError, ValueError):
        return None  # the result of an earlier version
    return Verdict(use, tuple(sentences))


def _encoder(options: Json, result: Json, codes: set[str]) -> tuple[Any, ...]:
    held = result["held_out"]
    learned = message(
        "verdict.encoder",
        "{encoder} was trained on {n} pairs to distinguish translations from degraded versions.",
        encoder=result["encoder"]["name"],
        n=result["data"]["train"],
    )
    measured = message(
        "verdict.encoder-held-out",
        "It finds the translation of {trained:percent} of {n} held-out texts, and of "
        "{untrained:percent} before the training.",
        **{name: held[name] for name in ("n", "trained", "untrained")},
    )
    return _gain(held, message("verdict.untrained", "the untrained encoder"), learned, measured)


def _distilled(options: Json, result: Json, codes: set[str]) -> tuple[Any, ...]:
    held = result["held_out"]
    into, back = held["into_other"], held["from_other"]
    learned = message(
        "verdict.distilled",
        "{encoder} was trained on {n} pairs to give both texts the vector of {teacher}.",
        encoder=result["encoder"]["name"],
        n=result["data"]["train"],
        teacher=result["teacher"]["name"],
    )
    measured = message(
        "verdict.distilled-held-out",
        "Among {n} held-out pairs the translation has the nearest vector for {into:percent} of the "
        "texts in the teacher’s language ({into_before:percent} before the training), and for "
        "{back:percent} ({back_before:percent} before) of the others.",
        n=held["n"],
        into=into["trained"],
        into_before=into["untrained"],
        back=back["trained"],
        back_before=back["untrained"],
    )
    weaker = min(into, back, key=lambda gain: gain.get("low") or 0.0)
    return _gain(weaker, message("verdict.untrained", "the untrained encoder"), learned, measured)


def _head(options: Json, result: Json, codes: set[str]) -> tuple[Any, ...]:
    found = result["held_out"]["pearson"]
    learned = message(
        "verdict.head",
        "A head on {encoder} was fitted to the human scores of {n} outputs of {campaign}.",
        encoder=options["encoder"],
        n=result["n_train"],
        campaign=options["campaign"],
    )
    measured = message(
        "verdict.head-held-out",
        "On {n} held-out outputs its r is {head:r}, and that of F1 alone is {f:r}.",
        n=result["n_held_out"],
        head=found["head"]["value"],
        f=found["unsupervised"]["value"],
    )
    return _gain(found["gain"], message("verdict.f1", "F1 alone"), learned, measured)


def _gain(gain: Json, other: Message, *before: Message) -> tuple[Any, ...]:
    """Judge a gain over something simpler by its 95% interval."""
    low, high = gain.get("low"), gain.get("high")
    if low is None or high is None:
        text = message(
            "verdict.uncertain",
            "Do not rely on it: there are too few held-out texts for an interval of its gain over "
            "{other}.",
            other=other,
        )
        return None, *before, text
    ends = {"other": other, "low": low, "high": high}
    if low > 0:
        text = message(
            "verdict.better",
            "Use it: it is better than {other} (95% interval of the gain: {low:r} to {high:r}).",
            **ends,
        )
    elif high < 0:
        text = message(
            "verdict.worse",
            "Do not use it: it is worse than {other} (95% interval of the gain: {low:r} to "
            "{high:r}).",
            **ends,
        )
    else:
        text = message(
            "verdict.no-gain",
            "Do not use it yet: it cannot be distinguished from {other} (95% interval of the gain: "
            "{low:r} to {high:r}). Train on more data.",
            **ends,
        )
    return low > 0, *before, text


READS = {
    "lengths": message("verdict.reads-lengths", "lengths"),
    "source": message("verdict.reads-source", "the source alone"),
    "output": message("verdict.reads-output", "the output alone"),
}


def _sentinel(options: Json, result: Json, codes: set[str]) -> tuple[Any, ...]:
    found = result["held_out"]["pearson"]["sentinel"]
    reads = READS[options["reads"]]
    low, high = found.get("low"), found.get("high")
    learned = message(
        "verdict.sentinel",
        "It predicts the human scores of {campaign} from {reads}.",
        campaign=options["campaign"],
        reads=reads,
    )
    measured = message(
        "verdict.sentinel-held-out",
        "On {n} outputs, each predicted without its source text, its r is {value:r}.",
        n=result["n_outputs"],
        value=found["value"],
    )
    if low is None or high is None:
        few = message(
            "verdict.sentinel-uncertain",
            "Do not rely on it: there are too few source texts for an interval.",
        )
        return None, learned, measured, few
    ends = {"low": low, "high": high, "reads": reads}
    if low > 0:
        text = message(
            "verdict.sentinel-baseline",
            "Use it as a baseline (95% interval: {low:r} to {high:r}): a metric that is not better "
            "may have learned no more than {reads}.",
            **ends,
        )
    else:
        text = message(
            "verdict.sentinel-nothing",
            "You do not need it as a baseline: it predicts nothing here (95% interval: {low:r} to "
            "{high:r}).",
            **ends,
        )
    return low > 0, learned, measured, text


def _projection(options: Json, result: Json, codes: set[str]) -> tuple[Any, ...]:
    learned = message(
        "verdict.projection",
        "A projection of layer {layer} of {encoder} was fitted to {n} pairs of vectors.",
        layer=result["layer"],
        encoder=result["encoder"]["name"],
        n=result["pairs_of_vectors"],
    )
    held = result["held_out"]
    if not held:
        nothing = message(
            "verdict.projection-unmeasured",
            "Do not rely on it: no text was left to measure it on. Use more text.",
        )
        return None, learned, nothing
    before, after = held["before"]["found"], held["after"]["found"]
    measured = message(
        "verdict.projection-held-out",
        "With it, {after:percent} of held-out vectors have the right one nearest, and "
        "{before:percent} without it.",
        before=before,
        after=after,
    )
    if UNDETERMINED in codes:
        text = message(
            "verdict.projection-undetermined",
            "Do not use it: there is too little text to determine it.",
        )
        return False, learned, measured, text
    # As of independent shares: too wide, because both are of the same vectors.
    variance = (before * (1 - before) + after * (1 - after)) / held["after"]["compared"]
    margin = Z_95 * math.sqrt(variance)
    gain = {"low": after - before - margin, "high": after - before + margin}
    return _gain(gain, message("verdict.unmapped", "the encoder alone"), learned, measured)


def _pair_curve(options: Json, result: Json, codes: set[str]) -> tuple[Any, ...]:
    rows = result["correlations"]
    none, largest = rows[0], max(row["pairs"] for row in rows)
    best = max((row for row in rows if row["pairs"] == largest), key=lambda row: row["r"])
    learned = message(
        "verdict.pair-curve",
        "XMoverScore on layer {layer} of {encoder} scored {n} outputs of {campaign}, with "
        "projections fitted to up to {pairs} sentence pairs.",
        layer=result["layer"],
        encoder=result["encoder"]["name"],
        n=result["human"]["outputs"],
        campaign=options["campaign"],
        pairs=largest,
    )
    measured = message(
        "verdict.pair-curve-measured",
        "Its r with the human scores is {none:r} without a projection, and {value:r} with "
        "{projection} fitted to all of them.",
        none=none["r"],
        value=best["r"],
        projection=best["projection"],
    )
    gain = {"low": best["gain_low"], "high": best["gain_high"]}
    return _gain(gain, message("verdict.unmapped", "the encoder alone"), learned, measured)


def _translation(options: Json, result: Json, codes: set[str]) -> tuple[Any, ...]:
    best, held = result["updates_of_kept_weights"], result["held_out"]
    learned = message(
        "verdict.translation",
        "A model for {languages} was trained in {n} updates.",
        languages=result["languages"],
        n=result["updates"],
    )
    measured = message(
        "verdict.translation-held-out",
        "On held-out text its chrF is {chrf:.1f}, and its outputs deviate from the length of the "
        "reference by {length:percent} on average.",
        chrf=held["chrf"],
        length=held["length_error"],
    )
    if best == result["updates"]:
        text = message(
            "verdict.translation-longer",
            "Train it longer before you use it: its loss on held-out text was still falling.",
        )
        return False, learned, measured, text
    text = message(
        "verdict.translation-read",
        "Read some of its outputs before you use it: its loss on held-out text was lowest after "
        "{best} updates, so longer training does not help.",
        best=best,
    )
    return None, learned, measured, text


VERDICTS: dict[str, Callable[[Json, Json, set[str]], tuple[Any, ...]]] = {
    "distillation": _distilled,
    "head": _head,
    "mt": _translation,
    "pair-curve": _pair_curve,
    "refreeeval": _encoder,
    "remap": _projection,
    "sentinel": _sentinel,
}
