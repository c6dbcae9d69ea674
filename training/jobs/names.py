"""The names of what results and progress of jobs hold, for pages, programs and the command line."""

from collections.abc import Sequence

from metaeval.messages import Message, message
from training.contract import LEVELS

OUTPUTS = message("result.n-outputs", "outputs")
# By the last key; a key that is not here is a name of its own, such as that of a package.
NAMES = {
    "accuracy": message("result.accuracy", "accuracy"),
    "after": message("result.after", "with the projection"),
    "aligned": message("result.aligned", "aligned share of pieces"),
    "altered": message("result.altered", "first altered text"),
    "before": message("result.before", "without the projection"),
    "bias": message("result.bias", "mean signed deviation"),
    "chrf": message("result.chrf", "similarity to the reference (chrF)"),
    "compared": message("result.compared", "vectors compared"),
    "condition": message("result.condition", "condition"),
    "conditions": message("result.conditions", "conditions"),
    "control": message("result.control", "length control"),
    "corpora": message("result.corpora", "parallel text"),
    "cosine": message("result.cosine", "cosine of pairs"),
    "cosine_of_others": message("result.cosine-of-others", "cosine of other vectors"),
    "coverage": message("result.coverage", "share of words in the dictionary"),
    "curve": message("result.curve", "course of the training"),
    "curve_of_held_out_cosines": message("result.curve-of-pairs", "by the number of pairs"),
    "data_hash": message("result.data-hash", "hash of the data"),
    "device": message("result.device", "device"),
    "distillation": message("result.distillation", "loss of faithfulness"),
    "direction": message("result.direction", "languages"),
    "empty": message("result.empty", "empty outputs"),
    "encoder": message("result.encoder", "encoder"),
    "exact": message("result.exact", "outputs equal to the reference"),
    "exactly_as_wanted": message("result.exactly", "outputs of exactly the target length"),
    "distilled": LEVELS["distilled"],
    "entries": message("result.entries", "entries of the table"),
    "error_trained": message("result.error-trained", "squared error after the training"),
    "error_untrained": message("result.error-untrained", "squared error before the training"),
    "examples": message("result.examples", "texts"),
    "file": message("result.file", "file"),
    "fingerprint": message("result.fingerprint", "hash of the weights"),
    "fitted_to": message("result.fitted-to", "pairs fitted to"),
    "fluency": message("result.fluency", "loss of fluency"),
    "form": message("result.form", "form of the control"),
    "from_other": message("result.from-other", "into the teacher’s language"),
    "found": message("result.found", "share with the right vector nearest"),
    "gain": message("estimate.gain", "gain"),
    "head": message("estimate.head", "head"),
    "held_out": message("estimate.held-out", "held-out texts"),
    "held_out_chrf": message("result.held-out-chrf", "held-out similarity (chrF)"),
    "held_out_exact": message("result.held-out-exact", "held-out outputs equal to the reference"),
    "held_out_length_error": message("result.held-out-length", "held-out deviation of length"),
    "held_out_loss": message("result.held-out-loss", "loss on held-out text"),
    "high": message("result.high", "upper end of the 95% interval"),
    "human": message("result.human", "human scores"),
    "in_the_corpus": message("result.in-the-corpus", "pairs in the corpus"),
    "interval": message("result.interval", "method of the interval"),
    "into_other": message("result.into-other", "from the teacher’s language"),
    "known_units": message("result.known-units", "share of held-out units that were learned"),
    "kendall": message("estimate.kendall", "Kendall’s τ-b"),
    "languages": message("result.languages", "languages"),
    "layer": message("result.layer", "layer"),
    "left_out": message("result.excluded", "excluded segments"),
    "length_error": message("result.length-error", "mean deviation of length"),
    "lengths": message("result.lengths", "lengths"),
    "loss": message("result.loss", "loss"),
    "losses": message("result.losses", "losses"),
    "low": message("result.low", "lower end of the 95% interval"),
    "machine": message("result.machine", "machine"),
    "mean_deviation": message("result.mean-deviation", "mean deviation from the target length"),
    "metric": message("result.metric", "metric"),
    "model": message("result.model", "folder of the model"),
    "model_hash": message("result.model-hash", "hash of the model"),
    "n": message("result.n", "texts"),
    "n_folds": message("result.folds", "folds"),
    "n_held_out": message("result.n-held-out", "held-out outputs"),
    "n_outputs": OUTPUTS,
    "n_train": message("result.n-train", "outputs fitted to"),
    "name": message("result.name", "name"),
    "original": message("result.original", "first original text"),
    "outputs": OUTPUTS,
    "pairs": message("result.pairs", "pairs"),
    "pairs_of_vectors": message("result.pairs-of-vectors", "pairs of vectors"),
    "parameters": message("result.parameters", "parameters"),
    "pearson": message("estimate.pearson", "Pearson’s r"),
    "penalty": message("result.penalty", "penalty"),
    "pieces": message("result.pieces", "pieces of the vocabulary"),
    "pieces_per_second": message("result.pieces-per-second", "pieces per second"),
    "preprocessing": message("mt.preprocessing", "Preprocessing"),
    "processes": message("result.processes", "processes"),
    "projection": message("result.projection", "projection"),
    "rules": message("result.rules", "version of the rules"),
    "seconds": message("result.seconds", "seconds"),
    "seconds_left": message("result.seconds-left", "seconds left"),
    "segments": message("result.segments", "segments"),
    "sentence": LEVELS["sentence"],
    "sentinel": message("estimate.sentinel", "sentinel"),
    "sha256": message("result.sha256", "SHA-256"),
    "signature": message("result.signature", "signature"),
    "source_length": message("estimate.source-length", "length of the source only"),
    "source": message("result.source", "form"),
    "step": message("result.step", "update"),
    "system": message("result.system", "operating system"),
    "systems": message("result.systems", "systems"),
    "teacher": message("result.teacher", "teacher"),
    "teacher_language": message("result.teacher-language", "loss on the teacher’s language"),
    "test": message("result.test", "test pairs"),
    "test_counts": message("result.test-texts", "test texts"),
    "too_long": message("result.too-long", "excluded because of their length"),
    "too_uneven": message("result.too-uneven", "excluded because of their length ratio"),
    "train": message("result.train", "training pairs"),
    "trained": message("result.trained", "accuracy after the training"),
    "training": message("result.training", "training text"),
    "training_loss": message("result.training-loss", "loss on training text"),
    "translations": message("result.translations", "loss on translations"),
    "unsupervised": message("estimate.unsupervised", "F1 only, unsupervised"),
    "untrained": message("result.untrained", "accuracy before the training"),
    "updates": message("result.updates", "updates"),
    "updates_of_kept_weights": message("result.updates-of-kept", "updates of the stored weights"),
    "usable": message("result.usable", "usable pairs"),
    "validation": message("result.validation", "validation pairs"),
    "variation": message("result.variation", "change of the cosine by degrading"),
    "versions": message("result.version", "version"),
    "warmup": message("result.warmup", "warm-up updates"),
    "weights": message("result.weights", "weights"),
    "with_an_alignment": message("result.with-an-alignment", "pairs with an alignment"),
    "with_repeated_negatives": message("result.repeated", "texts with repeated degraded versions"),
    "within_a_tenth": message("result.within-a-tenth", "outputs within 10% of the target length"),
    "without_negatives": message("result.without-negatives", "texts that cannot be degraded"),
    "without_rules": message("result.without-rules", "languages without clause marks"),
    "word": LEVELS["word"],
}
# Keys that only group others: their names say nothing more.
GROUPS = {"data", "levels", "pairs"}
# A value of this name is the loss of the level.
WORD_LOSS = message("result.word-loss", "loss of word alignment")


def name_of(keys: Sequence[str]) -> Message:
    """Return the name of a value, by the keys that lead to it."""
    groups = keys[1:-1] if keys[0] == "held_out" else keys[:-1]
    shown = [*(key for key in groups if key not in GROUPS), keys[-1]]
    names = [
        NAMES.get(key) or message("result.other", "{name}", name=key.replace("_", " "))
        for key in shown
    ]
    name = WORD_LOSS if shown[-1] == "word" else names[-1]
    names.pop()
    while names:
        name = message("result.within", "{whole}: {part}", whole=names.pop(), part=name)
    return name
