"""Parts that every page shares: its address, its view and its files."""
