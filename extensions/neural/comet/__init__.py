"""Score with any checkpoint of unbabel-comet; encode every text once."""
