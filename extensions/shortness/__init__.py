"""The page on whether metrics punish shortness as such."""
