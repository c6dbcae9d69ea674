"""COMET: any checkpoint of unbabel-comet, with every text encoded once."""
