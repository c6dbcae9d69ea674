"""ReFreeEval: XBERTScore on an encoder that was trained to see fluency and word translations."""
