"""`python -m benchsuite` is the `benchsuite` command."""

from benchsuite.cli import main

if __name__ == "__main__":
    main()
