"""The paper's claims, each held against the numbers of a run. Every sentence is made from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from studies.figures import EXACT_ENOUGH
from studies.results import Results

Record = dict[str, Any]
OTHERS = ("Anatomy", "MASK", "Injector", "t-closeness")


@dataclass(frozen=True)
class Finding:
    """A claim of the paper, what was measured, and whether they agree."""

    claim: str
    measured: str
    agrees: bool | None
    """None where only a part of the claim holds."""

    @property
    def verdict(self) -> str:
        return {True: "agrees", False: "does not agree", None: "agrees in part"}[self.agrees]


class Curves:
    """The averaged lines of one study, by method and value."""

    def __init__(self, results: Results, study: str) -> None:
        self.records = results.averaged(study)

    def of(self, method: str, measure: str) -> dict[float, float]:
        return {
            record["value"]: record[measure]
            for record in self.records
            if record["method"] == method and record.get(measure) is not None
        }

    def ends(self, method: str, measure: str) -> tuple[float, float]:
        curve = self.of(method, measure)
        return curve[min(curve)], curve[max(curve)]

    def exact(self, method: str) -> bool:
        """Whether nearly all posteriors of a method's releases could be judged exactly."""
        return min(self.of(method, "exact_share").values(), default=1.0) >= EXACT_ENOUGH

    def shared(self, measure: str, methods: Sequence[str]) -> dict[float, dict[str, float]]:
        """Values at which all the methods have the measure."""
        curves = {method: self.of(method, measure) for method in methods}
        values = set.intersection(*(set(curve) for curve in curves.values()))
        return {value: {m: curves[m][value] for m in methods} for value in sorted(values)}


def shown_seconds(seconds: float) -> str:
    """Two digits of a short time, whole seconds of a long one."""
    return f"{seconds:.2g}" if seconds < 10 else f"{seconds:,.0f}"


def paper_claims(results: Results) -> list[Finding]:
    """Findings on section 5 of the paper; studies that a run lacks are passed over."""
    studies = results.about["studies"]
    curves = {name: Curves(results, name) for name in studies}

    def none_in_art(sizes: Curves) -> Finding:
        return _art_has_none(sizes, curves.get("adversaries"))

    makers: list[tuple[str, Callable[[Curves], Finding]]] = [
        ("qi-size", _time),
        ("qi-size", _error_grows),
        ("qi-size", _error_largest),
        ("qi-size", _error_injector),
        ("qi-size", _problematic_grows),
        ("qi-size", _mask_breaches_least),
        ("qi-size", none_in_art),
        ("qi-size", _delta_order),
        ("qi-size", _delta_bound),
        ("r", _smaller_r),
        ("qi-size", _art_against_anatomy),
    ]
    findings = [maker(curves[study]) for study, maker in makers if study in curves]
    return (
        [*findings, _guess_rates(results)] if findings and _has(results, "guess_rate") else findings
    )


def _has(results: Results, measure: str) -> bool:
    return measure in results.lines.columns


def _time(curves: Curves) -> Finding:
    low, high = curves.ends("ART", "seconds")
    shared = curves.shared("seconds", ("ART", *OTHERS))
    slower = all(
        at["ART"] > max(at["Anatomy"], at["MASK"], at["t-closeness"]) for at in shared.values()
    )
    return Finding(
        "Execution time grows with the QI size, ART's most; ART is slower than Anatomy, MASK and "
        "t-closeness.",
        f"ART goes from {shown_seconds(low)} s to {shown_seconds(high)} s and is "
        f"{'always' if slower else 'not always'} the slower one. Anatomy, a single pass over the "
        f"rows, stays near {1000 * curves.ends('Anatomy', 'seconds')[1]:.1g} ms.",
        (high > low) and slower,
    )


def _error_grows(curves: Curves) -> Finding:
    grown = {m: curves.ends(m, "relative_error") for m in ("ART", *OTHERS)}
    grows = [method for method, (low, high) in grown.items() if high > low]
    listed = "; ".join(f"{m} {low:.3g} to {high:.3g}" for m, (low, high) in grown.items())
    agrees = True if len(grows) == len(grown) else None if grows else False
    return Finding(
        "The average relative error grows with the QI size.",
        f"From the smallest to the largest QI size: {listed}. It grows for {_listed(grows)}.",
        agrees,
    )


def _error_largest(curves: Curves) -> Finding:
    shared = curves.shared("relative_error", ("ART", *OTHERS))
    largest = all(max(at, key=at.__getitem__) == "t-closeness" for at in shared.values())
    last = shared[max(shared)]
    return Finding(
        "t-closeness, a global recoding, has the largest error.",
        f"It is the largest at {'every' if largest else 'not every'} QI size; at "
        f"{max(shared):g} QIs {last['t-closeness']:.3g}, against "
        f"{max(v for m, v in last.items() if m != 't-closeness'):.3g} for the next.",
        largest,
    )


def _error_injector(curves: Curves) -> Finding:
    shared = curves.shared("relative_error", ("Anatomy", "Injector"))
    below = sum(at["Injector"] < at["Anatomy"] for at in shared.values())
    ratios = [at["Injector"] / at["Anatomy"] for at in shared.values()]
    return Finding(
        "Injector's error is small too.",
        f"It is below Anatomy's at {below} of {len(shared)} QI sizes, {min(ratios):.2f} to "
        f"{max(ratios):.2f} times as large.",
        True if below == len(shared) else None if below else False,
    )


def _problematic_grows(curves: Curves) -> Finding:
    grown = {m: curves.ends(m, "problematic_share") for m in OTHERS}
    judged = [m for m in OTHERS if curves.exact(m)]
    agrees = all(grown[m][1] >= grown[m][0] for m in judged)
    listed = "; ".join(f"{m} {low:.1%} to {high:.1%}" for m, (low, high) in grown.items())
    return Finding(
        "The share of problematic tuples among the sensitive ones grows with the QI size.",
        f"From the smallest to the largest QI size: {listed}. {_loose(curves, OTHERS)}",
        agrees if len(judged) == len(OTHERS) else (None if agrees else False),
    )


def _mask_breaches_least(curves: Curves) -> Finding:
    shared = curves.shared("problematic_share", OTHERS)
    least = [value for value, at in shared.items() if min(at, key=at.__getitem__) == "MASK"]
    settled = len(least) == len(shared)
    return Finding(
        "MASK breaches less than t-closeness, Anatomy and Injector.",
        f"MASK's proven breaches are the fewest at {len(least)} of {len(shared)} QI sizes; Anatomy "
        "and Injector expose "
        f"{min(min(at['Anatomy'], at['Injector']) for at in shared.values()):.0%} or more of the "
        f"sensitive tuples. {_loose(curves, OTHERS)}",
        True if settled else None if least else False,
    )


def _art_has_none(curves: Curves, adversaries: Curves | None = None) -> Finding:
    shares = curves.of("ART", "problematic_share")
    lost = curves.of("ART", "suppressed_share")
    clean = max(shares.values()) == 0
    price = ", ".join(f"{share:.1%} at {value:g} QIs" for value, share in lost.items())
    absent = {value: n for value, n in curves.of("ART", "absence_carriers").items() if n}
    telling = (
        " Being left out gives some of them away: "
        + ", ".join(f"{n:,.0f} at {value:g} QIs" for value, n in absent.items())
        + "."
        if absent
        else ""
    )
    own = adversaries.of("ART, Theorem 1", "problematic_share") if adversaries else {}
    paper = (
        " The paper's own condition, Theorem 1, leaves "
        + ", ".join(f"{share:.1%} at r = {value:g}" for value, share in own.items())
        + " problematic."
        if own
        else ""
    )
    holds = clean and not absent and max(own.values(), default=0.0) == 0
    return Finding(
        "There is no violation in ART.",
        f"The auditor finds {'none' if clean else 'some'} among the tuples that our verified ART "
        f"publishes; of the sensitive tuples it suppresses {price}.{telling}{paper}",
        True if holds else None if clean else False,
    )


def _art_against_anatomy(curves: Curves) -> Finding:
    parts, above = [], 0
    for measure, words in (
        ("relative_error", "all queries"),
        ("relative_error_protected", "queries about the event"),
    ):
        shared = curves.shared(measure, ("ART", "Anatomy"))
        worse = [value for value, at in shared.items() if at["ART"] > at["Anatomy"]]
        above += len(worse)
        where = ", ".join(
            f"{value:g} QIs ({shared[value]['ART']:.3g} against {shared[value]['Anatomy']:.3g})"
            for value in worse
        )
        parts.append(f"On {words} ART's error is above Anatomy's at {where or 'no QI size'}")
    total = 2 * len(curves.shared("relative_error", ("ART", "Anatomy")))
    return Finding(
        "(Ours, not the paper's:) ART answers queries at least as well as Anatomy.",
        f"{'. '.join(parts)}.",
        True if above == 0 else None if above < total else False,
    )


def _guess_rates(results: Results) -> Finding:
    lines = [
        (record["r"], record["guess_rate"])
        for study in results.about["studies"]
        for record in Curves(results, study).records
        if record["method"] == "ART" and record.get("guess_rate") is not None
    ]
    over = sorted({(r, rate) for r, rate in lines if rate > 1 / r})
    worst = max(over, key=lambda one: one[0] * one[1], default=None)
    return Finding(
        "(Ours, not the paper's:) the likeliest member of a group is a case no more often "
        "than 1/r.",
        "It never is more often."
        if worst is None
        else f"It is, more often, in {len(over)} settings, at worst {worst[1]:.1%} for "
        f"1/r = {1 / worst[0]:.1%}.",
        worst is None,
    )


def _delta_order(curves: Curves) -> Finding:
    shared = curves.shared("average_delta", ("ART", *OTHERS))
    smallest = all(min(at, key=at.__getitem__) == "ART" for at in shared.values())
    top = all(
        min(at["Anatomy"], at["Injector"]) > max(at["MASK"], at["t-closeness"])
        for at in shared.values()
    )
    over = [
        method
        for method in ("MASK", "t-closeness")
        if any(at[method] >= min(at["Anatomy"], at["Injector"]) for at in shared.values())
    ]
    last = shared[max(shared)]
    listed = ", ".join(f"{m} {value:.3f}" for m, value in sorted(last.items(), key=lambda x: -x[1]))
    return Finding(
        "The average Δ is largest in Anatomy and Injector, then MASK and t-closeness; ART's is "
        "smallest.",
        f"At {max(shared):g} QIs: {listed}. ART's is {'always' if smallest else 'not always'} the "
        "smallest" + ("." if top else f"; {_listed(over)} not below Anatomy and Injector."),
        True if smallest and top else None if smallest or len(over) < 2 else False,
    )


def _delta_bound(curves: Curves) -> Finding:
    bound = curves.of("ART", "theoretical_bound")
    shared = curves.shared("average_delta", ("Anatomy", "Injector", "MASK"))
    over = all(min(at["Anatomy"], at["Injector"]) > bound[v] for v, at in shared.items())
    under = all(at["MASK"] < bound[v] for v, at in shared.items())
    carrying = curves.ends("ART", "average_delta_carrying")[1]
    return Finding(
        "Anatomy and Injector lie above Theorem 1's bound, MASK below it (and breaches anyway).",
        f"Anatomy and Injector are {'above' if over else 'not always above'}, MASK is "
        f"{'below' if under else 'not always below'}. ART's own mean in the groups "
        f"that hold the event is {carrying:.3f}, the bound {bound[max(bound)]:.3f}, at "
        f"{max(bound):g} QIs.",
        True if over and under else None if over or under else False,
    )


def _smaller_r(curves: Curves) -> Finding:
    time, error = curves.ends("ART", "seconds"), curves.ends("ART", "relative_error")
    delta = curves.ends("ART", "average_delta_carrying")
    ok = [time[0] < time[1], error[0] < error[1], delta[0] > delta[1]]
    return Finding(
        "At r = 2 execution time and error are smaller than at r = 10, and the average Δ larger.",
        f"ART: {shown_seconds(time[0])} s and error {error[0]:.3g} at the smallest r, "
        f"{shown_seconds(time[1])} s and "
        f"{error[1]:.3g} at the largest; Δ in groups with the event {delta[0]:.3f} and "
        f"{delta[1]:.3f}.",
        True if all(ok) else None if any(ok) else False,
    )


def _loose(curves: Curves, methods: Sequence[str]) -> str:
    loose = [method for method in methods if not curves.exact(method)]
    if not loose:
        return ""
    shares = [s for m in loose for s in curves.of(m, "exact_share").values()]
    return (
        f"For {_listed(loose)} these are proven breaches only: its classes are too large to judge "
        f"exactly ({min(shares):.0%} of the posteriors are exact), so there may be more."
    )


def _listed(names: Sequence[str]) -> str:
    if not names:
        return "none of them"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
