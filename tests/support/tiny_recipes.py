"""Recipes of a few steps."""

VECTORS = """
title = "tiny vectors"
track = "latents"
description = "a few steps"
seeds = 1
projection = { width = 12 }
data = { name = "latents", options = { train = 200, validation = 20, test = 60, galleries = 40 } }
optimizer = { lr = 1e-3 }
training = { batch = 32, steps = 2 }
backbones.mlp = { description = "an MLP", tower = { mlp = { layers = 2, hidden = 16 } } }
text = { mlp = { layers = 1, hidden = 16 } }
protocols.retrieval = { task = "retrieval" }
"""
