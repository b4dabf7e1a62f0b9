"""How often verdicts are wrong, and how often they find what is there, where the truth is known.

Draws what searches find, and judges the reported runs with the functions that the pages use: `shared` points of trials,
`judge_family` and `ranking`. Nothing is copied here.

    python benchmarks/verdicts.py [--repeats 2000] [--out docs/statistics.md]

`--out` writes the tables between the two marks of that file; without it they are printed.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchsuite.analysis.stats import ALPHA, Paired, half_width, ranking
from benchsuite.analysis.verdict import ClaimQuestion, Family, Verdict, judge_family
from benchsuite.planning.search_space import STEPS, shared
from benchsuite.streams import numpy_stream

Floats = NDArray[np.float64]

REPLICATES = (5, 10)
ROWS = 9
TRIALS = 16
INTEREST = 0.01
"""The smallest difference of interest: one point, as the recipes of latents state it."""
OWN, COMMON = 0.003, 0.01
"""Standard deviations over replicates: of each training by itself, and of what a replicate does to all rows."""
STEEP = 0.4
"""How much is lost at a squared distance of 1 from a row's best temperature and rate, whose scales are [0, 1): with it
a search moves a row about as much as was measured at latents, three times its seeds."""
JITTER = 0.05
"""How far a row's best values lie elsewhere in each replicate."""
CHANCE = 0.005
BEGIN, END = "<!-- made by benchmarks/verdicts.py -->\n", "<!-- end -->"


@dataclass(frozen=True)
class Scenario:
    """Rows whose true means are known; the first is the reference."""

    name: str
    ahead: float = 0.0
    """By how much each other row's true mean is above the reference's."""
    luck: float = 1.0
    """Noise of a trial's score beside that of a training: above 1 the search chooses by luck."""
    further: int = 0
    """Numbers that each row but the reference draws beside temperature and rate, as steep as these."""
    diverging: float = 0.0
    """Share of rates at which the last row's trials have no score."""
    alike: float = 0.0
    """Share of a training's variance that all replicates have in common: their test items, or their world."""
    once: bool = False
    """One search for all replicates."""
    tail: bool = False
    """Trainings vary by Student's t with 3 degrees of freedom, of the same standard deviation."""
    collapsing: float = 0.0
    """Share of the reported runs that end at chance."""

    def draw(self, rng: np.random.Generator, n: int) -> Floats:
        """Reported results [rows, replicates]: of each search the best trial's values, trained once more.

        Rows are equal, or ahead, as a search leaves them on average: what it costs a row on average is no difference.
        """
        truth = np.full((ROWS, 1), 0.5 + self.ahead)
        truth[0] = 0.5
        own = np.sqrt(self.alike) * self._noise(rng, (ROWS, 1)) + np.sqrt(1 - self.alike) * self._noise(rng, (ROWS, n))
        luck = average_loss(self)[:, None] - self.lost(rng, n)
        values = truth + rng.normal(0, COMMON, (1, n)) + own + luck
        failed = rng.random(values.shape) < self.collapsing
        return np.where(failed, CHANCE + rng.normal(0, CHANCE / 5, values.shape), values)

    def lost(self, rng: np.random.Generator, n: int) -> Floats:
        """What the chosen trials [rows, replicates] lie below each row's best."""
        first = int(rng.integers(1_000_000))
        points = np.array(
            [[[shared(name, trial, first + r) for name in STEPS] for trial in range(TRIALS)] for r in range(n)]
        )  # [replicates, trials, 2]
        best = rng.uniform(0.3, 0.7, (ROWS, 1, 1, 2)) + JITTER * rng.normal(size=(ROWS, n, 1, 2))
        lost = STEEP * ((points - best) ** 2).sum(axis=3)  # [rows, replicates, trials]
        lost[1:] += STEEP * (rng.uniform(-0.5, 0.5, (ROWS - 1, n, TRIALS, self.further)) ** 2).sum(axis=3)
        scores = self.luck * self._noise(rng, lost.shape) - lost
        scores[-1][points[..., 1] > 1 - self.diverging] = -np.inf
        chosen = scores.argmax(axis=2)
        if self.once:
            chosen, lost = chosen[:, :1].repeat(n, axis=1), lost[:, :1].repeat(n, axis=1)
        found: Floats = np.take_along_axis(lost, chosen[..., None], 2)[..., 0]
        return found

    def _noise(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        noise: Floats = OWN / 3**0.5 * rng.standard_t(3, shape) if self.tail else rng.normal(0, OWN, shape)
        return noise


@cache
def average_loss(scenario: Scenario) -> Floats:
    """Of each row."""
    rng = numpy_stream(0, "average loss", scenario.name)
    return np.mean([scenario.lost(rng, 10) for _ in range(1000)], axis=(0, 2))


TWICE = 2 * INTEREST
SCENARIOS = (
    Scenario("equal rows"),
    Scenario("equal, all rows but one draw three numbers more", further=3),
    Scenario("equal, searches decided by luck", luck=10),
    Scenario("equal, a third of one row's trials diverges", diverging=0.3),
    Scenario("equal, heavy tails (t with 3 degrees)", tail=True),
    Scenario("equal, a tenth of the reported runs ends at chance", collapsing=0.1),
    Scenario("equal, replicates have a tenth of the variance in common", alike=0.1),
    Scenario("equal, replicates have half of the variance in common", alike=0.5),
    Scenario("equal, one search for all replicates", once=True),
    Scenario("ahead by half of the smallest difference", INTEREST / 2),
    Scenario("ahead by the smallest difference", INTEREST),
    Scenario("ahead by twice the smallest difference", TWICE),
    Scenario("ahead by twice, searches decided by luck", TWICE, luck=10),
    Scenario("ahead by twice, a tenth of the reported runs ends at chance", TWICE, collapsing=0.1),
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
    """Intervals that hold the truth."""
    power: list[float] = field(default_factory=list)
    """For a difference as large as the true one, as pages show it."""
    apart: int = 0
    """Tables in which rows that are equal have ranks that say they differ."""

    @property
    def claims(self) -> int:
        """Of all tables: each row is said to beat the first."""
        return (ROWS - 1) * self.tables

    def add(self, drawn: Floats) -> None:
        """Judge one table, of values [rows, replicates]."""
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
        counts.add(scenario.draw(rng, n))
    return counts


HEAD = (
    "truth and noise", "replicates", "tables with a wrong verdict", "reproduced", "power on pages", "opposite",
    "equivalent", "CI holds", "equal rows ranked apart",
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
    return [
        [f"{n} replicates", *(f"{half_width(1, n, ALPHA / size):.1f}" for size in SIZES)] for n in (3, 4, 5, 7, 10, 20)
    ]


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table."""
    return "".join(f"| {' | '.join(row)} |\n" for row in [head, ["---"] * len(head), *lines])


def tables(repeats: int) -> str:
    """Both tables, and what they are of."""
    lines = [line(scenario, n, simulate(scenario, n, repeats)) for scenario in SCENARIOS for n in REPLICATES]
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
