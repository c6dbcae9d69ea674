"""Score with what training writes: ReFreeEval's checkpoints, heads and sentinels."""
