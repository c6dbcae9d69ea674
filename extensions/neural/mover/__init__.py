"""What MoverScore and XMoverScore share: definitions, n-grams, distances, texts in chunks."""
