"""Commands of the extension."""
