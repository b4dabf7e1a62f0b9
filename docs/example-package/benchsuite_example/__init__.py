"""A method, a dataset, a task, a recipe and a table for benchsuite. Imports nothing: it is imported often."""
