"""How probable a translation model finds texts: Prism, BARTScore. The scorer is in `training`."""
