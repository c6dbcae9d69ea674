"""Pages that the core runs without, each a folder of its own: its record says what it adds."""
