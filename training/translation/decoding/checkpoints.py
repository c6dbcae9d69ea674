"""Load any checkpoint with a decoder; its limits, allowed tokens and ends of outputs."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
)

from extensions.neural.encoding.encoders import best_device, require_weights
from metaeval.reasons import reason_of
from metrics.base import MetricError
from metrics.checkpoints import places
from training.contract import JobError
from training.translation.decoding import languages
from training.translation.models import marian, vocabulary
from training.translation.models.vocabulary import length_token
from training.translation.options import LENGTH_TOKEN, PLAIN
from training.translation.requests import no_decoder, not_loaded

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
        _require_decoder(name, config)
        tokenizer, model = _tokenizer(folder, config), _model(folder, config)
    except MetricError as error:
        raise JobError(error.message) from error
    except (OSError, ValueError, RuntimeError, KeyError, TypeError, ImportError) as error:
        raise JobError(not_loaded(name, reason_of(error))) from error
    model.to(device or best_device()).eval()
    found = Checkpoint(name, model, tokenizer, places.fingerprint(folder))
    if found.is_causal:
        return replace(found, template=languages.prompt(source, target))
    formatting = languages.formatting(name, tokenizer, config, source, target)
    if formatting.source:
        tokenizer.src_lang, tokenizer.tgt_lang = formatting.source, formatting.target
    return replace(
        found,
        template=formatting.template,
        prefix=_prefix(config, formatting.first),
        control=marian.control_of(config),
    )


def _require_decoder(name: str, config: Any) -> None:
    """Refuse BERT and similar models, which would load as untrained decoders."""
    written = " ".join(config.architectures or ())
    writes = any(part in written for part in ("CausalLM", "LMHead", "Marian", "ForConditional"))
    if not (config.is_encoder_decoder or writes):
        raise JobError(no_decoder(name))


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
