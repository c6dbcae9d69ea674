"""What templates of studies need."""
