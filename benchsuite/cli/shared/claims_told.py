"""Headline claims, a line each or as plain data, as several commands tell them."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchsuite.analysis.both_regimes import InBothRegimes
    from benchsuite.analysis.judged_claims import JudgedClaim


def beside(*texts: str) -> str:
    """What is to be known beside a verdict, where there is anything."""
    return "".join(f" [{text}]" for text in texts if text)


def both_line(both: "InBothRegimes") -> str:
    """What became of a headline claim's gain, with the difference in each regime."""
    claim = both.tuned.claim
    where = f"{claim.table} at scale {both.tuned.scale}"
    published = "" if claim.published is None else f"published by {claim.published:g}, "
    said = f"{published}{gains_of(both)}{beside(both.idle, both.tuned.remark)}"
    return f"{where}: {claim.name}: {both.outcome} ({both.meaning}): {said}"


def gains_of(both: "InBothRegimes") -> str:
    """Its differences in both regimes, and the row as printed less the baseline tuned."""
    from benchsuite.report.numbers import paired

    printed, tuned = (paired(one.gains, one.claim.column.unit) for one in (both.printed, both.tuned))
    across = paired(both.across, both.tuned.claim.column.unit)
    return f"as printed {printed}, tuned {tuned}; as printed less the baseline tuned {across}"


def claim_as_json(judged: "JudgedClaim") -> dict[str, Any]:
    """Plain data."""
    claim, verdict = judged.claim, judged.verdict
    paired = verdict.paired
    return {
        "table": claim.table,
        "scale": judged.scale or None,
        "remark": judged.remark,
        "idle_reference": judged.idle,
        "regime": judged.regime,
        "row": "/".join(filter(None, claim.row)),
        "reference": "/".join(filter(None, claim.reference)),
        "column": claim.column.key,
        "headline": claim.headline,
        "added": claim.added,
        "stand_in": judged.stand_in or None,
        "published_difference": claim.published,
        "description": claim.statement or None,
        "locator": claim.locator or None,
        "stated_difference": claim.by,
        "note": claim.note or None,
        "verdict": verdict.kind,
        "reason": verdict.reason,
        "gain": judged.gain,
        "difference": paired and paired.difference,
        "interval": [paired.low, paired.high] if paired else None,
        "seeds": list(paired.seeds) if paired else [],
        "p_adjusted": verdict.p_adjusted,
        "false_discovery_rate": verdict.false_discovery_rate,
        "family": verdict.family and verdict.family.name,
        "family_size": verdict.family and verdict.family.size,
        "confirmable_difference": verdict.confirmable,
        "power_for_published": verdict.power,
        "seeds_for_interest": verdict.seeds_for_interest,
        "fields": list(verdict.fields),
    }
