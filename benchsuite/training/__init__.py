"""One training loop, over a DeepSpeed engine."""
