"""How often verdicts are wrong, and how often they find what is there, where the truth is known.

Draws tables of rows and seeds, and judges them with the functions that the pages use: `judge_family` and `ranking`.
Nothing is copied here.

    python benchmarks/verdicts.py [--repeats 2000] [--out docs/statistics.md]

`--out` writes the tables between the two marks of that file; without it they are printed.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchsuite.analysis.ranking import ranking
from benchsuite.analysis.stats import ALPHA, Paired, half_width
from benchsuite.analysis.verdict import ClaimQuestion, Family, Verdict, judge_family
from benchsuite.streams import numpy_stream

Floats = NDArray[np.float64]

SEEDS = (3, 5, 10)
ROWS = 9
INTEREST = 0.01
"""The smallest difference of interest: one point, as the recipes of latents state it."""
OWN, COMMON = 0.005, 0.01
"""Standard deviations over seeds: of each row by itself, and of what a seed does to all rows."""
CHANCE = 0.005
BEGIN, END = "<!-- made by benchmarks/verdicts.py -->\n", "<!-- end -->"


@dataclass(frozen=True)
class Scenario:
    """Rows whose true means are known; the first is the reference."""

    name: str
    ahead: float
    """By how much each other row's true mean is above the reference's."""
    draw: Callable[[np.random.Generator, float, int], Floats]
    """Of a generator, `ahead` and the number of seeds: values [rows, seeds]."""


def levels(rng: np.random.Generator, ahead: float, n: int) -> Floats:
    """True means [rows, seeds], moved by what each seed does to all rows."""
    truth = np.full((ROWS, 1), 0.5 + ahead)
    truth[0] = 0.5
    return truth + rng.normal(0, COMMON, (1, n))


def normal(rng: np.random.Generator, ahead: float, n: int) -> Floats:
    """What the t-test assumes."""
    return levels(rng, ahead, n) + rng.normal(0, OWN, (ROWS, n))


def one_noisy(rng: np.random.Generator, ahead: float, n: int) -> Floats:
    """The last row varies five times as much as the others."""
    scale = np.where(np.arange(ROWS) == ROWS - 1, 5, 1)[:, None]
    return levels(rng, ahead, n) + scale * rng.normal(0, OWN, (ROWS, n))


def heavy_tailed(rng: np.random.Generator, ahead: float, n: int) -> Floats:
    """Student's t with 3 degrees of freedom, of the same standard deviation."""
    noise: Floats = OWN / 3**0.5 * rng.standard_t(3, (ROWS, n))
    return levels(rng, ahead, n) + noise


def collapsing(share: float) -> Callable[[np.random.Generator, float, int], Floats]:
    """So many of the runs of each row end at chance."""

    def draw(rng: np.random.Generator, ahead: float, n: int) -> Floats:
        values = normal(rng, ahead, n)
        failed = rng.random(values.shape) < share
        return np.where(failed, CHANCE + rng.normal(0, CHANCE / 5, values.shape), values)

    return draw


TWICE = 2 * INTEREST
SCENARIOS = (
    Scenario("all rows equal", 0, normal),
    Scenario("ahead by half of the smallest difference", INTEREST / 2, normal),
    Scenario("ahead by the smallest difference", INTEREST, normal),
    Scenario("ahead by twice the smallest difference", TWICE, normal),
    Scenario("equal, one row varies five times as much", 0, one_noisy),
    Scenario("equal, heavy tails (t with 3 degrees)", 0, heavy_tailed),
    Scenario("ahead by twice, heavy tails", TWICE, heavy_tailed),
    Scenario("equal, a tenth of the runs ends at chance", 0, collapsing(0.1)),
    Scenario("equal, a fifth of the runs ends at chance", 0, collapsing(0.2)),
    Scenario("ahead by twice, a tenth of the runs ends at chance", TWICE, collapsing(0.1)),
)


@dataclass
class Counts:
    """What happened in all tables of a scenario."""

    ahead: float
    tables: int = 0
    wrong: int = 0
    """Tables with a verdict that contradicts the truth."""
    kinds: Counter[str] = field(default_factory=Counter)
    held: int = 0
    """Intervals over seeds that hold the truth."""
    power: list[float] = field(default_factory=list)
    """For a difference as large as the true one, as pages show it."""
    apart: int = 0
    """Tables in which rows that are equal have ranks that say they differ."""

    @property
    def claims(self) -> int:
        """Of all tables: each row is said to beat the first."""
        return (ROWS - 1) * self.tables

    def add(self, drawn: Floats) -> None:
        """Judge one table, of values [rows, seeds]."""
        rows = {f"row {number}": dict(enumerate(row)) for number, row in enumerate(drawn.tolist())}
        reference, *others = rows.values()
        questions = [ClaimQuestion(row, reference, interest=INTEREST, published=self.ahead or None) for row in others]
        verdicts = judge_family(questions, Family("claims", len(questions)))
        self.tables += 1
        self.wrong += any(is_wrong(verdict, self.ahead) for verdict in verdicts)
        self.kinds.update(verdict.kind for verdict in verdicts)
        self.power += [verdict.power for verdict in verdicts if verdict.power is not None]
        self.held += sum(holds(verdict.paired, self.ahead) for verdict in verdicts)
        ranks = ranking(rows).ranks
        equal = {*rows} if not self.ahead else {*rows} - {"row 0"}
        self.apart += any({*ranks[name].tied_with} & equal != equal - {name} for name in equal)


def holds(interval: Paired | None, truth: float) -> bool:
    """Whether the interval holds the true difference."""
    assert interval is not None
    assert interval.low is not None
    assert interval.high is not None
    return interval.low <= truth <= interval.high


def is_wrong(verdict: Verdict, truth: float) -> bool:
    """Whether the verdict contradicts the truth: a direction that is not there, or equivalence of rows that differ."""
    match verdict.kind:
        case "reproduced":
            return truth <= 0
        case "opposite":
            return truth >= 0
        case "equivalent":
            return abs(truth) >= INTEREST
    return False


def simulate(scenario: Scenario, n: int, repeats: int) -> Counts:
    """So many tables of a scenario with n seeds."""
    rng = numpy_stream(0, "simulation", scenario.name, n)
    counts = Counts(scenario.ahead)
    for _ in range(repeats):
        counts.add(scenario.draw(rng, scenario.ahead, n))
    return counts


HEAD = (
    "truth and noise", "seeds", "tables with a wrong verdict", "reproduced", "power on pages", "opposite", "equivalent",
    "CI over seeds holds", "equal rows ranked apart",
)  # fmt: skip


def line(scenario: Scenario, n: int, counts: Counts) -> list[str]:
    """A row of the table."""
    return [
        scenario.name,
        str(n),
        share(counts.wrong, counts.tables),
        share(counts.kinds["reproduced"], counts.claims),
        share(sum(counts.power), len(counts.power)),
        share(counts.kinds["opposite"], counts.claims),
        share(counts.kinds["equivalent"], counts.claims),
        share(counts.held, counts.claims),
        share(counts.apart, counts.tables),
    ]


def share(count: float, of: int) -> str:
    """In percent."""
    return f"{100 * count / of:.1f}%" if of else "–"


SIZES = (1, 3, 10, 30)


def confirmable() -> list[list[str]]:
    """The least difference that could be confirmed, in standard deviations of the paired difference."""
    return [[f"{n} seeds", *(f"{half_width(1, n, ALPHA / size):.1f}" for size in SIZES)] for n in (3, 4, 5, 7, 10, 20)]


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table."""
    return "".join(f"| {' | '.join(row)} |\n" for row in [head, ["---"] * len(head), *lines])


def tables(repeats: int) -> str:
    """Both tables, and what they are of."""
    lines = [line(scenario, n, simulate(scenario, n, repeats)) for scenario in SCENARIOS for n in SEEDS]
    head = ["", *(f"{size} claims" if size > 1 else "1 claim" for size in SIZES)]
    return (
        f"`python benchmarks/verdicts.py --repeats {repeats} --out docs/statistics.md` drew {repeats:,} tables for "
        "each line.\n\n"
        f"{markdown(HEAD, lines)}\n"
        "The smallest difference that can be confirmed, in standard deviations of the paired difference, by the size "
        f"of the family:\n\n{markdown(head, confirmable())}"
    )


def main() -> None:
    """Simulate, and print or store the tables."""
    parser = argparse.ArgumentParser(description="Error rates, coverage and power of the verdicts on claims.")
    parser.add_argument("--repeats", type=int, default=2000, help="tables for each line (default: 2000)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write between the marks of this file")
    options = parser.parse_args()
    text = tables(options.repeats)
    if options.out is None:
        print(text)
        return
    before, _, after = split(options.out.read_text("utf-8"))
    options.out.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", "utf-8")


def split(page: str) -> tuple[str, str, str]:
    """What stands before, between and after the marks of a page."""
    before, begin, rest = page.partition(BEGIN)
    between, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"The page needs a line {BEGIN.strip()} and below it a line {END}.")
    return before, between, after


if __name__ == "__main__":
    main()
