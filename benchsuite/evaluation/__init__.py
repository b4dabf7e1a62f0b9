"""Evaluation tasks, each registered by its decorator with a protocol version."""
