"""What `repro`, `run` and `tune` do alike: say what is to be done, check it, do the runs, store and show them."""
