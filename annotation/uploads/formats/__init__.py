"""Files of other tools as ordinary tables: `registry` declares how each format is recognised."""
