"""Working time: how much of it is paid, what it is paid, and whose it was."""
