"""Read cells: the kind of an item, a score on its scale, error spans, a time."""
