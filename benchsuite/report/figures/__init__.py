"""Figures: what they show as data, and how it is drawn, on pages as SVG and in files for papers."""
