"""BLEURT in the PyTorch format of bleurt-pytorch."""
