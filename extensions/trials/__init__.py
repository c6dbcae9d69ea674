"""The page on suggestions: what became of them, and what a trial says they change."""
