"""Dual encoders: an image tower from timm, a text tower from transformers, one linear projection each."""
