"""How busy a judge keeps its connections, and how fast replies are read again."""
