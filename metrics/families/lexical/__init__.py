"""Metrics that count matching characters and words: BLEU, chrF, TER, ROUGE."""
