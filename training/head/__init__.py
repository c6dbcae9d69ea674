"""A small supervised head on a frozen encoder: its data, its fit, its options."""
