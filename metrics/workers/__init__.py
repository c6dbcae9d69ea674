"""Worker processes: what they report, and what they run on."""
