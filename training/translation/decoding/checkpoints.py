"""Load any checkpoint with a decoder; its limits, allowed tokens and ends of outputs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from langcodes import Language
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
)

from core.languages import display_name
from extensions.neural.encoding.encoders import best_device, require_weights
from metaeval.messages import Message, message, truncated
from metaeval.reasons import reason_of
from metrics.base import MetricError
from metrics.checkpoints import places
from training.contract import JobError
from training.translation.learning import marian, vocabulary
from training.translation.learning.vocabulary import length_token
from training.translation.options import LENGTH_TOKEN, PLAIN
from training.translation.requests import no_decoder, not_loaded

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
        missing = [code for code, own in zip((source, target), found, strict=True) if own is None]
        if missing:
            raise JobError(_unknown(name, missing[0], codes))
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


# The limit if neither tokenizer nor configuration has one.
LONGEST = 512


@dataclass
class Checkpoint:
    """A model with its tokenizer for one pair of languages; `weights` are its fingerprint.

    `prefix` are the tokens before an output, for models with an encoder.
    """

    name: str
    model: Any
    tokenizer: Any
    weights: str = ""
    template: str = "{text}"
    prefix: tuple[int, ...] = ()
    control: dict[str, Any] = field(default_factory=lambda: dict(marian.NO_CONTROL))

    @property
    def is_causal(self) -> bool:
        """Return True if it continues a prompt."""
        return not self.model.config.is_encoder_decoder

    @property
    def device(self) -> Any:
        """Return the device of the model."""
        return self.model.device

    @property
    def has_control(self) -> bool:
        """Return True if it was trained with a length control."""
        return bool(self.control["control"] != PLAIN)

    @property
    def preprocessing(self) -> str:
        """Return what is done to texts before they become pieces, with its version, or nothing."""
        is_moses = isinstance(self.tokenizer, vocabulary.MosesMarianTokenizer)
        return f"sacremoses-{version('sacremoses')}" if is_moses else ""

    @cached_property
    def limit(self) -> int:
        """Return the maximum pieces of a source and of an output."""
        config = self.model.config
        names = ("max_position_embeddings", "n_positions", "max_source_positions")
        known = [getattr(config, name, None) for name in names]
        known += [min(self.tokenizer.model_max_length, 10**6)]
        return min([LONGEST, *(int(n) for n in known if n)])

    @cached_property
    def tokens(self) -> list[str]:
        """Return all tokens as text; the mark of the start of a word becomes a space."""
        n = self.model.get_output_embeddings().weight.shape[0]
        names = [str(x) for x in self.tokenizer.convert_ids_to_tokens(range(len(self.tokenizer)))]
        if any(name.startswith("Ġ") for name in names):
            names = [self.tokenizer.convert_tokens_to_string([name]) for name in names]
        return [name.replace("▁", " ") for name in names[:n]] + [""] * (n - len(names))

    @cached_property
    def ends(self) -> list[int]:
        """Return the tokens that end an output; for a causal model, a line break, too."""
        configured = self.model.config.eos_token_id
        ends = {
            *(configured if isinstance(configured, list) else [configured]),
            self.tokenizer.eos_token_id,
        }
        known = {end for end in ends if end is not None and end < len(self.tokens)}
        lines = [n for n, token in enumerate(self.tokens) if self.is_causal and _is_line(token)]
        return sorted({*known, *lines})

    @property
    def end(self) -> int:
        """Return the end token of the tokenizer."""
        found = self.tokenizer.eos_token_id
        return int(found) if found in self.ends else self.ends[0]

    @cached_property
    def banned(self) -> list[int]:
        """Return the tokens that no output may contain: special ones, and beyond the vocabulary."""
        n_tokens = len(self.tokens)
        special = {n for n in self.tokenizer.all_special_ids if n is not None and n < n_tokens}
        beyond = range(len(self.tokenizer), len(self.tokens))
        lines = {n for n, token in enumerate(self.tokens) if self.is_causal and "\n" in token}
        return sorted({*special, *beyond, *lines} - set(self.ends))

    @property
    def padding(self) -> int:
        """Return the token that pads a batch."""
        found = self.tokenizer.pad_token_id
        return self.end if found is None else int(found)

    def read(self, text: str) -> list[int]:
        """Return the pieces of a source, or of the prompt with it."""
        ids: list[int] = self.tokenizer(self.template.format(text=text)).input_ids
        return ids

    def pieces(self, text: str) -> list[int]:
        """Return the pieces of a text in the target language."""
        ids: list[int] = self.tokenizer(text_target=text, add_special_tokens=False).input_ids
        return ids

    def source_pieces(self, text: str) -> list[int]:
        """Return the pieces of a source without the text around it."""
        ids: list[int] = self.tokenizer(text, add_special_tokens=False).input_ids
        return ids

    def write(self, ids: list[int]) -> str:
        """Return the text of an output's pieces."""
        return str(self.tokenizer.decode(ids, skip_special_tokens=True)).strip()

    def length_token(self, length: int) -> int:
        """Return the token that asks for a length."""
        return int(self.tokenizer.convert_tokens_to_ids(length_token(length)))


def load(name: str, source: str, target: str, device: str = "") -> Checkpoint:
    """Load a checkpoint for a pair of languages; JobError says why it cannot translate."""
    try:
        folder = Path(places.find(name))
        places.check(name, folder)
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
        # Refuse BERT and similar models, which would load as untrained decoders.
        written = " ".join(config.architectures or ())
        writes = any(part in written for part in ("CausalLM", "LMHead", "Marian", "ForConditional"))
        if not (config.is_encoder_decoder or writes):
            raise JobError(no_decoder(name))
        tokenizer, model = _tokenizer(folder, config), _model(folder, config)
    except MetricError as error:
        raise JobError(error.message) from error
    except (OSError, ValueError, RuntimeError, KeyError, TypeError, ImportError) as error:
        raise JobError(not_loaded(name, reason_of(error))) from error
    model.to(device or best_device()).eval()
    found = Checkpoint(name, model, tokenizer, places.fingerprint(folder))
    if found.is_causal:
        return replace(found, template=prompt(source, target))
    rules = formatting(name, tokenizer, config, source, target)
    if rules.source:
        tokenizer.src_lang, tokenizer.tgt_lang = rules.source, rules.target
    return replace(
        found,
        template=rules.template,
        prefix=_prefix(config, rules.first),
        control=marian.control_of(config),
    )


def _prefix(config: Any, first: int | None) -> tuple[int, ...]:
    start = config.decoder_start_token_id
    return (start,) if first is None else (start, first)


def _tokenizer(folder: Path, config: Any) -> Any:
    if config.model_type == "marian":
        return vocabulary.load(folder)
    read: Any = AutoTokenizer.from_pretrained
    return read(folder, local_files_only=True)


def _model(folder: Path, config: Any) -> Any:
    if config.model_type == "marian":
        return marian.load(folder, config)
    kind: Any = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
    model, report = kind.from_pretrained(
        folder, config=config, local_files_only=True, weights_only=True, output_loading_info=True
    )
    require_weights(folder.name, model, report["missing_keys"])
    return model


def _is_line(token: str) -> bool:
    return "\n" in token and not token.strip()


def has_length_tokens(checkpoint: Checkpoint) -> bool:
    """Return True if the first token of an output is its length."""
    return bool(checkpoint.control["control"] == LENGTH_TOKEN)


def no_gradients() -> Any:
    """Return the context of every pass of a finished model."""
    return torch.inference_mode()
