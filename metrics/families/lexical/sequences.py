"""Compare two token sequences bit-parallel, with Python's integers as bit vectors."""

from collections.abc import Hashable, Sequence


def positions(tokens: Sequence[Hashable]) -> dict[Hashable, int]:
    """Map each token to an integer in which bit i is set if ``tokens[i]`` is that token."""
    masks: dict[Hashable, int] = {}
    for index, token in enumerate(tokens):
        masks[token] = masks.get(token, 0) | 1 << index
    return masks


def lcs_length(masks: dict[Hashable, int], size: int, tokens: Sequence[Hashable]) -> int:
    """Return the length of the longest common subsequence of two sequences.

    ``masks`` and ``size`` are the :func:`positions` and the length of the other sequence. Hyyrö
    (2004), "Bit-parallel LCS-length computation revisited".
    """
    full = (1 << size) - 1
    row = full
    for token in tokens:
        match = masks.get(token)
        if match is not None:
            hit = row & match
            row = ((row + hit) | (row - hit)) & full
    return size - row.bit_count()


def edit_distance(left: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    """Return the Levenshtein distance (insertion, deletion and substitution cost 1 each).

    Myers (1999), "A fast bit-vector algorithm for approximate string matching based on dynamic
    programming", in the form of Hyyrö (2003) for two whole sequences.
    """
    if not right:
        return len(left)
    masks, full, last = positions(right), (1 << len(right)) - 1, 1 << (len(right) - 1)
    up, down, distance = full, 0, len(right)
    for token in left:
        match = masks.get(token, 0)
        across = (((match & up) + up) ^ up) | match
        rise, fall = (down | ~(across | up)) & full, up & across
        distance += bool(rise & last) - bool(fall & last)
        rise, fall = rise << 1 | 1, fall << 1
        vertical = match | down
        up, down = (fall | ~(vertical | rise)) & full, rise & vertical & full
    return distance
