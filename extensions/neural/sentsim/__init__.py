"""SentSim: sentence similarity together with token similarity, of output and source."""
