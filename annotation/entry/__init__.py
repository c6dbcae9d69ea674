"""How people get in: members and places, personal and shared links, consent, completion codes."""
