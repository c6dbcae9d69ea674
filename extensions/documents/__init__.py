"""Agreement of metrics with humans at the level of documents."""
