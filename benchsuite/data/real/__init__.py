"""Datasets that are read from files: a local folder of the published layout, or a hub name where there is one."""
