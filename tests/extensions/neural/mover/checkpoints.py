"""Small checkpoints with random weights in genuine formats that only these families need."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import ByteLevelBPETokenizer
from transformers import (
    DistilBertConfig,
    DistilBertModel,
    DistilBertTokenizer,
    GPT2Config,
    GPT2LMHeadModel,
    GPT2Tokenizer,
)


def gpt2(folder: Path, texts: Sequence[str], positions: int = 48, **sizes: float) -> Path:
    """gpt2's format: byte-level BPE, no token but the end of a text."""
    folder.mkdir(parents=True)
    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(texts, vocab_size=300, special_tokens=["<|endoftext|>"])
    trained.save_model(str(folder))
    files = str(folder / "vocab.json"), str(folder / "merges.txt")
    GPT2Tokenizer(*files, model_max_length=positions).save_pretrained(folder)
    torch.manual_seed(11)
    usual: dict[str, Any] = {"n_embd": 32, "n_layer": 2, "n_head": 4, "initializer_range": 0.5}
    config = GPT2Config(
        vocab_size=trained.get_vocab_size(), n_positions=positions, **{**usual, **sizes}
    )
    GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


def distilbert(folder: Path, texts: Sequence[str], layers: int = 3) -> Path:
    """distilbert-base-uncased's format: WordPiece, lower case."""
    folder.mkdir(parents=True)
    characters = sorted({each for text in texts for each in text.lower() if each.strip()})
    words = sorted({word for text in texts for word in text.lower().split() if word.isalpha()})
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *characters]
    vocabulary += [f"##{each}" for each in characters]
    vocabulary += [word for word in words if len(word) > 1]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    tokenizer = DistilBertTokenizer(str(folder / "vocab.txt"), model_max_length=64)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(12)
    config = DistilBertConfig(
        vocab_size=len(vocabulary),
        n_layers=layers,
        dim=32,
        hidden_dim=64,
        n_heads=4,
        max_position_embeddings=64,
    )
    DistilBertModel(config).save_pretrained(folder)
    return folder
