"""Data sets as their authors published them: one reader each, which gives drafts."""
