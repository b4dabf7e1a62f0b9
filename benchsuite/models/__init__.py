"""Dual encoders: an image tower from timm, a text tower from transformers, and what projects them into one space."""
