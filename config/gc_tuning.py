"""When Python collects garbage: rarely while modules load, and never among what they leave."""

import gc

USUAL = gc.get_threshold()
# Objects of a collection's youngest generation: 700 while half a million come to stay take a fifth
# of a start.
LOADING = (50_000, 20, 20)


def relax() -> None:
    """Until :func:`freeze`, or the end of a command: most of what is made is to stay."""
    gc.set_threshold(*LOADING)


def freeze() -> None:
    """Look at what is loaded no more: that held up every thread for a tenth of a second.

    Children that are forked afterwards go on sharing its memory: looking writes to every object.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*USUAL)
