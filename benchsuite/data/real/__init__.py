"""Data sets that are read from files, one a module: a local folder of the published layout, or a hub name."""
