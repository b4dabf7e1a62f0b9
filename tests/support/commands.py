"""Commands of the suite, called in this process."""

from benchsuite.cli import main


def exit_code(*arguments: object) -> int:
    """What `benchsuite ARGUMENTS` ends with."""
    try:
        main([str(argument) for argument in arguments])
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0
