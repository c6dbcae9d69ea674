"""Compute YiSi-0, YiSi-1 and YiSi-2 without semantic roles."""
