"""Frozen and trained encoders: embed a dataset, evaluate a model, export a run's weights."""
