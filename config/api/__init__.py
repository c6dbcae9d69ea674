"""The API of all apps: addresses, pages of lists, what it takes and how it is described."""
