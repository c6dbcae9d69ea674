"""Pass languages to checkpoints: as tokens, as a task in English, or not at all.

Imports no torch: tokenizers give the languages that they support.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from langcodes import Language

from core.languages import display_name
from metaeval.messages import Message, message, truncated
from training.contract import JobError

SHOWN = 8


@dataclass(frozen=True)
class Formatting:
    """The text around a source, and the token that begins an output, if any.

    `source` and `target` are the codes of the languages in the tokenizer.
    """

    template: str = "{text}"
    source: str = ""
    target: str = ""
    first: int | None = None


def formatting(name: str, tokenizer: Any, config: Any, source: str, target: str) -> Formatting:
    """Return how a checkpoint with an encoder takes a pair; JobError if it does not support it."""
    codes = _codes(tokenizer)
    if codes:
        found = [_find(codes, language) for language in (source, target)]
        _require(name, source, target, found, codes)
        return Formatting(source=str(found[0]), target=str(found[1]), first=codes[str(found[1])])
    if config.model_type in ("t5", "mt5", "umt5"):
        return Formatting(_task(name, config, source, target))
    if config.model_type == "marian":
        return _of_marian(name, tokenizer, source, target)
    return Formatting()


def prompt(source: str, target: str) -> str:
    """Return the prompt of a causal model; the output is the rest of the line."""
    left, right = display_name(source), display_name(target)
    return f"Translate from {left} to {right}.\n{left}: {{text}}\n{right}:"


def _codes(tokenizer: Any) -> dict[str, int]:
    """Return the language tokens of mBART, M2M-100 and NLLB by the code of their tokenizers."""
    known: Mapping[str, int] = getattr(tokenizer, "lang_code_to_id", None) or {}
    if known:
        return dict(known)
    if getattr(tokenizer, "src_lang", None) is None or tokenizer.__class__.__name__.startswith(
        "Marian"
    ):
        return {}
    special = tokenizer.additional_special_tokens
    return {code: tokenizer.convert_tokens_to_ids(code) for code in special}


def _find(codes: Iterable[str], language: str) -> str | None:
    """Return the code of a language: `zh`, `zh_CN` or `zho_Hans`; None if it is missing."""
    wanted = Language.get(language).maximize()
    two, three = wanted.language or "", wanted.to_alpha3() if wanted.language else ""
    names = (language, language.replace("-", "_"), f"{two}_{wanted.territory}",
             f"{three}_{wanted.script}", two, three, f"{two}_XX")  # fmt: skip
    return next((name for name in names if name in codes), None)


def _require(
    name: str, source: str, target: str, found: Iterable[str | None], codes: Iterable[str]
) -> None:
    missing = [code for code, own in zip((source, target), found, strict=True) if own is None]
    if missing:
        raise JobError(_unknown(name, missing[0], codes))


def _task(name: str, config: Any, source: str, target: str) -> str:
    """Return the English instruction for T5; its configuration lists the pairs that it learned."""
    tasks = {key: value.get("prefix", "") for key, value in
             (config.task_specific_params or {}).items()}  # fmt: skip
    two = [Language.get(language).language or language for language in (source, target)]
    prefix = tasks.get(f"translation_{two[0]}_to_{two[1]}")
    if prefix is None and tasks:
        known = [key.removeprefix("translation_") for key in sorted(tasks)]
        raise JobError(
            message(
                "translation.unknown-task",
                "{model} does not support the pair {pair}. Its tasks are: {tasks}.",
                model=name,
                pair=f"{source}-{target}",
                tasks=known,
            )
        )
    names = f"translate {display_name(source)} to {display_name(target)}: "
    return (prefix or names) + "{text}"


def _of_marian(name: str, tokenizer: Any, source: str, target: str) -> Formatting:
    """Put a token for the target before the source if a model has several targets."""
    targets = [piece for piece in tokenizer.get_vocab() if _is_target(piece)]
    if not targets:
        _check_pair(name, tokenizer, source, target)
        return Formatting()
    found = _find([piece[2:-2] for piece in targets], target)
    if found is None:
        raise JobError(_unknown(name, target, targets))
    return Formatting(f">>{found}<< {{text}}")


def _unknown(name: str, language: str, codes: Iterable[str]) -> Message:
    return message(
        "translation.unknown-language",
        "{model} does not support the language {language}. It supports: {languages}.",
        model=name,
        language=language,
        languages=truncated(sorted(codes), SHOWN),
    )


def _is_target(piece: str) -> bool:
    return piece.startswith(">>") and piece.endswith("<<") and len(piece) > 4


def _check_pair(name: str, tokenizer: Any, source: str, target: str) -> None:
    """Refuse another pair than that of the tokenizer, if its languages are known."""
    own = (getattr(tokenizer, "source_lang", None), getattr(tokenizer, "target_lang", None))
    if not all(own):
        return
    if [_short(code) for code in own] != [_short(code) for code in (source, target)]:
        raise JobError(
            message(
                "translation.unknown-pair",
                "{model} does not support the pair {pair}. It supports: {own}.",
                model=name,
                pair=f"{source}-{target}",
                own=f"{own[0]}-{own[1]}",
            )
        )


def _short(code: Any) -> str:
    """Return `en` for `eng`, `en-GB` and `en`."""
    return Language.get(str(code).replace("_", "-")).language or str(code)
