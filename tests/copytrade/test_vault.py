"""The vault: what it seals opens only where it belongs, and what is wrong is said in a sentence."""

from __future__ import annotations

import base64
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copytrade.vault import Tampered, UnknownKey, Vault, VaultError, parse_keys

OLD, NEW = ("old", b"o" * 32), ("new", b"n" * 32)
HERE = ("credential", "secret", "account:1", "user:7")


@pytest.fixture
def vault() -> Vault:
    return Vault([OLD])


@given(st.text())
@settings(max_examples=50)
def test_what_was_sealed_opens_again(text: str) -> None:
    vault = Vault([OLD])
    wrapped, kek = vault.new_data_key()
    assert vault.decrypt(wrapped, kek, vault.encrypt(wrapped, kek, text, HERE), HERE) == text


def test_the_same_text_never_looks_the_same_twice(vault: Vault) -> None:
    wrapped, kek = vault.new_data_key()
    sealed = {vault.encrypt(wrapped, kek, "text", HERE) for _ in range(200)}
    assert len({blob[1:13] for blob in sealed}) == 200
    assert all(blob[0] == 1 and b"text" not in blob for blob in sealed)


@pytest.mark.parametrize(
    "elsewhere",
    [
        ("connection", "secret", "account:1", "user:7"),
        ("credential", "key", "account:1", "user:7"),
        ("credential", "secret", "account:2", "user:7"),
        ("credential", "secret", "account:1", "user:8"),
        ("credential", "secret", "account:1user:7"),
        ("credentials", "ecret", "account:1", "user:7"),
        (),
    ],
)
def test_a_text_moved_to_another_place_does_not_open(vault: Vault, elsewhere: tuple[str, ...]) -> None:
    wrapped, kek = vault.new_data_key()
    sealed = vault.encrypt(wrapped, kek, "text", HERE)
    with pytest.raises(Tampered, match="does not open"):
        vault.decrypt(wrapped, kek, sealed, elsewhere)


def test_no_byte_can_be_changed(vault: Vault) -> None:
    wrapped, kek = vault.new_data_key()
    sealed = vault.encrypt(wrapped, kek, "text", HERE)
    for place in range(len(sealed)):
        changed = bytearray(sealed)
        changed[place] ^= 1
        with pytest.raises(VaultError):
            vault.decrypt(wrapped, kek, bytes(changed), HERE)
    for length in range(len(sealed)):
        with pytest.raises(VaultError):
            vault.decrypt(wrapped, kek, sealed[:length], HERE)


def test_a_data_key_of_another_does_not_open_it(vault: Vault) -> None:
    wrapped, kek = vault.new_data_key()
    other, _ = vault.new_data_key()
    with pytest.raises(Tampered):
        vault.decrypt(other, kek, vault.encrypt(wrapped, kek, "text", HERE), HERE)


def test_a_sealed_text_is_no_wrapped_key_and_the_reverse(vault: Vault) -> None:
    wrapped, kek = vault.new_data_key()
    sealed = vault.encrypt(wrapped, kek, "k" * 32, HERE)
    with pytest.raises(Tampered):
        vault.encrypt(sealed, kek, "text", HERE)


def test_the_first_key_wraps_and_all_of_them_read() -> None:
    wrapped, kek = Vault([OLD]).new_data_key()
    sealed = Vault([OLD]).encrypt(wrapped, kek, "text", HERE)
    both = Vault([NEW, OLD])
    assert both.decrypt(wrapped, kek, sealed, HERE) == "text"
    again, kek_again = both.rewrap(wrapped, kek)
    assert kek_again == "new" and again != wrapped
    assert Vault([NEW]).decrypt(again, kek_again, sealed, HERE) == "text"


def test_a_missing_key_is_named() -> None:
    wrapped, kek = Vault([OLD]).new_data_key()
    with pytest.raises(UnknownKey, match=r"'old' is not configured.*rewrap_keys"):
        Vault([NEW]).encrypt(wrapped, kek, "text", HERE)


def test_another_key_under_the_same_id_is_told_apart_from_a_lost_secret() -> None:
    wrapped, kek = Vault([OLD]).new_data_key()
    with pytest.raises(Tampered, match=r"'old'.*another key"):
        Vault([("old", b"x" * 32)]).encrypt(wrapped, kek, "text", HERE)


def test_a_format_of_the_future_is_named(vault: Vault) -> None:
    wrapped, kek = vault.new_data_key()
    sealed = b"\x02" + vault.encrypt(wrapped, kek, "text", HERE)[1:]
    with pytest.raises(VaultError, match="format 2"):
        vault.decrypt(wrapped, kek, sealed, HERE)


def test_keys_are_read_from_one_line() -> None:
    secrets = [os.urandom(32), os.urandom(32)]
    line = ", ".join(f"k{n}:{base64.b64encode(secret).decode()}" for n, secret in enumerate(secrets))
    assert parse_keys(line) == [("k0", secrets[0]), ("k1", secrets[1])]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "No vault key"),
        ("c2VjcmV0LXZhdWx0LWtleS1tYXRlcmlhbA==", "number 1 is not written as id:base64"),
        ("a:secret-vault-key-material!", "'a' is not base64"),
        ("a:c2VjcmV0", "'a' holds 6 bytes"),
        (
            "a:" + base64.b64encode(b"s" * 32).decode() + ",a:" + base64.b64encode(b"t" * 32).decode(),
            "share an id",
        ),
    ],
)
def test_a_bad_line_is_explained_and_not_repeated(line: str, said: str) -> None:
    with pytest.raises(VaultError, match=said) as caught:
        Vault(parse_keys(line))
    for secret in ("c2VjcmV0", "secret-vault", "c3Nzc3"):
        assert secret not in str(caught.value)


def test_a_vault_shows_no_key(vault: Vault) -> None:
    assert "ooo" not in repr(vault) and "6f6f" not in repr(vault)
