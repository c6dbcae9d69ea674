"""Compute SentSim: sentence similarity combined with token similarity of output and source."""
