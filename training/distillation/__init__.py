"""Multilingual knowledge distillation: the encoder of BERTScore-MKD."""
