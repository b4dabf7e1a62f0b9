"""Doing runs: one run measured, the workers that do many, and the check before the first one."""
