"""Lines as paths of SVG, as short as they can be: one place, then steps from each point to the next."""

from collections.abc import Sequence
from itertools import pairwise


def path(points: Sequence[Sequence[float]], decimals: int = 1) -> str:
    """Through the points; a point alone is a stroke without length, which round ends make a dot.

    Places are rounded, and steps are between rounded places: errors do not add up.
    """
    grid = 10**decimals
    places = [(round(x * grid), round(y * grid)) for x, y in points]
    steps = [number / grid for a, b in pairwise(places) for number in (b[0] - a[0], b[1] - a[1])]
    first = _joined([number / grid for number in places[0]])
    return f"M{first}l{_joined(steps)}" if steps else f"M{first}h0"


def stairs(edges: Sequence[float], tops: Sequence[float], floor: float, decimals: int = 1) -> str:
    """From the floor up, level from edge to edge, and down again."""
    grid = 10**decimals
    left, *across = (round(edge * grid) for edge in edges)
    start = at = round(floor * grid)
    parts, level = [f"M{_joined([left / grid, start / grid])}"], 0
    for right, top in zip(across, (round(top * grid) for top in tops), strict=True):
        if top != at:
            parts += [f"h{_joined([level / grid])}"] * bool(level) + [f"v{_joined([(top - at) / grid])}"]
            level, at = 0, top
        level, left = level + right - left, right
    return "".join([*parts, f"h{_joined([level / grid])}", f"v{_joined([(start - at) / grid])}"])


def _joined(numbers: Sequence[float]) -> str:
    """A minus parts numbers as a blank does; no 0 stands before a point."""
    return (
        f" {' '.join(f'{number:g}' for number in numbers)}".replace(" 0.", " .")
        .replace(" -0.", " -.")
        .replace(" -", "-")
        .lstrip()
    )
