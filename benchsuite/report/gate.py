"""What the regression gate found: a summary for people, JUnit for a CI."""

from collections import Counter
from collections.abc import Sequence
from xml.etree import ElementTree

from benchsuite.analysis.regression import BAD, Check


def summary(checks: Sequence[Check]) -> str:
    """Markdown: what is not as expected, by kind; then the count of what is."""
    counts = Counter(check.kind for check in checks)
    told = ", ".join(f"{n} {kind}" for kind, n in counts.most_common())
    lines = ["# Regression gate", "", f"{len(checks)} checks: {told or 'none'}.", ""]
    notable = [check for check in checks if check.kind != "unchanged"]
    if notable:
        lines += ["| what happened | method | check | expected | found | band |", "|---|---|---|---|---|---|"]
        lines += [
            f"| {c.kind} | {_cell(c.subject)} | {_cell(c.what)} | {c.expected} | {_cell(c.found)} | {c.band} |"
            for c in notable
        ]
    return "\n".join(lines) + "\n"


def junit(checks: Sequence[Check]) -> str:
    """JUnit XML: a test case a check."""
    bad = [check for check in checks if check.kind in BAD]
    crashed = sum(check.kind == "crashed" for check in bad)
    suite = ElementTree.Element(
        "testsuite", name="benchsuite regress", tests=f"{len(checks)}", failures=f"{len(bad) - crashed}",
        errors=f"{crashed}",
    )  # fmt: skip
    for check in checks:
        case = ElementTree.SubElement(suite, "testcase", classname=check.subject, name=check.what)
        if check.kind in BAD:
            tag = "error" if check.kind == "crashed" else "failure"
            ElementTree.SubElement(case, tag, type=check.kind, message=check.line)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
