"""One HTML file from facts: text by templates, charts by Vega, nothing from outside.

A content security policy admits the page's one script by its hash and no address at all. Every
chart also stands there as a drawing, for print and for readers without scripts.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from shoal.auditing.attacked import AttackResult
from shoal.auditing.check_words import Parted
from shoal.auditing.checks import most_people
from shoal.auditing.verdict import Audit
from shoal.data.storage import replace_file
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.groups import Grouping
from shoal.release import Release
from shoal.release.facts.contents import Facts, audit_facts, release_facts
from shoal.release.facts.records import Bar, Repeat
from shoal.report import measured, sentences
from shoal.report.charts import audit as charts
from shoal.report.charts.stored import Chart
from shoal.report.public import hidden_count, judged, public_facts
from shoal.wording import exposed_words, isolated, percent, some, visible

if TYPE_CHECKING:
    from jinja2 import Environment

Edition = Literal["internal", "public"]
EDITIONS = ("internal", "public")
DRAWN_WIDTH = 640
VEGA_LITE = "6.4"
_CLIP = re.compile(r'(?<=id=")clip\d+(?=")|(?<=url\(#)clip\d+(?=\))')
_UNSAFE = {sign: f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def render_audit(
    audit: Audit,
    table: Table,
    *,
    edition: Edition = "internal",
    grouping: Grouping | None = None,
    repeat: Repeat | None = None,
) -> str:
    """The report of an audit, as HTML."""
    return render(audit_facts(audit, table, grouping=grouping, repeat=repeat), edition=edition)


def render_release(
    release: Release, table: Table, *, edition: Edition = "internal", repeat: Repeat | None = None
) -> str:
    """The report of a release and the audit behind it, as HTML."""
    return render(release_facts(release, table, repeat=repeat), edition=edition)


def render(facts: Facts, *, edition: Edition = "internal") -> str:
    """The report of facts, as HTML. The same facts give the same bytes."""
    if edition not in EDITIONS:
        raise InputError(
            "report-edition", f'There is no edition "{edition}".', "Choose internal or public."
        )
    public = edition == "public"
    shown = public_facts(facts) if public else facts
    specs = chart_specs(shown, public=public)
    script = _script()
    return (
        templates("shoal.report")
        .get_template("page.html.j2")
        .render(
            facts=shown,
            public=public,
            verdict=sentences.verdict_sentence(shown, public=public),
            story=sentences.story(
                shown.verdict.worst, public=public, undecided=shown.verdict.undecided
            ),
            meaning=sentences.meaning(shown),
            known=sentences.known_sentence(shown, public=public),
            exposed=exposed_words(len(shown.people), shown.verdict.as_exposed),
            checks=Parted.of(
                shown.checks,
                sentences.checks_said(shown, public=public),
                tried=shown.attack is not None,
            ),
            tone=sentences.tone(shown),
            above=most_people(shown.checks),
            in_short=sentences.in_short(shown),
            assumptions=sentences.assumptions(shown),
            limits=sentences.limits_of_theory(shown, public=public),
            class_errors=measured.class_errors(shown.queries),
            attack=measured.attack_sentence(shown.attack),
            surest_of=measured.surest_table,
            seed=sentences.seed_sentence(shown),
            charts=specs,
            drawings={name: drawing(name, spec) for name, spec in specs.items()},
            chart_data=script_json(specs),
            style=asset("page.css"),
            script=script,
            script_hash=_hash(script),
        )
    )


def write(html: str, path: str | Path) -> None:
    """Writes a page whole, or leaves what was there."""
    with replace_file(path) as new:
        new.write_text(html, encoding="utf-8")


def script_json(data: Any) -> str:
    """JSON that can stand inside a script element, whatever texts it holds."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    return "".join(_UNSAFE.get(sign, sign) for sign in text)


def chart_specs(facts: Facts, *, public: bool) -> dict[str, Chart]:
    """The charts of an edition, by the names that its templates know them by."""
    specs: dict[str, Chart] = {}
    limit = 1.0 if facts.relative else facts.limits[0]
    bins = [one for part in facts.risk.values() for one in part]
    span = max([one.high for one in bins if one.people] + [1.25 * limit])
    top = 1.06 * max([one.people / one.parts for one in bins] + [1])
    for when, part in facts.risk.items():
        if part:
            specs[f"risk-{when}"] = charts.risk_chart(
                part, when, limit=limit, span=span, top=top, relative=facts.relative
            )
    views = facts.views
    if any(one.worst > 0 for one in views):
        specs["views"] = charts.view_chart(
            views, limit=limit, relative=facts.relative, public=public
        )
    if facts.sizes:
        specs["sizes"] = charts.size_chart(facts.sizes)
    if facts.verdict.event_groups:
        specs["deltas"] = charts.delta_chart(views)
    if isinstance(facts.attack, AttackResult) and (drawn := charts.attack_chart(facts.attack)):
        specs["attack"] = drawn
    for number, column in enumerate(facts.loss):
        if column.bars:
            specs[f"column-{number}"] = charts.distribution_chart(_shares(column.bars))
    return specs


def _shares(bars: Sequence[Bar]) -> list[Bar]:
    """Bars as shares, rounded so that no single row can be read off them."""
    before, after = sum(bar.before for bar in bars) or 1, sum(bar.after for bar in bars) or 1
    return [
        Bar(bar.label, round(bar.before / before, 4), round(bar.after / after, 4)) for bar in bars
    ]


def drawing(name: str, spec: Chart, *, width: int = DRAWN_WIDTH) -> str:
    """A chart as SVG, drawn here; ids are made its own, and the same in every run. It has no style
    of its own: its colours are variables of a page's style sheet."""
    return _drawn(name, json.dumps({**spec, "width": width}))


@lru_cache(maxsize=64)
def _drawn(name: str, spec: str) -> str:
    import vl_convert

    drawn = str(vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE))
    numbers = {given: place for place, given in enumerate(dict.fromkeys(_CLIP.findall(drawn)))}
    return _CLIP.sub(lambda clip: f"{name}-clip{numbers[clip[0]]}", drawn)


@lru_cache(maxsize=1)
def _script() -> str:
    """Vega, Vega-Lite, Vega-Embed and the few lines that use them, as one script."""
    import vl_convert

    script = str(vl_convert.javascript_bundle(asset("page.js"), vl_version=VEGA_LITE))
    # The end of the element, or a comment that hides it, can stand in strings only.
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--").strip()


@lru_cache
def templates(*packages: str, own: Path | None = None) -> Environment:
    """The templates of packages, the first one's first: text is escaped, names must be known. Those
    in a user's `own` folder come before all, can extend the others as shoal/NAME, and reach nothing
    but what they are given."""
    from jinja2 import ChoiceLoader, FileSystemLoader, PackageLoader, PrefixLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    held = ChoiceLoader([PackageLoader(name) for name in packages])
    folders = [] if own is None else [FileSystemLoader(own)]
    environment = ImmutableSandboxedEnvironment(
        loader=ChoiceLoader([*folders, PrefixLoader({"shoal": held}), held]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        percent=_percent,
        visible=visible,
        isolated=isolated,
        judged=judged,
        hidden=hidden_count,
        some=some,
    )
    return environment


def _percent(share: float | None) -> str:
    """A share, or that this edition leaves it out."""
    return "not in this edition" if share is None else percent(share)


def asset(name: str, package: str = "shoal.report") -> str:
    """A file beside the templates of a package."""
    return (files(package) / "templates" / name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")
