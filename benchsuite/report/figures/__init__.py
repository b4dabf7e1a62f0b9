from collections.abc import Callable, Sequence
from typing import Any


class Figure: ...


def table_figures(view: Any, ranks: Any) -> list[Figure]:
    return []


def method_figures(records: Any) -> list[Figure]:
    return []


def svg(figure: Figure) -> str:
    return ""


def sparkline(name: str, steps: Any, values: Any) -> str:
    return ""


class CostPoint:
    def __init__(self, *a):
        pass


def cost_figure(*a, **k):
    return []
