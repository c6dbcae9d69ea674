"""What a cell of a table says: the kind of an item, a score on its scale, error spans, a time."""
