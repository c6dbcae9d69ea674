"""Find checkpoints on disk, compare their hashes, and fetch them."""
