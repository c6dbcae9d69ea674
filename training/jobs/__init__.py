"""A job of training from its start to what it found: kinds, folders, files, states."""
