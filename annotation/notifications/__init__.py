"""Word of a campaign's end, by e-mail and webhook."""
