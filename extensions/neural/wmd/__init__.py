"""Word mover's distance over static word vectors."""
