"""How checkpoints are told the languages: by tokens, by a task in words, or not at all.

No torch: tokenizers are asked for what they know.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from langcodes import Language

from core.languages import display_name
from training.contract import JobError


@dataclass(frozen=True)
class Told:
    """What stands around a source, and the token that begins an output, where there is one.

    `source` and `target` are the codes by which the tokenizer knows the languages.
    """

    template: str = "{text}"
    source: str = ""
    target: str = ""
    first: int | None = None


def tell(name: str, tokenizer: Any, config: Any, source: str, target: str) -> Told:
    """Return how a checkpoint with an encoder is told a pair; JobError where it knows it not."""
    codes = _codes(tokenizer)
    if codes:
        found = [_find(codes, language) for language in (source, target)]
        _require(name, source, target, found, codes)
        return Told(source=str(found[0]), target=str(found[1]), first=codes[str(found[1])])
    if config.model_type in ("t5", "mt5", "umt5"):
        return Told(_task(name, config, source, target))
    if config.model_type == "marian":
        return _of_marian(name, tokenizer, source, target)
    return Told()


def prompt(source: str, target: str) -> str:
    """Return the prompt of a causal model; the output is the rest of the line."""
    left, right = display_name(source), display_name(target)
    return f"Translate from {left} to {right}.\n{left}: {{text}}\n{right}:"


def _codes(tokenizer: Any) -> dict[str, int]:
    """The language tokens of mBART, M2M-100 and NLLB by the code that their tokenizers take."""
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
    """The code of a language: `zh`, `zh_CN` or `zho_Hans`."""
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
        some = ", ".join(sorted(codes)[:8])
        raise JobError(f"{name} does not know the language {missing[0]}; it knows {some}, …")


def _task(name: str, config: Any, source: str, target: str) -> str:
    """T5 is told in English what to do; which pairs it has learned stands in its configuration."""
    tasks = {key: value.get("prefix", "") for key, value in
             (config.task_specific_params or {}).items()}  # fmt: skip
    two = [Language.get(language).language or language for language in (source, target)]
    prefix = tasks.get(f"translation_{two[0]}_to_{two[1]}")
    if prefix is None and tasks:
        known = ", ".join(key.removeprefix("translation_") for key in sorted(tasks))
        raise JobError(f"{name} does not know the pair {source}-{target}; its tasks are {known}.")
    names = f"translate {display_name(source)} to {display_name(target)}: "
    return (prefix or names) + "{text}"


def _of_marian(name: str, tokenizer: Any, source: str, target: str) -> Told:
    """A token before the source names the target where a model has several."""
    targets = [piece for piece in tokenizer.get_vocab() if _is_target(piece)]
    if not targets:
        _check_pair(name, tokenizer, source, target)
        return Told()
    found = _find([piece[2:-2] for piece in targets], target)
    if found is None:
        some = ", ".join(sorted(targets)[:8])
        raise JobError(f"{name} does not know the language {target}; it knows {some}, …")
    return Told(f">>{found}<< {{text}}")


def _is_target(piece: str) -> bool:
    return piece.startswith(">>") and piece.endswith("<<") and len(piece) > 4


def _check_pair(name: str, tokenizer: Any, source: str, target: str) -> None:
    """Refuse another pair than the tokenizer's, where its languages are known."""
    own = (getattr(tokenizer, "source_lang", None), getattr(tokenizer, "target_lang", None))
    if not all(own):
        return
    if [_short(code) for code in own] != [_short(code) for code in (source, target)]:
        raise JobError(f"{name} does not know the pair {source}-{target}; it has learned "
                       f"{own[0]}-{own[1]}.")  # fmt: skip


def _short(code: Any) -> str:
    """`en` of `eng`, `en-GB` and `en`."""
    return Language.get(str(code).replace("_", "-")).language or str(code)
