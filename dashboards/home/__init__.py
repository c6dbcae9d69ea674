"""The home page of researchers: open tasks, and all campaigns with search, filters and order."""
