"""How probable a translation model finds texts, as a family of metrics: Prism, BARTScore."""
