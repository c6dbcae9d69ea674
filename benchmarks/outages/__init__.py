"""What others notice when a part of a site fails, measured with servers and hosts of its own."""
