"""Release keys: private files, separate sub-keys, and nothing that shows them."""

from __future__ import annotations

import os
import pickle
import stat
from pathlib import Path

import pytest

from discreet import LIP, Joint, ReleaseKey, design
from discreet._support.errors import InputError


def test_a_key_file_belongs_to_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "k"
    old = os.umask(0)
    try:
        key = ReleaseKey.fresh()
        key.write(path)
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert ReleaseKey.from_file(path).fingerprint == key.fingerprint
    path.chmod(0o640)
    with pytest.raises(InputError, match="chmod 600"):
        ReleaseKey.from_file(path)


def test_a_key_file_is_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "k"
    path.write_text("something else")
    with pytest.raises(InputError, match="never replaced"):
        ReleaseKey.fresh().write(path)
    assert path.read_text() == "something else"


@pytest.mark.parametrize("content", ["", "xyz", "00" * 31, "00" * 33, "é" * 64])
def test_damaged_key_files_are_refused_without_being_shown(content: str, tmp_path: Path) -> None:
    path = tmp_path / "k"
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(InputError) as error:
        ReleaseKey.from_file(path)
    assert not content or content not in str(error.value)


def test_columns_and_mechanisms_have_sub_keys_of_their_own() -> None:
    joint = Joint.random(3, 5, seed=1)
    prints = [design(joint, LIP(eps)).mechanism.fingerprint for eps in (0.3, 0.4)]
    key = ReleaseKey.from_seed(1)
    subkeys = {key.subkey(column, fingerprint) for column in ("a", "b") for fingerprint in prints}
    assert len(subkeys) == 4
    assert all(len(subkey) == 32 and set(subkey) <= set("0123456789abcdef") for subkey in subkeys)
    assert ReleaseKey.from_seed(2).subkey("a", prints[0]) not in subkeys


def test_a_key_does_not_show_or_travel() -> None:
    key = ReleaseKey(bytes(range(32)))
    shown = repr(key) + str(key) + key.fingerprint
    assert bytes(range(32)).hex() not in shown
    with pytest.raises(TypeError):
        pickle.dumps(key)
    with pytest.raises(InputError):
        ReleaseKey(b"short")
    with pytest.raises(InputError):
        ReleaseKey.of(key, seed=1)
