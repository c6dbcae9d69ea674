"""Where researchers come back to: what needs them, all campaigns with search, filter and order."""
