"""What templates of every app use."""
