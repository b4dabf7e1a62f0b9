"""How figures look: hues, dashes and marks of series, and how much room there is, for pages and for papers alike."""

HUES = ("#108ac3", "#620d1e", "#7f8e12", "#6731b6", "#016654", "#d1608f", "#a77f56", "#222e5a")
INK, QUIET, RULE, PAPER = "#1b1f24", "#57606a", "#d0d7de", "#ffffff"
COLOURS = {hue: f"--series-{number}" for number, hue in enumerate(HUES, 1)}
COLOURS |= {INK: "--ink", QUIET: "--quiet", RULE: "--line", PAPER: "--paper"}
"""Those of the light theme, and their names in the style sheets of pages."""
DASHES = ((), (6, 3), (1.5, 2.5), (9, 3, 2, 3), (4, 2), (12, 4), (9, 3, 2, 3, 2, 3), (3, 5))
MARKS = "os^DPvX*"
WIDTH, PANEL_WIDTH = 400, 280
"""In 1/72 inch, as all lengths: on a telephone, where the first becomes 348 pixels, ticks are still 9 pixels high; four
of the second stand beside each other on a laptop."""
SIDE, LEFT, TOP, HEIGHT, FOOT = 16, 48, 28, 220, 40
"""Room at the sides, left of an upright axis, above the data, for the data, and below them for the axis."""
PANEL_HEIGHT = 150
LINE, LETTERS = 18, 60
"""A line of text: its height, and how many letters fit into the whole width."""
SAME = 1e-6
"""Values that differ by less, relative to their size, are a level line and not noise as high as the figure."""
BEHIND = ((13, 0), (29, 0), (45, 0))
"""Where numbers stand, seen from the ends of lines."""
RINGS = (11, 22, 33, 44, 55)
"""Distances of a number from its point: the nearest that is free is taken."""
DIGIT, POINT = (8, 12), 10
"""Sizes."""
