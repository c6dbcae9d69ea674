"""The form of a campaign: its fields in groups, what is checked, and each group in a sentence."""
