"""Synthetic data sets: images, clips and captions that are generated from a seed, with no download."""
