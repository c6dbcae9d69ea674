"""Learn IBM model 1 from parallel text as a job; the result is a metric."""

import numpy as np

from metaeval.messages import message
from training.contract import JobError, NewMetric, Outcome, Work
from training.ibm1.learning import learn, units_of
from training.ibm1.options import KIND, About
from training.jobs.saving import save_whole

# Pairs after those learned from, on which the likelihood is reported.
HELD_OUT = 500


def run(work: Work) -> Outcome:
    """Learn and save the table; JobError without usable pairs or with several language pairs."""
    directions = {(each.source_language, each.target_language) for each in work.corpora}
    if len(directions) != 1:
        raise JobError(
            message(
                "ibm1.several-languages",
                "Choose parallel text of one language pair, not {pairs}.",
                pairs=sorted("→".join(pair) for pair in directions),
            )
        )
    ((source, target),) = directions
    options = work.options
    every = [pair for corpus in work.corpora for pair in corpus.pairs]
    n_held = min(HELD_OUT, len(every) // 10)
    chosen = every[: min(int(options["pairs"]), len(every) - n_held)]
    held = every[len(chosen) : len(chosen) + n_held]
    about = About(
        units=str(options["units"]),
        n=int(options["n"]),
        lower=bool(options["lower"]),
        iterations=int(options["iterations"]),
        pairs=len(chosen),
        source_language=source,
        target_language=target,
        fitted_on=", ".join(dict.fromkeys(each.name for each in work.corpora)),
    )
    try:
        table = learn(
            chosen, about,
            lambda step: work.report({"step": step, "total": about.iterations}),
        )  # fmt: skip
    except ValueError as error:
        raise JobError(message("ibm1.no-pairs", "No pair has words on both sides.")) from error
    folder = save_whole(work.folder, KIND, lambda path: table.save(path / "ibm1.npz"))
    known = set(table.targets)
    units = [unit for _, text in held for unit in units_of(text, about, target)]
    result = {
        "direction": f"{source}→{target}",
        "pairs": {"in_the_corpus": len(every), "fitted_to": len(chosen), "held_out": len(held)},
        "units": {"source": len(table.sources) - 1, "target": len(table.targets)},
        "entries": len(table.values),
        "known_units": float(np.mean([unit in known for unit in units])) if units else None,
    }
    label = f"IBM1 ({about.units}, {source}→{target})"
    return Outcome(result, NewMetric(KIND, label, {"table": str((folder / "ibm1.npz").absolute())}))
