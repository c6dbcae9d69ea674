"""Checkpoints of others, with random weights in their genuine formats."""

from pathlib import Path

from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    M2M100Config,
    M2M100ForConditionalGeneration,
    MBart50Tokenizer,
    MBartConfig,
    MBartForConditionalGeneration,
    NllbTokenizer,
    T5Config,
    T5ForConditionalGeneration,
    T5Tokenizer,
)

from benchmarks.gpu import small
from training.translation.learning import vocabulary

SIZES = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
         "decoder_attention_heads": 2, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16}  # fmt: skip
TEXTS = ["the boat leaves the harbour", "ein Boot im Hafen", "我喜欢生物学"] * 5


def sentence_pieces(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "spm.model"
    path.write_bytes(vocabulary.train(TEXTS, "unigram", 60).model)
    return path


def mbart(folder: Path) -> None:
    tokenizer = MBart50Tokenizer(str(sentence_pieces(folder)), src_lang="en_XX")
    tokenizer.save_pretrained(folder)
    config = MBartConfig(vocab_size=len(tokenizer) + 5, decoder_start_token_id=2, **SIZES)
    MBartForConditionalGeneration(config).save_pretrained(folder)


def nllb(folder: Path) -> None:
    tokenizer = NllbTokenizer(str(sentence_pieces(folder)), src_lang="eng_Latn")
    tokenizer.save_pretrained(folder)
    config = M2M100Config(vocab_size=len(tokenizer) + 5, decoder_start_token_id=2, **SIZES)
    M2M100ForConditionalGeneration(config).save_pretrained(folder)


def t5(folder: Path) -> None:
    tokenizer = T5Tokenizer(str(sentence_pieces(folder)), extra_ids=0)
    tokenizer.save_pretrained(folder)
    config = T5Config(vocab_size=len(tokenizer) + 3, d_model=16, d_ff=16, num_layers=1, num_heads=2,
                      d_kv=8, decoder_start_token_id=0)  # fmt: skip
    config.task_specific_params = {
        "translation_en_to_de": {"prefix": "translate English to German: "}
    }
    T5ForConditionalGeneration(config).save_pretrained(folder)


def gpt2(folder: Path) -> None:
    small.gpt2(folder, TEXTS)
    config = GPT2Config.from_pretrained(folder, n_positions=512)
    GPT2LMHeadModel(config).save_pretrained(folder)


KINDS = {"mbart": mbart, "nllb": nllb, "t5": t5, "gpt2": gpt2}
