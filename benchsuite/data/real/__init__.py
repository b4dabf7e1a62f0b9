"""Data sets that are read from files, a module for each published layout: from a local folder, or by a hub name."""
