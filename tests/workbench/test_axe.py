"""axe-core, which looks for what keeps people from using a page, on every page of the workbench.

Its script comes with the package selenium-axe-python, of the extra `test` alone.
"""

from __future__ import annotations

from importlib.resources import files

import pytest

from tests.browsing import look
from tests.workbench.full import EMPTY, FULL, shown
from tests.workbench.walker import Walker

pytestmark = [pytest.mark.browser, pytest.mark.slow]
pytest.importorskip("selenium_axe_python", reason="needs axe-core: the extra test")


def violations(walker: Walker) -> list[str]:
    """What is serious or worse, and where."""
    script = (files("selenium_axe_python") / "axe-core" / "axe.min.js").read_text("utf-8")
    walker.browser.execute_script(script)
    found = walker.browser.execute_async_script(
        "const done = arguments[0]; axe.run().then(done, (e) => done({error: String(e)}))"
    )
    assert "violations" in found, found
    return [
        f"{one['id']}: {node['target']} {node['failureSummary']}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("kind", ["empty", "full"])
def test_no_page_keeps_anybody_out(kind: str, mode: str, request: pytest.FixtureRequest) -> None:
    walker = request.getfixturevalue(kind)
    look(walker.browser, width=1280, mode=mode)
    found = {}
    for path in EMPTY if kind == "empty" else FULL:
        shown(walker, path, full=kind == "full")
        if wrong := violations(walker):
            found[path] = wrong
    assert found == {}
