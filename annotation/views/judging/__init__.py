"""Pages of annotators: the way in, the item page, and what lies between items."""
