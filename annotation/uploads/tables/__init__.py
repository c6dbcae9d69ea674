"""Tables of people, read: rows, columns by their meaning, cells, the texts they list."""
