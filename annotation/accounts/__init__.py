"""Accounts: invited, given roles, let in by a link that sets a password, deactivated."""
