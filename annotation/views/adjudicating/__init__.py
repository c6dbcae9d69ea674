"""Pages of adjudication: the queue, an item with its answers, gold, and corrections."""
