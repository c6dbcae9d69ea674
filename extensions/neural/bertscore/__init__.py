"""Match tokens greedily: BERTScore, equal to its package, and XBERTScore on any encoder."""
