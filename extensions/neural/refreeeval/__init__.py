"""Score with ReFreeEval: XBERTScore on an encoder trained for fluency and word translation."""
