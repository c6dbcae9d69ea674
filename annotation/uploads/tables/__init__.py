"""Read uploaded tables: rows, columns by their meaning, cells and texts."""
