"""What every app uses: background work, the database, caches, text. Imports no app."""
