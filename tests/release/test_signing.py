"""Signatures: who vouches for a release, and who does not."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import shoal
from shoal.data.datasets import HOSPITAL_EVENT, HOSPITAL_SENSITIVE, hospital
from shoal.data.spec import Event, Spec
from shoal.errors import InputError
from shoal.file_names import SIGNATURES
from shoal.release.signing import new_key
from shoal.release.verification.verify import Verification
from tests.cli.program import shoal_
from tests.data.sources.expect import fails_with
from tests.forging import mend

pytest.importorskip("cryptography")

FRAME = hospital(400, 3)
SPEC = Spec(
    qi=("sex", "region"), sensitive=HOSPITAL_SENSITIVE, protect=(Event(HOSPITAL_EVENT),), r=3
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release and two pairs of keys."""
    home = tmp_path_factory.mktemp("signed")
    shoal.anonymize(FRAME, SPEC).save(home / "release", private=home / "private")
    for name in ("mine", "other"):
        new_key(home / name)
    return home


@pytest.fixture
def home(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "home"))


def wrong(found: Verification) -> list[tuple[str, str]]:
    return [(check.name, check.detail) for check in found.checks if not check.passed]


def test_a_signed_release_is_confirmed_by_the_key_and_by_no_other(home: Path) -> None:
    release = home / "release"
    assert shoal.verify(release).signed == "Not signed: nobody vouches for it."
    assert wrong(shoal.verify(release, key=home / "mine.pub")) == [
        ("signature", "the release is not signed")
    ]
    signature = shoal.sign(release, home / "mine")
    found = shoal.verify(release, FRAME, private=home / "private", key=home / "mine.pub")
    assert found.confirmed
    assert found.signed == f"Signed with the key that you named, {signature.fingerprint}."
    assert f"{signature.fingerprint}, a key that you did not name" in shoal.verify(release).signed
    ((name, detail),) = wrong(shoal.verify(release, key=home / "other.pub"))
    assert name == "signature"
    assert detail.endswith("did not sign")
    shoal.sign(release, home / "other")
    assert shoal.verify(release, key=home / "other.pub").confirmed
    assert shoal.verify(release, key=home / "mine.pub").confirmed
    shoal.sign(release, home / "mine")  # once more: it stands there once
    assert len(json.loads((release / SIGNATURES).read_text())["signatures"]) == 2


def test_a_signature_is_of_one_certificate(home: Path) -> None:
    release, file = home / "release", home / "release" / "certificate.json"
    shoal.sign(release, home / "mine")
    content = json.loads(file.read_text(encoding="utf-8"))
    content["method"]["name"] = "mine"  # which nothing else would give away
    file.write_text(json.dumps(content), encoding="utf-8")
    mend(release)
    for key in (None, home / "mine.pub"):
        ((name, detail),) = wrong(shoal.verify(release, key=key))
        assert name == "signature"
        assert detail.endswith("is not of this certificate")


def test_a_signature_with_another_name_on_it_is_refused(home: Path) -> None:
    """Somebody puts the key that is asked for beside a signature of their own."""
    release = home / "release"
    shoal.sign(release, home / "mine")
    asked = json.loads((release / SIGNATURES).read_text())["signatures"][0]["key"]
    (release / SIGNATURES).unlink()
    shoal.sign(release, home / "other")
    told = json.loads((release / SIGNATURES).read_text())
    told["signatures"][0]["key"] = asked
    (release / SIGNATURES).write_text(json.dumps(told))
    assert wrong(shoal.verify(release, key=home / "mine.pub"))


@pytest.mark.parametrize(
    "damaged",
    ["", "{", "[]", "{}", '{"format": "shoal-signatures/1", "signatures": []}', "[" * 100_000],
)
def test_damaged_signatures_are_said(home: Path, damaged: str) -> None:
    (home / "release" / SIGNATURES).write_text(damaged)
    with fails_with("signatures-damaged", SIGNATURES):
        shoal.verify(home / "release")


def test_a_refuted_release_is_not_signed(home: Path) -> None:
    (home / "release" / "README.txt").write_text("Trust me.")
    with fails_with("sign-refuted", "README.txt"):
        shoal.sign(home / "release", home / "mine")
    assert not (home / "release" / SIGNATURES).exists()


def test_keys_are_for_their_owner_and_can_be_locked(home: Path) -> None:
    if os.name == "posix":
        assert stat.S_IMODE((home / "mine").stat().st_mode) == 0o600
    with fails_with("key-exists", "mine"):
        new_key(home / "mine")
    new_key(home / "locked", passphrase="sesame")
    with fails_with("key-locked", "passphrase"):
        shoal.sign(home / "release", home / "locked")
    with fails_with("key-private", "passphrase"):
        shoal.sign(home / "release", home / "locked", passphrase=lambda: "mellon")
    shoal.sign(home / "release", home / "locked", passphrase=lambda: "sesame")
    assert shoal.verify(home / "release", key=home / "locked.pub").confirmed


def test_keys_of_openssh_do_too(home: Path) -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ed25519, rsa

    key = ed25519.Ed25519PrivateKey.generate()
    plain = serialization.NoEncryption()
    encoding, format = serialization.Encoding, serialization.PrivateFormat
    (home / "ssh").write_bytes(key.private_bytes(encoding.PEM, format.OpenSSH, plain))
    public = key.public_key().public_bytes(encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    (home / "ssh.pub").write_bytes(public)
    shoal.sign(home / "release", home / "ssh")
    assert shoal.verify(home / "release", key=home / "ssh.pub").confirmed
    other = rsa.generate_private_key(65537, 2048)
    (home / "rsa").write_bytes(other.private_bytes(encoding.PEM, format.PKCS8, plain))
    with fails_with("key-private", "rsa"):
        shoal.sign(home / "release", home / "rsa")
    for name in ("rsa", "release/qi.csv", "nothing"):
        with pytest.raises(InputError) as refused:
            shoal.verify(home / "release", key=home / name)
        assert refused.value.code == ("key-read" if name == "nothing" else "key-public")


def test_the_commands(home: Path) -> None:
    done = shoal_("new-key", home / "new")
    assert done.returncode == 0
    assert "keep it to yourself" in done.stdout
    assert "Signed with the key" in shoal_("sign", home / "release", "--key", home / "new").stdout
    found = shoal_("verify", home / "release", "--key", home / "new.pub")
    assert found.returncode == 0
    assert "Signed with the key that you named" in found.stdout
    found = shoal_("verify", home / "release", "--key", home / "mine.pub")
    assert found.returncode == 1
    assert "WRONG  signature" in found.stdout


def test_without_the_library_it_is_said() -> None:
    code = (
        "import sys; sys.modules['cryptography'] = None\n"
        "from shoal.errors import InputError\n"
        "from shoal.release.signing import new_key\n"
        "try: new_key('nowhere')\n"
        "except InputError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == (
        "A signature needs the package cryptography, which is not installed. "
        "Install it with: pip install cryptography.\n"
    )
