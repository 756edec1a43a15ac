"""The way through the workbench with UCI's Adult."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browsing import chromium, look
from tests.workbench.served import served
from tests.workbench.walker import LONG, Walker

pytestmark = [pytest.mark.browser, pytest.mark.data, pytest.mark.slow]


def test_from_the_file_to_a_verified_release_and_its_evidence(
    tmp_path: Path, adult_path: Path
) -> None:
    with chromium(tmp_path / "profile") as browser, served(tmp_path / "adult") as place:
        look(browser, width=1400)
        walker = Walker(browser, place).enter()
        walker.go("/table")
        walker.find("//input[@type='file']").send_keys(str(adult_path))
        walker.press("Send the file")
        walker.sees("Next: Roles", LONG)
        walker.press("Next: Roles")
        walker.sees("By event, the most known first", LONG)
        walker.tick("All")
        walker.choose("Make the ticked columns", "not published")
        walker.press("Apply")
        walker.until(lambda: not place.project.draft.get("qi"))
        walker.unfold("unpublished")
        for column in ("age", "sex", "race"):
            walker.choose(f"Role of {column}", "known to outsiders (QI)")
            walker.until(lambda one=column: one in place.project.draft.get("qi", []))  # type: ignore[misc]
        walker.choose("Role of occupation", "sensitive")
        walker.sees("Values of occupation")
        walker.tick("Priv-house-serv")
        walker.press("Protect as one event")
        walker.until(lambda: place.project.draft.get("protect"))
        walker.write("r", "5")
        walker.until(lambda: place.project.draft["r"] == 5)
        walker.go("/run")
        walker.press("Start")
        walker.sees("Verified. Every link of a person to an event", LONG)
        run = place.project.run("0001")
        made = run.result("anonymize")
        assert made is not None
        left = f"people published, {made['suppressed']:,} left out"
        assert walker.figure(left) == f"{made['published']:,}"
        walker.press("Write the evidence file")
        walker.sees("Write the evidence file again")
        assert (run.folder / "evidence.html").is_file()
        walker.quiet()
