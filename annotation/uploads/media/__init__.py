"""What is heard, seen or read beside a segment: which files are taken, and where they lie."""
