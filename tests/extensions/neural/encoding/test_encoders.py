"""Batches within a budget, smaller ones out of memory, and what is refused as an encoder."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BertModel, T5Config, T5EncoderModel

from benchmarks.gpu import small
from extensions.neural.encoding import encoders, token_vectors
from extensions.neural.mover import mapping
from metaeval.messages import Message
from metrics.base import MetricError
from tests.refusals import has, refused

TEXTS = ["the cat sat", "a dog", "quiet harbour"]


@pytest.fixture(autouse=True)
def _no_resident_models() -> None:
    encoders.forget()


def batches(budget: int, lengths: list[int], *, fits: int = 10**6) -> tuple[list[list[int]], int]:
    """Batches of lengths by a device in whose memory `fits` padded tokens have room."""
    owner = SimpleNamespace(budget=budget)

    def work(batch: list[int]) -> int:
        if len(batch) * max(batch) > fits:
            raise torch.cuda.OutOfMemoryError
        return sum(batch)

    found = list(encoders.in_batches(owner, lengths, length=lambda item: item, work=work))
    assert all(result == sum(batch) for batch, result in found)
    return [batch for batch, _ in found], owner.budget


def test_batches_stay_within_the_budget() -> None:
    found, budget = batches(20, [3, 9, 10, 1, 4, 5, 2])
    assert found == [[10, 9], [5, 4], [3, 2], [1]]
    assert budget == 20


def test_padding_adds_at_most_a_fifth_however_large_the_budget() -> None:
    lengths = np.random.default_rng(1).lognormal(3.3, 0.6, 500).astype(int) + 1
    found, _ = batches(32_768, lengths.tolist())
    padded = sum(len(batch) * max(batch) for batch in found)
    assert padded <= 1.2 * lengths.sum()
    # Few passes: in one, most tokens would be padding.
    assert len(found) <= 20
    assert max(lengths) * 500 > 2 * lengths.sum()


def test_an_item_larger_than_the_budget_comes_alone() -> None:
    assert batches(20, [50, 4, 4]) == ([[50], [4, 4]], 20)


def test_no_items_no_batches() -> None:
    assert batches(20, []) == ([], 20)


def test_out_of_memory_halves_the_batch_and_goes_on() -> None:
    found, budget = batches(100, [5] * 20, fits=30)
    assert found == [[5] * 5] * 4
    assert budget == 25


def test_the_smaller_budget_lasts() -> None:
    """One failure, not one for every batch: the budget would end at a single token."""
    failures = []
    owner = SimpleNamespace(budget=100)

    def work(batch: list[int]) -> int:
        if len(batch) > 10:
            failures.append(len(batch))
            raise torch.cuda.OutOfMemoryError
        return 0

    list(encoders.in_batches(owner, [5] * 200, length=lambda item: item, work=work))
    assert failures == [20]


def test_one_item_that_does_not_fit_is_an_error_that_may_pass() -> None:
    with refused("encoder.text-too-long", kind=MetricError, count=50) as caught:
        batches(100, [5, 50], fits=30)
    assert not caught.value.permanent


@pytest.mark.parametrize(("budget", "fits"), [(1, 10**6), (10**6, 12)])
def test_a_large_item_is_split(budget: int, fits: int) -> None:
    """Where it is far over the budget, and where memory ends."""
    owner = SimpleNamespace(budget=budget)

    def work(batch: list[str]) -> str:
        if sum(map(len, batch)) > fits:
            raise torch.cuda.OutOfMemoryError
        return "".join(batch)

    def halves(item: str) -> list[str]:
        middle = len(item) // 2
        return [part for part in (item[:middle], item[middle:]) if part]

    found = encoders.in_batches(
        owner, ["a" * 40, "b"], length=lambda item: 1, size=len, work=work, split=halves
    )
    results = [result for _, result in found]
    assert "".join(results) == "a" * 40 + "b"
    assert max(map(len, results)) <= 12


def test_other_errors_come_through() -> None:
    def work(batch: list[int]) -> int:
        raise ValueError("of another kind")

    with pytest.raises(ValueError, match="of another kind"):
        list(
            encoders.in_batches(SimpleNamespace(budget=9), [1], length=lambda item: item, work=work)
        )


@pytest.mark.parametrize(
    ("build", "usable"),
    [(small.bert, 64), (small.roberta, 68), (small.xlm_roberta, 62), (small.bart, 70)],
)
def test_texts_are_cut_to_the_positions_of_the_model(build, usable, tmp_path: Path) -> None:
    """Also where the tokenizer states no limit, as released ones do."""
    folder = build(tmp_path / "model", TEXTS * 4)
    path = folder / "tokenizer_config.json"
    settings = json.loads(path.read_text())
    del settings["model_max_length"]
    path.write_text(json.dumps(settings))
    encoder = encoders.get(str(folder))
    assert len(token_vectors.tokenize(encoder.tokenizer, "the dog sat " * 4_000)) == usable
    states, mask = encoder.hidden_states(
        [token_vectors.tokenize(encoder.tokenizer, "cat " * 4_000)]
    )
    assert mask.sum() == usable
    assert torch.isfinite(states[-1]).all()


def test_a_retrained_checkpoint_is_loaded_again(tmp_path: Path) -> None:
    folder = small.bert(tmp_path / "bert", TEXTS)
    before = encoders.get(str(folder))
    assert encoders.get(str(folder)) is before
    weights = load_file(folder / "model.safetensors")
    weights["embeddings.word_embeddings.weight"][:, 0] += 1
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    after = encoders.get(str(folder))
    assert after.spec.weights != before.spec.weights
    assert encoders.resident() == [str(folder)]
    old, new = (each.hidden_states([[2, 7, 3]])[0][0] for each in (before, after))
    assert not torch.allclose(old, new)


def damage(folder: Path, **changes: object) -> str:
    """Change settings of a checkpoint."""
    document = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(document | changes))
    return str(folder)


def refusal(checkpoint: str) -> Message:
    with pytest.raises(MetricError) as caught:
        encoders.get(checkpoint)
    assert caught.value.permanent
    return caught.value.message


def test_weights_that_are_not_there_are_not_made_up(tmp_path: Path) -> None:
    folder = small.bert(tmp_path / "bert", TEXTS)
    weights = load_file(folder / "model.safetensors")
    lost = [name for name in weights if name.startswith("encoder.layer.2.")]
    kept = {name: value for name, value in weights.items() if name not in lost}
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    assert refusal(str(folder)).parameters["count"] == len(lost)


def test_an_encoder_without_a_pooler_is_complete(tmp_path: Path) -> None:
    folder = small.bert(tmp_path / "bert", TEXTS)
    weights = load_file(folder / "model.safetensors")
    kept = {name: value for name, value in weights.items() if "pooler" not in name}
    assert len(kept) < len(weights)
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    assert encoders.get(str(folder)).n_layers == 4


def test_truncated_weights(tmp_path: Path) -> None:
    folder = small.bert(tmp_path / "bert", TEXTS)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    assert refusal(str(folder)).code == "encoder.not-loaded"


def test_weights_of_another_size(tmp_path: Path) -> None:
    checkpoint = damage(small.bert(tmp_path / "bert", TEXTS), intermediate_size=99)
    assert refusal(checkpoint).code == "encoder.not-loaded"


def test_an_unknown_class(tmp_path: Path) -> None:
    checkpoint = damage(small.bert(tmp_path / "bert", TEXTS), model_type="no-such-model")
    assert "no-such-model" in refusal(checkpoint).text


def test_a_missing_tokenizer(tmp_path: Path) -> None:
    folder = small.bert(tmp_path / "bert", TEXTS)
    for name in ("vocab.txt", "tokenizer_config.json", "special_tokens_map.json"):
        (folder / name).unlink(missing_ok=True)
    assert "tokenizer" in refusal(str(folder)).text.lower()


@pytest.mark.parametrize(
    ("size", "text"),
    [(None, "checkpoint.no-tokenizer"), (5, "checkpoint.tokenizer-unreadable")],
)
def test_a_sentencepiece_model_that_is_missing_or_cut(
    tmp_path: Path, size: int | None, text: str
) -> None:
    """transformers loads such a tokenizer as False."""
    folder = small.xlm_roberta(tmp_path / "xlmr", TEXTS * 4)
    pieces = folder / "sentencepiece.bpe.model"
    pieces.unlink() if size is None else pieces.write_bytes(pieces.read_bytes()[:size])
    found = refusal(str(folder))
    assert found.code == "encoder.not-loaded"
    assert has(found.text, text)


@pytest.mark.parametrize("rows", [-1, 0])
def test_a_tokenizer_with_more_pieces_than_embeddings(tmp_path: Path, rows: int) -> None:
    """It would fail at the first text that has one of them."""
    folder = small.bert(tmp_path / "bert", TEXTS)
    n_pieces = len((folder / "vocab.txt").read_text().split("\n")) - 1
    model = BertModel.from_pretrained(folder)
    model.resize_token_embeddings(n_pieces + rows)
    model.save_pretrained(folder)
    if rows == 0:
        assert encoders.get(str(folder)).n_layers == 4
    else:
        found = refusal(str(folder))
        assert found.code == "checkpoint.tokenizer-of-other-model"
        assert (found.parameters["rows"], found.parameters["largest"]) == (n_pieces - 1,) * 2


def test_an_encoder_decoder_may_come_without_its_decoder(tmp_path: Path) -> None:
    """Sentence encoders of T5's kind hold the encoder alone."""
    folder = small.mt5_tokenizer(tmp_path / "t5", TEXTS * 4)
    torch.manual_seed(1)
    sizes = {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_heads": 2, "num_layers": 2}
    T5EncoderModel(T5Config(vocab_size=300, **sizes)).save_pretrained(folder)
    found, mask = encoders.get(str(folder)).hidden_states([[5, 9, 1]])
    model = T5EncoderModel.from_pretrained(folder).eval()
    with torch.inference_mode():
        expected = model(torch.tensor([[5, 9, 1]]), attention_mask=mask).last_hidden_state
    torch.testing.assert_close(found[-1], expected, atol=1e-5, rtol=0)
    weights = load_file(folder / "model.safetensors")
    lost = [name for name in weights if name.startswith("encoder.block.1.")]
    kept = {name: value for name, value in weights.items() if name not in lost}
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    assert refusal(str(folder)).parameters["count"] == len(lost)


def test_code_of_a_checkpoint_never_runs(tmp_path: Path) -> None:
    folder = small.bert(tmp_path / "bert", TEXTS)
    mark = tmp_path / "was-run"
    (folder / "modeling.py").write_text(f"open({str(mark)!r}, 'w')")
    auto_map = {"AutoModel": "modeling.Model", "AutoConfig": "modeling.Config"}
    checkpoint = damage(folder, auto_map=auto_map, model_type="no-such-model")
    assert refusal(checkpoint).code == "checkpoint.runs-code"
    assert not mark.exists()


def test_an_encoder_with_a_fast_tokenizer_alone(tmp_path: Path) -> None:
    """Newer encoders have no other."""
    from transformers import BertTokenizerFast, PreTrainedTokenizerFast

    folder = small.bert(tmp_path / "bert", TEXTS)
    fast = BertTokenizerFast.from_pretrained(folder)
    slow_ids = token_vectors.tokenize(encoders.get(str(folder)).tokenizer, "the cat")
    for name in ("vocab.txt", "tokenizer_config.json", "special_tokens_map.json"):
        (folder / name).unlink(missing_ok=True)
    PreTrainedTokenizerFast(
        tokenizer_object=fast.backend_tokenizer,
        cls_token="[CLS]",
        sep_token="[SEP]",
        pad_token="[PAD]",
        unk_token="[UNK]",
    ).save_pretrained(folder)
    tokenizer = encoders.get(str(folder)).tokenizer
    assert token_vectors.tokenize(tokenizer, "the cat") == slow_ids
    assert token_vectors.tokenize(tokenizer, " ") != []


@pytest.mark.usefixtures("fresh")
def test_an_encoder_whose_checkpoint_has_no_pooler_is_the_same_at_each_load(xlmr: str) -> None:
    """A random pooler would give it another fingerprint, and its mappings would be refused."""
    first = mapping.fingerprint(encoders.get(xlmr).model)
    encoders.forget()
    torch.manual_seed(17)
    assert mapping.fingerprint(encoders.get(xlmr).model) == first
