"""Score with BLEURT models in the PyTorch format of bleurt-pytorch."""
