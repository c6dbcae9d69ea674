"""Small checkpoints with random weights in the genuine formats, for tests and measurements."""

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import sentencepiece
import torch
import yaml
from tokenizers import ByteLevelBPETokenizer
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    BartModel,
    BartTokenizer,
    BertConfig,
    BertModel,
    BertTokenizer,
    DebertaConfig,
    DebertaModel,
    DebertaTokenizer,
    DistilBertConfig,
    DistilBertModel,
    DistilBertTokenizer,
    GPT2Config,
    GPT2LMHeadModel,
    GPT2Model,
    GPT2Tokenizer,
    MT5Config,
    MT5ForConditionalGeneration,
    RemBertConfig,
    RemBertTokenizer,
    RobertaConfig,
    RobertaModel,
    RobertaTokenizer,
    XLMRobertaConfig,
    XLMRobertaModel,
    XLMRobertaTokenizer,
    XLMRobertaXLConfig,
)

HEAD = ("hidden_sizes", "activations", "loss")
SIZES = {"hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 64}


def bert(
    folder: Path, texts: Sequence[str], layers: int = 3, positions: int = 64, **sizes: float
) -> Path:
    """Multilingual BERT's format: WordPiece over characters and frequent words."""
    vocabulary = _word_pieces(folder, texts)
    tokenizer = BertTokenizer(
        str(folder / "vocab.txt"), do_lower_case=False, model_max_length=positions
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=vocabulary,
        num_hidden_layers=layers,
        max_position_embeddings=positions,
        **{**SIZES, **sizes},
    )
    BertModel(config).save_pretrained(folder)
    return folder


def roberta(folder: Path, texts: Sequence[str]) -> Path:
    """roberta-large-mnli's format: byte-level BPE, a prefix space in the slow tokenizer."""
    size = _byte_pairs(folder, texts)
    RobertaTokenizer(*_bpe(folder), model_max_length=64).save_pretrained(folder)
    torch.manual_seed(2)
    config = RobertaConfig(
        vocab_size=size, num_hidden_layers=3, max_position_embeddings=70, pad_token_id=1, **SIZES
    )
    RobertaModel(config).save_pretrained(folder)
    return folder


def bart(folder: Path, texts: Sequence[str], positions: int = 64, **sizes: float) -> Path:
    """bart-large-mnli's format: an encoder and a decoder, of which the encoder counts."""
    size = _byte_pairs(folder, texts)
    BartTokenizer(*_bpe(folder), model_max_length=positions).save_pretrained(folder)
    torch.manual_seed(3)
    usual: dict[str, Any] = {"d_model": 32, "encoder_layers": 3, "decoder_layers": 2}
    for part in ("encoder", "decoder"):
        usual |= {f"{part}_attention_heads": 4, f"{part}_ffn_dim": 64}
    config = BartConfig(
        vocab_size=size, max_position_embeddings=positions + 6, **{**usual, **sizes}
    )
    BartModel(config).save_pretrained(folder)
    return folder


def bart_with_head(
    folder: Path, texts: Sequence[str], spread: float = 0.5, positions: int = 64, **sizes: float
) -> Path:
    """bart-large-cnn's format: the same with the head that writes."""
    bart(folder, texts, positions, **sizes)
    torch.manual_seed(3)
    config = BartConfig.from_pretrained(folder, decoder_start_token_id=2, init_std=spread)
    BartForConditionalGeneration(config).save_pretrained(folder)
    return folder


def deberta(folder: Path, texts: Sequence[str]) -> Path:
    """deberta-xlarge-mnli's format: byte-level BPE, disentangled attention."""
    size = _byte_pairs(folder, texts, special=("[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]"))
    DebertaTokenizer(*_bpe(folder), model_max_length=64).save_pretrained(folder)
    torch.manual_seed(4)
    config = DebertaConfig(
        vocab_size=size,
        num_hidden_layers=3,
        max_position_embeddings=64,
        relative_attention=True,
        position_biased_input=False,
        pos_att_type=["c2p", "p2c"],
        pad_token_id=1,
        type_vocab_size=0,
        **SIZES,
    )
    DebertaModel(config).save_pretrained(folder)
    return folder


def gpt2(folder: Path, texts: Sequence[str]) -> Path:
    """GPT-2's format: byte-level BPE, no special tokens around a text and none that pads."""
    size = _byte_pairs(folder, texts, special=("<|endoftext|>",))
    GPT2Tokenizer(*_bpe(folder)).save_pretrained(folder)
    torch.manual_seed(8)
    config = GPT2Config(
        vocab_size=size, n_embd=32, n_head=4, n_layer=3, n_positions=64, bos_token_id=0
    )
    GPT2Model(config).save_pretrained(folder)
    return folder


def gpt2_with_head(folder: Path, texts: Sequence[str], positions: int = 48, **sizes: float) -> Path:
    """gpt2's format: byte-level BPE, no token but the end of a text."""
    size = _byte_pairs(folder, texts, ("<|endoftext|>",), 300)
    GPT2Tokenizer(*_bpe(folder), model_max_length=positions).save_pretrained(folder)
    torch.manual_seed(11)
    usual: dict[str, Any] = {"n_embd": 32, "n_layer": 2, "n_head": 4, "initializer_range": 0.5}
    config = GPT2Config(vocab_size=size, n_positions=positions, **{**usual, **sizes})
    GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


def distilbert(folder: Path, texts: Sequence[str], layers: int = 3) -> Path:
    """distilbert-base-uncased's format: WordPiece, lower case."""
    vocabulary = _word_pieces(folder, [text.lower() for text in texts])
    tokenizer = DistilBertTokenizer(str(folder / "vocab.txt"), model_max_length=64)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(12)
    config = DistilBertConfig(
        vocab_size=vocabulary,
        n_layers=layers,
        dim=32,
        hidden_dim=64,
        n_heads=4,
        max_position_embeddings=64,
    )
    DistilBertModel(config).save_pretrained(folder)
    return folder


def xlm_roberta(
    folder: Path,
    texts: Sequence[str],
    layers: int = 3,
    positions: int = 64,
    pieces: int = 180,
    **sizes: float,
) -> Path:
    """XLM-RoBERTa's format: SentencePiece; two positions are not for tokens."""
    _sentence_pieces(folder, "sentencepiece.bpe.model", texts, size=pieces)
    tokenizer = XLMRobertaTokenizer(
        str(folder / "sentencepiece.bpe.model"), model_max_length=positions - 2
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(5)
    config = XLMRobertaConfig(
        vocab_size=len(tokenizer),
        num_hidden_layers=layers,
        max_position_embeddings=positions,
        pad_token_id=1,
        type_vocab_size=1,
        **{**SIZES, **sizes},
    )
    XLMRobertaModel(config, add_pooling_layer=False).save_pretrained(folder)
    return folder


def comet(folder: Path, encoder: Path, kind: str = "regression_metric", **changes: object) -> Path:
    """A COMET directory as the hub has it: hparams.yaml and a Lightning checkpoint."""
    from comet.models import str2model

    is_apart = "regression" in kind or "ranking" in kind
    alone = {"pool": "avg", "layer": "mix"} if is_apart else {"sent_layer": "mix"}
    settings: dict[str, object] = {
        **alone,
        "encoder_model": "XLM-RoBERTa",
        "pretrained_model": str(encoder),
        "layer_transformation": "softmax",
        "layer_norm": False,
        "loss": "mse",
        "dropout": 0.1,
        "batch_size": 4,
        "hidden_sizes": [48, 16],
        "activations": "Tanh",
        "local_files_only": True,
        "load_pretrained_weights": False,
    } | changes
    if kind == "ranking_metric":  # it has no head
        settings = {name: settings[name] for name in settings if name not in HEAD}
    torch.manual_seed(6)
    model = str2model[kind](**settings)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "layerwise_attention" in name:
                weight.add_(torch.rand_like(weight))
    (folder / "checkpoints").mkdir(parents=True)
    parameters = dict(model.hparams) | {"class_identifier": kind}
    torch.save(
        {
            "epoch": 1,
            "global_step": 10,
            "pytorch-lightning_version": "2.6.6",
            "state_dict": model.state_dict(),
            "hparams_name": "kwargs",
            "hyper_parameters": dict(model.hparams),
        },
        folder / "checkpoints" / "model.ckpt",
    )
    (folder / "hparams.yaml").write_text(yaml.safe_dump(parameters), encoding="utf-8")
    return folder


def sentinel(
    folder: Path, encoder: Path, reads: str = "mt", hidden: tuple[int, int] = (24, 8)
) -> Path:
    """A sentinel as sentinel-metric saves it: COMET's layout, an encoder and a head."""
    torch.manual_seed(10)
    body = XLMRobertaModel(XLMRobertaConfig.from_pretrained(encoder), add_pooling_layer=False)
    widths = [body.config.hidden_size, *hidden, 1]
    linears = [torch.nn.Linear(*each) for each in pairwise(widths)]
    head = list(zip("036", linears, strict=True))
    weights = {f"encoder.model.{name}": value for name, value in body.state_dict().items()}
    for place, layer in head:
        weights |= {f"estimator.ff.{place}.{k}": v for k, v in layer.state_dict().items()}
    settings = {
        "class_identifier": "sentinel_regression_metric",
        "encoder_model": "XLM-RoBERTa",
        "pretrained_model": str(encoder),
        "hidden_sizes": list(hidden),
        "activations": "Tanh",
        "final_activation": None,
        "dropout": 0.1,
        "sent_to_use": reads,
    }
    (folder / "checkpoints").mkdir(parents=True)
    document = {"epoch": 1, "state_dict": weights, "hyper_parameters": settings}
    torch.save(document, folder / "checkpoints" / "model.ckpt")
    (folder / "hparams.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    return folder


def other_encoder(folder: Path, kind: str, texts: Sequence[str], pieces: int = 180) -> Path:
    """Settings and tokenizer of the encoders that COMET has besides XLM-RoBERTa."""
    if kind == "BERT":
        return bert(folder, texts)
    if kind == "RemBERT":
        _sentence_pieces(folder, "sentencepiece.model", texts, ("[CLS]", "[SEP]", "[MASK]"), pieces)
        RemBertTokenizer(str(folder / "sentencepiece.model")).save_pretrained(folder)
        sizes = {**SIZES, "input_embedding_size": 16, "output_embedding_size": 16}
        RemBertConfig(
            vocab_size=200, num_hidden_layers=3, max_position_embeddings=64, **sizes
        ).save_pretrained(folder)
        return folder
    xlm_roberta(folder, texts)
    XLMRobertaXLConfig(
        vocab_size=200, num_hidden_layers=3, max_position_embeddings=64, pad_token_id=1, **SIZES
    ).save_pretrained(folder)
    return folder


def bleurt(
    folder: Path, texts: Sequence[str], layers: int = 3, pieces: int = 180, **sizes: Any
) -> Path:
    """BLEURT-20's PyTorch format: SentencePiece, embeddings narrower than the layers."""
    from bleurt_pytorch import (
        BleurtConfig,
        BleurtForSequenceClassification,
        BleurtTokenizer,
    )

    _sentence_pieces(folder, "spm.model", texts, ("[CLS]", "[SEP]", "[MASK]"), pieces)
    (folder / "config.json").write_text('{"model_type": "bleurt"}', encoding="utf-8")
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": false}', encoding="utf-8")
    torch.manual_seed(7)
    config = BleurtConfig(
        vocab_size=len(BleurtTokenizer.from_pretrained(folder)) + 1,
        num_hidden_layers=layers,
        num_labels=1,
        **{"embedding_size": 16, "max_position_embeddings": 512, **SIZES, **sizes},
    )
    BleurtForSequenceClassification(config).save_pretrained(folder)
    return folder


def metricx(folder: Path, shard: str = "6MB", **sizes: float) -> Path:
    """MetricX's format: mT5's names of weights in pickled shards, the class by its own name."""
    folder.mkdir(parents=True)
    torch.manual_seed(9)
    usual: dict[str, Any] = {"d_model": 8, "d_kv": 4, "d_ff": 16, "num_heads": 2}
    usual |= {"num_layers": 2, "num_decoder_layers": 1, "initializer_factor": 4.0}
    config = MT5Config(vocab_size=250_112, tie_word_embeddings=False, **{**usual, **sizes})
    model = MT5ForConditionalGeneration(config)
    with torch.no_grad():
        # Errors between 0 and 25, as a trained model's.
        head = torch.linspace(-0.8, 1.6, config.d_model) * (8 / config.d_model) ** 0.5
        model.lm_head.weight[250_089] = head
    model.save_pretrained(folder, safe_serialization=False, max_shard_size=shard)
    settings = json.loads((folder / "config.json").read_text())
    settings["architectures"] = ["MT5ForRegression"]
    (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    return folder


def mt5_tokenizer(folder: Path, texts: Sequence[str], pieces: int = 180) -> Path:
    """What of mT5 MetricX needs besides itself: settings and SentencePiece."""
    _sentence_pieces(folder, "spiece.model", texts, size=pieces)
    (folder / "config.json").write_text('{"model_type": "mt5"}', encoding="utf-8")
    told = {"tokenizer_class": "T5Tokenizer", "extra_ids": 0, "model_max_length": 10**9}
    (folder / "tokenizer_config.json").write_text(json.dumps(told), encoding="utf-8")
    return folder


def _word_pieces(folder: Path, texts: Sequence[str]) -> int:
    """Write the vocabulary of WordPiece, and return its size."""
    folder.mkdir(parents=True)
    characters = sorted({character for text in texts for character in text if character.strip()})
    words = sorted({word for text in texts for word in text.split() if word.isalpha()})
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *characters]
    vocabulary += [f"##{character}" for character in characters]
    vocabulary += [word for word in words if len(word) > 1]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    return len(vocabulary)


def _bpe(folder: Path) -> tuple[str, str]:
    return str(folder / "vocab.json"), str(folder / "merges.txt")


def _byte_pairs(
    folder: Path,
    texts: Sequence[str],
    special: Sequence[str] = ("<s>", "<pad>", "</s>", "<unk>", "<mask>"),
    size: int = 400,
) -> int:
    folder.mkdir(parents=True)
    tokenizer = ByteLevelBPETokenizer()
    tokenizer.train_from_iterator(texts, vocab_size=size, special_tokens=list(special))
    tokenizer.save_model(str(folder))
    return int(tokenizer.get_vocab_size())


def _sentence_pieces(
    folder: Path, name: str, texts: Sequence[str], first: Sequence[str] = (), size: int = 180
) -> None:
    folder.mkdir(parents=True)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_prefix=str(folder / "pieces"),
        vocab_size=size,
        hard_vocab_limit=False,
        control_symbols=list(first),
        minloglevel=2,
    )
    (folder / "pieces.model").rename(folder / name)
    (folder / "pieces.vocab").unlink()
