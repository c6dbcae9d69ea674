"""How our own exports are recognised: columns that tables of nobody else have together."""

JUDGMENTS = frozenset({"is_simulated", "is_current", "z_targets", "n_columns", "sent_together"})
SUGGESTIONS = frozenset({"judgment", "origin", "fate", "shown_start", "shown_side"})
