"""Accounts: invitations, roles, links that set a password, and deactivation."""
