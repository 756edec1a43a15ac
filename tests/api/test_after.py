"""A chain of releases: the same groups again, newcomers apart, and nobody told more than before."""

from __future__ import annotations

import json
import re
import shutil
from hashlib import sha256
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.data.datasets import HOSPITAL_EVENT, HOSPITAL_QI, HOSPITAL_SENSITIVE, hospital
from shoal.file_names import CERTIFICATE
from shoal.knowledge import Knowledge
from shoal.knowledge.entropy import all_counts, most_counted
from shoal.methods.art.asked import Asked
from shoal.release.ledger import CHAIN, LEDGER, PUBLISHED
from tests.cli.program import EVENT, refused, shoal_

MONTHS, ROWS = 3, 2400
SPEC = shoal.Spec(
    qi=HOSPITAL_QI[:3],
    sensitive=HOSPITAL_SENSITIVE,
    protect=[HOSPITAL_EVENT],
    identifiers=["patient"],
    r=3,
)


def table_of_month(month: int) -> pl.DataFrame:
    """Those of earlier months, but for ten who left and ten whose diagnosis is another; in another
    order; and newcomers."""
    frame = hospital(ROWS, 6).with_columns(patient=pl.int_range(ROWS).cast(pl.String))
    mine = frame[: ROWS * (month + 1) // MONTHS]
    if month:
        mine = mine[10:].with_columns(
            diagnosis=pl.when(pl.int_range(pl.len()) < 10)
            .then(pl.lit("Flu"))
            .otherwise("diagnosis")
        )
    return mine.sample(fraction=1.0, shuffle=True, seed=month)


def make(home: Path, month: int) -> shoal.Release:
    if month:
        given = {"after": home / f"release-{month - 1}-private"}
    else:
        given = {"ledger": True, "key": "patient"}
    made = shoal.anonymize(table_of_month(month), SPEC, seed=month, **given)
    made.save(home / f"release-{month}", private=home / f"release-{month}-private")
    return made


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chain")
    for month in range(MONTHS):
        made = make(folder, month)
        assert made.robust, made
        if month:
            assert made.ledger is not None
            assert made.audit is not None
            assert made.audit.releases is not None
            assert made.ledger.left == 10
            assert made.ledger.changed >= 5
            assert made.audit.releases.robust
            assert made.audit.releases.groups_bounded == 0
            assert made.audit.certain == 0
    return folder


def contents(release: Path) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """What each group publishes."""
    made = shoal.Release.load(release)
    held: dict[int, tuple[list[str], list[str]]] = {}
    for place, frame in enumerate((made.qi, made.sensitive)):
        for gid, *rest in frame.iter_rows():
            held.setdefault(gid, ([], []))[place].append(repr(rest))
    return sorted((tuple(sorted(a)), tuple(sorted(b))) for a, b in held.values())


def test_every_group_is_published_again_as_it_was(home: Path) -> None:
    for month in range(1, MONTHS):
        now, before = (contents(home / f"release-{one}") for one in (month, month - 1))
        for one in before:
            now.remove(one)
        assert now, "newcomers have groups of their own"


def test_it_verifies_with_its_ledger_as_the_table_and_with_its_chain(home: Path) -> None:
    for month in range(MONTHS):
        private = home / f"release-{month}-private"
        chain = [home / f"release-{one}" for one in range(month)]
        found = shoal.verify(
            home / f"release-{month}", private / LEDGER, private=private, chain=chain
        )
        assert found.confirmed, found
        assert found.robust
    whole = [home / "release-0", home / "release-1"]
    for wrong in ([], whole[::-1], whole[:1], whole[1:]):
        assert not shoal.verify(home / "release-2", chain=wrong).confirmed
    assert shoal.verify(home / "release-2", chain=whole).confirmed
    with pytest.raises(shoal.InputError, match="follows others"):
        shoal.verify(home / "release-2", home / "release-2-private" / LEDGER)


def test_a_table_in_another_order_is_judged_with_all_releases_by_their_ledgers(home: Path) -> None:
    """Whoever left is in none of its rows, and changed values are those that were published."""
    whole = table_of_month(2)
    releases = [home / f"release-{month}" for month in range(MONTHS)]
    found = shoal.audit_releases(whole, releases, earlier=MONTHS - 1)
    assert found.robust
    assert found.people == ROWS
    assert found.groups_exact == found.groups_bounded == found.certain == 0
    own = shoal.Release.load(releases[-1]).certificate["audit"]["together"]
    assert found.told == own["told"]
    assert not found.sure[: whole.height].any()


def test_two_that_follow_the_same_release_are_found_out(home: Path, tmp_path: Path) -> None:
    first = shutil.copytree(home / "release-0-private", tmp_path / "release-0-private")
    shutil.copytree(home / "release-0", tmp_path / "release-0")
    for name, seed in (("a", 1), ("b", 2)):
        made = shoal.anonymize(table_of_month(1), SPEC, seed=seed, after=first)
        if name == "b":
            with pytest.raises(shoal.InputError, match="of the same people") as refused:
                made.save(tmp_path / name, private=tmp_path / f"{name}-private")
            assert '(--after "' in refused.value.remedy
        made.save(tmp_path / name, private=tmp_path / f"{name}-private", alone=name == "b")
    both = shoal.audit_releases(table_of_month(1), [tmp_path / "a", tmp_path / "b"])
    assert both.robust is False
    assert both.certain > 0
    assert both.undecided > 0
    assert both.groups_alone > 0, "groups of the release that both follow"


def test_what_older_versions_did_not_say_is_not_held_against_them(
    home: Path, tmp_path: Path
) -> None:
    """They excepted people and did not count them."""
    release = shutil.copytree(home / "release-1", tmp_path / "release-1")
    private = shutil.copytree(home / "release-1-private", tmp_path / "release-1-private")
    told = json.loads((release / CERTIFICATE).read_text())
    del told["audit"]["together"]["told_certain"]
    for one in (told["audit"]["counter"], *told["audit"]["adversaries"]):
        one.pop("excepted", None)
    for place in (release / CERTIFICATE, private / PUBLISHED):
        place.write_text(json.dumps(told))
    chain = json.loads((private / CHAIN).read_text())
    chain["releases"][-1] = sha256((release / CERTIFICATE).read_bytes()).hexdigest()
    (private / CHAIN).write_text(json.dumps(chain))
    given = {"private": private, "chain": [home / "release-0"]}

    def wrong() -> set[str]:
        found = shoal.verify(release, private / LEDGER, **given)
        return {one.name for one in found.checks if not one.passed}

    assert wrong() == {"private folder"}, "which names the certificate as it was"
    told["audit"]["together"]["told"] += 1
    (release / CERTIFICATE).write_text(json.dumps(told))
    assert "certificate" in wrong(), "what it says is still compared"


def test_who_is_certain_by_counts_of_today_does_not_stay_so_by_a_weight(tmp_path: Path) -> None:
    """All counts of the first 750 people give somebody a case for certain, which those of 1,500 do
    not; what is published of them stays."""
    frame = hospital(1500, 0).with_columns(patient=pl.int_range(1500).cast(pl.String))
    spec = SPEC.with_(qi=HOSPITAL_QI)
    first = shoal.anonymize(frame[:750], spec, seed=0, ledger=True, key="patient")
    assert first.robust
    assert heaviest(first) <= 1 / 3
    first.save(tmp_path / "first", private=tmp_path / "private")
    table = first.made.table
    assert all_counts(table, Knowledge.of(table)).chance.max() == 1.0
    second = shoal.anonymize(frame, spec, seed=0, after=tmp_path / "private")
    assert second.robust
    assert heaviest(second) <= 1 / 3
    (weight,) = shoal.attack(second, table=frame, attackers=["weight"], seed=0).findings
    assert weight.everybody.tries > 0
    assert weight.certain.tries == weight.surprises == 0
    alone = shoal.anonymize(frame[:750], spec, seed=0)
    assert heaviest(alone) > 1 / 3, "which nothing follows"


def test_who_is_certain_by_a_weight_of_an_older_version_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It put people above 1/r whom all counts did; what it published stays."""
    frame = hospital(1500, 0).with_columns(patient=pl.int_range(1500).cast(pl.String))
    spec, private = SPEC.with_(qi=HOSPITAL_QI), tmp_path / "private"
    with monkeypatch.context() as older:
        older.setattr(
            Asked,
            "most_counted",
            lambda self, event: most_counted(self.whole, self._counts)[:, event],
        )
        first = shoal.anonymize(frame[:750], spec, seed=0, ledger=True, key="patient")
    assert first.robust
    assert heaviest(first) == 1.0
    first.save(tmp_path / "first", private=private)
    second = shoal.anonymize(frame, spec, seed=0, after=private)
    assert second.audit is not None
    assert second.audit.releases is not None
    (weight,) = shoal.attack(second, table=frame, attackers=["weight"], seed=0).findings
    assert second.audit.releases.told_certain == weight.surprises > 0
    assert second.audit.releases.told > weight.surprises
    assert second.robust is False
    assert [one.name for one in second.audit.checks if one.state == "broken"] == ["certainty"]
    second.save(tmp_path / "second", private=tmp_path / "second-private")
    found = shoal.verify(
        tmp_path / "second",
        tmp_path / "second-private" / LEDGER,
        private=tmp_path / "second-private",
        chain=[tmp_path / "first"],
    )
    assert found.confirmed, found
    both = [tmp_path / "first", tmp_path / "second"]
    audited = shoal.audit_releases(frame.sample(fraction=1.0, shuffle=True), both, earlier=1)
    told = second.audit.releases
    assert (audited.told, audited.told_certain) == (told.told, told.told_certain)


def heaviest(made: shoal.Release) -> float:
    weight = made.made.grouping.weight
    assert weight is not None
    return float(np.nanmax(weight))


def test_who_left_is_refused_where_too_little_is_known_of_them(home: Path) -> None:
    frame, after = table_of_month(2), [home / "release-1", home / "release-2"]
    with pytest.raises(shoal.InputError, match='their "ward" is not known'):
        shoal.audit_releases(frame, after, SPEC.with_(qi=[*SPEC.qi, "ward"]))
    again = pl.concat([frame, frame.tail(1)])
    with pytest.raises(shoal.InputError, match="does not name everybody once"):
        shoal.audit_releases(again, after, SPEC.with_(identifiers=()))


def test_all_releases_together_tell_what_the_last_one_tells(home: Path) -> None:
    """By the judge of releases, which knows nothing of ledgers."""
    last = home / "release-2-private" / LEDGER
    people = pl.read_parquet(last)
    rows = [
        people.select("(ledger) who")
        .join(
            pl.read_parquet(home / f"release-{month}-private" / LEDGER),
            on="(ledger) who",
            how="left",
            maintain_order="left",
        )["(ledger) gid"]
        .fill_null(-1)
        for month in range(MONTHS)
    ]
    table = shoal.Table.from_frame(people, SPEC.with_(identifiers=()))
    pooled = people["(ledger) pooled"].to_numpy()
    value = np.where(pooled, table.masked[table.row_value], table.row_value).astype(np.int32)
    shown = []
    for gid in rows:
        ids, group = np.unique(gid.to_numpy(), return_inverse=True)
        group = group - 1 if ids[0] < 0 else group
        shown.append(shoal.auditing.releases.Shown(table, group.astype(np.int32), value))
    found = shoal.auditing.releases.judge_releases(table, shown, earlier=MONTHS - 1)
    assert found.robust
    assert found.certain == 0
    assert found.groups_exact == found.groups_bounded == 0
    own = shoal.Release.load(home / "release-2").certificate["audit"]["together"]
    assert own["told"] == found.told


@pytest.mark.parametrize("how", ["people", "order", "short", "key", "gone"])
def test_a_ledger_that_was_changed_is_refused(home: Path, tmp_path: Path, how: str) -> None:
    private = shutil.copytree(home / "release-1-private", tmp_path / "private")
    plain = json.loads((private / CHAIN).read_text())
    if how == "people":
        lines = pl.read_parquet(private / LEDGER)
        lines.with_columns(pl.col(HOSPITAL_SENSITIVE).reverse()).write_parquet(private / LEDGER)
    elif how == "order":
        plain["releases"].reverse()
    elif how == "short":
        plain["releases"] = plain["releases"][1:]
    elif how == "key":
        plain["key"] = "00" * 32
    else:
        (private / PUBLISHED).unlink()
    (private / CHAIN).write_text(json.dumps(plain))
    with pytest.raises(shoal.InputError, match="not the one that its release was published with"):
        shoal.anonymize(table_of_month(2), SPEC, after=private)
    assert not shoal.verify(home / "release-1", private=private).confirmed


@pytest.mark.parametrize("month", [0, 1])
def test_a_release_with_a_ledger_has_a_report(home: Path, tmp_path: Path, month: int) -> None:
    """It was taken for another release than that of its private folder."""
    out = tmp_path / "report.html"
    done = shoal_("report", home / f"release-{month}", "--report", out)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Robust at r = 3" in out.read_text(encoding="utf-8")
    told = shoal.verify(home / f"release-{month}").on_trust
    assert "the hash of the ledger" in told


def test_what_cannot_follow_is_refused(home: Path) -> None:
    private, frame = home / "release-1-private", table_of_month(2)
    for spec, word in (
        (SPEC.with_(qi=["age", "sex"]), "qi is another"),
        (SPEC.with_(protect=[["HIV"]]), "protected values are others"),
        (SPEC.with_(k=2), "groups of k"),
        (SPEC.with_(person="patient", identifiers=()), "several rows"),
    ):
        with pytest.raises(shoal.InputError, match=word):
            shoal.anonymize(frame, spec, after=private)
    with pytest.raises(shoal.InputError, match="anatomy makes no groups"):
        shoal.anonymize(frame, SPEC, method="anatomy", after=private)
    for other in (home, home / "release-1", home / "nowhere"):
        with pytest.raises(shoal.InputError, match="is no private folder with a ledger"):
            shoal.anonymize(frame, SPEC, after=other)
    with pytest.raises(shoal.InputError, match="does not name everybody once"):
        shoal.anonymize(
            frame.with_columns(patient=pl.lit("x")),
            SPEC.with_(identifiers=()),
            ledger=True,
            key="patient",
        )
    with pytest.raises(shoal.InputError, match="knows people by"):
        shoal.anonymize(frame, SPEC, after=private, key="age")
    with pytest.raises(shoal.InputError, match="no ledger"):
        shoal.anonymize(frame, SPEC, key="patient")
    made = shoal.anonymize(table_of_month(0), SPEC, ledger=True)
    with pytest.raises(shoal.InputError, match="private folder"):
        made.save(home / "elsewhere")


def test_nobody_new(home: Path) -> None:
    with pytest.raises(shoal.InputError, match="Nobody is new"):
        shoal.anonymize(table_of_month(2), SPEC, after=home / "release-2-private")


def test_newcomers_who_are_too_few_are_told_for_how_many_to_wait(home: Path) -> None:
    base = table_of_month(0)
    cases = table_of_month(2).join(base, on="patient", how="anti")
    few = cases.filter(pl.col(HOSPITAL_SENSITIVE).is_in(HOSPITAL_EVENT))
    with pytest.raises(shoal.InputError, match=r"at that rate these need about \d+") as refused:
        shoal.anonymize(
            pl.concat([base, few.select(base.columns)]), SPEC, after=home / "release-0-private"
        )
    assert f"{few.height} people are new, {few.height} of them" in str(refused.value)
    (wanted,) = map(int, re.findall(r"need about (\d+)", refused.value.remedy.replace(",", "")))
    others = cases.join(few, on="patient", how="anti").head(wanted - few.height)
    whole = pl.concat([base, few.select(base.columns), others.select(base.columns)])
    assert shoal.anonymize(whole, SPEC, seed=1, after=home / "release-0-private").robust


def test_people_without_a_key_are_known_by_all_that_is_published(tmp_path: Path) -> None:
    first, second = table_of_month(0), table_of_month(1).drop("patient")
    spec = SPEC.with_(identifiers=())
    made = shoal.anonymize(first, spec, seed=1, ledger=True)
    made.save(tmp_path / "a", private=tmp_path / "a-private")
    again = shoal.anonymize(second, spec, seed=2, after=tmp_path / "a-private")
    assert again.ledger is not None
    # Whoever has another value is somebody who left, and somebody who came.
    assert again.ledger.changed == 0
    assert 10 <= again.ledger.left <= 20
    assert again.robust


def test_newcomers_who_are_fewer_than_a_group_wait(home: Path) -> None:
    frame = hospital(ROWS, 6).with_columns(patient=pl.int_range(ROWS).cast(pl.String))
    first, after = ROWS // MONTHS, {"after": home / "release-0-private"}
    for new in (1, 2):
        with pytest.raises(shoal.InputError, match=f"^{new} p.* new, and a group has 3") as few:
            shoal.anonymize(frame.head(first + new), SPEC, seed=1, **after)
        assert few.value.code == "ledger-few"
        assert few.value.remedy.startswith(f"Wait for {3 - new} p")
    # That values can be read is a choice.
    alone = shoal.anonymize(frame.head(first + 1), SPEC, seed=1, smallest_group=1, **after)
    assert alone.audit is not None
    assert alone.audit.readable > 0


def test_another_r_for_newcomers(home: Path) -> None:
    stronger = shoal.anonymize(
        table_of_month(2), SPEC.with_(r=6), seed=3, after=home / "release-1-private"
    )
    assert stronger.robust
    assert stronger.audit is not None
    assert stronger.audit.releases is not None
    assert stronger.audit.releases.told > 0, "those of r = 3 stay what they are"


def test_the_command_line(tmp_path: Path) -> None:
    for month in range(2):
        table_of_month(month).write_csv(tmp_path / f"{month}.csv")
    spec = ["--qi", "age,sex,region", "--sensitive", "diagnosis", "--protect", EVENT, "-r", "3"]
    first = [tmp_path / "0.csv", "--out", tmp_path / "a", "--ledger", "--key", "patient"]
    done = shoal_("anonymize", *first, *spec)
    assert done.returncode == 0, done.stderr
    done = shoal_(
        "anonymize",
        tmp_path / "1.csv",
        "--out",
        tmp_path / "b",
        "--after",
        tmp_path / "a-private",
        *spec,
    )
    assert done.returncode == 0, done.stderr
    assert "800 people published before stay in their groups; 800 are new." in done.stdout
    (told,) = [one for one in done.stdout.splitlines() if one.startswith("kept         Other rel")]
    assert "Nobody is linked above their limit" in told or "this one adds nobody" in told
    done = shoal_("verify", tmp_path / "b", "--chain", tmp_path / "a")
    assert done.returncode == 0, done.stdout
    refused(
        shoal_(
            "anonymize", tmp_path / "1.csv", "--out", tmp_path / "c", "--after", tmp_path, *spec
        ),
        "ledger-none",
    )
