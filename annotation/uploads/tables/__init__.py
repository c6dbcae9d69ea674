"""Tables that people upload: rows, columns by their meaning, cells and the texts they list."""
