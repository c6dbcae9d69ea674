"""What every page shares: how it is asked for, shown, and given as a file."""
