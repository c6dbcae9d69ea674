"""What makes short work with the database short: statements made once, writers in turns."""
