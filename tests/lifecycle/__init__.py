"""Things renamed, copied, archived, deleted."""
