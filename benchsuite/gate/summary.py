"""The regression gate's checks: a summary for people, JUnit for CI."""

from collections import Counter
from collections.abc import Sequence
from xml.etree import ElementTree

from benchsuite.gate.decision import BAD, Check
from benchsuite.harmless import spelled
from benchsuite.report.markdown import head, row, text
from benchsuite.report.numbers import counted


def summary(checks: Sequence[Check]) -> str:
    """Markdown: how many checks of each kind, then every check that is not as expected."""
    counts = ", ".join(f"{n} {kind}" for kind, n in Counter(check.kind for check in checks).most_common())
    lines = ["# Regression gate", "", f"{counted(len(checks), 'check')}: {counts or 'none'}.", ""]
    notable = [check for check in checks if check.kind != "unchanged"]
    if notable:
        lines += head(["result", "method", "check", "expected", "measured", "tolerance"])
        lines += [row(map(text, (c.kind, c.subject, c.what, c.expected, c.found, c.band))) for c in notable]
    return "\n".join(lines) + "\n"


def junit(checks: Sequence[Check]) -> str:
    """JUnit XML: a test case for each check."""
    kinds = Counter(check.kind for check in checks)
    failures = sum(kinds[kind] for kind in BAD) - kinds["crashed"]
    suite = ElementTree.Element(
        "testsuite", name="benchsuite regress", tests=f"{len(checks)}", failures=f"{failures}",
        errors=f"{kinds['crashed']}",
    )  # fmt: skip
    for check in checks:
        case = ElementTree.SubElement(suite, "testcase", classname=spelled(check.subject), name=spelled(check.what))
        if check.kind in BAD:
            tag = "error" if check.kind == "crashed" else "failure"
            ElementTree.SubElement(case, tag, type=check.kind, message=spelled(check.line))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
