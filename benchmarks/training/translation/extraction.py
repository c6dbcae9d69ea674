"""The search for extracts in step over sentences and restarts, against one candidate at a time.

    OMP_NUM_THREADS=1 python -m benchmarks.training.translation.extraction [--sentences 6]
        [--words 12]

The same proposals are scored by the same language model (GPT-2's shape with random weights, two
layers, 128 wide), so both find the same extracts; processor seconds of one run each.
"""

import argparse
import random
import time

import torch
from transformers import GPT2Config, GPT2LMHeadModel

from metaeval.repeats import refuse_repeats
from training.translation.extraction import Extractor, Floats, LanguageModel

N_PIECES = 500


class Letters:
    """A tokenizer of numbered words."""

    bos_token_id = eos_token_id = 0

    def __call__(self, text: str, add_special_tokens: bool = True) -> "Letters":
        self.input_ids = [1 + int(text.strip()[1:]) % (N_PIECES - 1)]
        return self


class OneByOne(LanguageModel):
    """Reads a text at a time."""

    def nll(self, texts: list[list[int]]) -> Floats:  # type: ignore[override]
        found = [super(OneByOne, self).nll([text]) for text in texts]
        return torch.tensor([float(each[0]) for each in found]).double().numpy()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sentences", type=int, default=6)
    parser.add_argument("--words", type=int, default=12)
    given = refuse_repeats(parser).parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    config = GPT2Config(vocab_size=N_PIECES, n_embd=128, n_head=4, n_layer=2, n_positions=64)
    model = GPT2LMHeadModel(config).eval()
    drawn = random.Random(2)
    texts = [" ".join(f"w{drawn.randrange(400)}" for _ in range(given.words))
             for _ in range(given.sentences)]  # fmt: skip
    seconds, found = {}, {}
    for name, kind in (("in step", LanguageModel), ("one at a time", OneByOne)):
        extractor = Extractor(kind(model, Letters()), "en", texts)
        began = time.process_time()
        shares = [0.5] * len(texts)
        found[name] = (extractor.shorten(texts, shares) if kind is LanguageModel
                       else [extractor.shorten([text], [0.5])[0] for text in texts])  # fmt: skip
        seconds[name] = time.process_time() - began
        print(f"{name:14} {seconds[name]:.2f} s")
    print(f"same extracts: {found['in step'] == found['one at a time']}")
    print(f"times as fast: {seconds['one at a time'] / seconds['in step']:.1f}")


if __name__ == "__main__":
    main()
