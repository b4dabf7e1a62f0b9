"""The page of speed: there if something was measured, each machine's latest, aims reached and missed."""

from dataclasses import replace

from support.html_pages import Reading, leaderboard, pages

from benchsuite.records.benchmarks import Benchmark, Measurement, Timed


def measured(created: str, ours: float, processor: str = "a <b>processor") -> Measurement:
    timed = (
        Timed(by="benchsuite", seconds=(ours, ours + 1), megabytes=300.0),
        Timed(by="clip-benchmark", seconds=(50.0,), megabytes=8300.0),
    )
    knn = Benchmark(
        name="ranks", what="Ranks <both> ways", timed=timed, aims={"clip-benchmark": 25}, most_megabytes=400.0
    )
    environment = {"processor": processor, "threads": 1, "commit": "0123456789", "dirty": False}
    packages = {"benchsuite": "0.1.0", "packages": {"torch": "2.0"}}
    return Measurement.seal(
        created=created, size="full", environment=environment | packages, cores=2, load=0.25, benchmarks=(knn,)
    )


def of(*measurements: Measurement) -> dict[str, str]:
    board = leaderboard()
    return dict(pages(replace(board, contents=replace(board.contents, measurements=measurements))))


def test_without_a_measurement_there_is_no_page() -> None:
    found = of()
    assert "speed" not in found
    assert "Speed" not in Reading(found["index"]).text


def test_the_latest_of_each_machine_with_what_was_aimed_at() -> None:
    later, earlier = measured("2026-02-02T00:00:00+00:00", 1.5), measured("2026-01-01T00:00:00+00:00", 3.0)
    found = of(later, earlier, measured("2025-12-01T00:00:00+00:00", 4.0, "another processor"))
    page = Reading(found["speed"])
    assert "speed.html" in Reading(found["index"]).addresses
    assert "b" not in page.tags
    assert page.text.count("Ranks <both> ways") == 2
    assert "a <b>processor, threads: 1, full" in page.text
    assert "0.25 of 2 processors busy" in page.text
    assert "25.00" in page.text
    assert "at least 25 times: reached" in page.text
    assert "at most 400 MB: reached" in page.text
    assert "at least 25 times: missed" in page.text  # by the other machine
    assert "Ratios over time" in page.text
    assert "14.29" in page.text
