"""Data keys as rows: one per user, re-wrapped when the key-encryption key changes."""

from __future__ import annotations

import base64
import threading

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection, transaction

from copytrade import keys
from copytrade.models import DataKey, User
from copytrade.vault import Tampered, UnknownKey
from tests.support.at_once import at_once

WHERE = ("credential", "secret", "account:1")


def line(*names: str) -> str:
    """VAULT_KEYS with a key made of each name's letter."""
    return ",".join(f"{name}:{base64.b64encode(name[0].encode() * 32).decode()}" for name in names)


def test_two_people_have_two_data_keys(alice: User, charlie: User) -> None:
    sealed = keys.encrypt(alice.pk, "hers", WHERE)
    assert keys.decrypt(alice.pk, sealed, WHERE) == "hers"
    keys.encrypt(charlie.pk, "his", WHERE)
    with pytest.raises(Tampered):
        keys.decrypt(charlie.pk, sealed, WHERE)
    assert DataKey.objects.count() == 2


def test_a_stolen_row_does_not_open_under_another_user_even_with_her_data_key(
    alice: User, charlie: User
) -> None:
    sealed = keys.encrypt(alice.pk, "hers", WHERE)
    hers = DataKey.objects.get(user=alice)
    DataKey.objects.create(user=charlie, wrapped=hers.wrapped, kek_id=hers.kek_id)
    with pytest.raises(Tampered):
        keys.decrypt(charlie.pk, sealed, WHERE)


def test_the_desk_has_a_key_of_its_own(db: None) -> None:
    sealed = keys.desk_encrypt("totp seed", "mfa")
    assert "totp" not in sealed and sealed.isascii()
    assert keys.desk_decrypt(sealed, "mfa") == "totp seed"
    with pytest.raises(Tampered):
        keys.desk_decrypt(sealed, "elsewhere")
    with pytest.raises(Tampered):
        keys.desk_decrypt("not base64!", "mfa")
    assert DataKey.objects.get().user_id is None


def test_without_its_data_key_a_secret_is_gone_and_says_so(alice: User) -> None:
    sealed = keys.encrypt(alice.pk, "hers", WHERE)
    DataKey.objects.all().delete()
    with pytest.raises(Tampered, match="Enter them again"):
        keys.decrypt(alice.pk, sealed, WHERE)


@pytest.mark.django_db(transaction=True)
def test_two_makers_at_once_make_one_key() -> None:
    user = User.objects.create_user("racer")

    def make() -> None:
        keys.data_key(user.pk)
        keys.data_key(None)

    at_once(*[make] * 4)
    assert DataKey.objects.filter(user=user).count() == 1
    assert DataKey.objects.filter(user=None).count() == 1


def test_rewrapping_moves_every_key_to_the_first_and_then_changes_nothing(settings, alice: User) -> None:
    settings.VAULT_KEYS = line("old")
    sealed, desk = keys.encrypt(alice.pk, "hers", WHERE), keys.desk_encrypt("seed", "mfa")
    settings.VAULT_KEYS = line("new", "old")
    assert keys.decrypt(alice.pk, sealed, WHERE) == "hers"
    call_command("rewrap_keys", verbosity=0)
    before = list(DataKey.objects.order_by("pk").values_list("kek_id", "wrapped", "rewrapped_at"))
    assert keys.rewrap_all() == 0
    assert list(DataKey.objects.order_by("pk").values_list("kek_id", "wrapped", "rewrapped_at")) == before
    settings.VAULT_KEYS = line("new")
    assert keys.decrypt(alice.pk, sealed, WHERE) == "hers"
    assert keys.desk_decrypt(desk, "mfa") == "seed"


def test_a_rewrap_that_stops_half_way_goes_on_later(settings, alice: User, charlie: User) -> None:
    settings.VAULT_KEYS = line("old")
    sealed = {user.pk: keys.encrypt(user.pk, user.username, WHERE) for user in (alice, charlie)}
    last = DataKey.objects.order_by("pk").last()
    whole = bytes(last.wrapped)
    DataKey.objects.filter(pk=last.pk).update(wrapped=whole[:-1] + bytes([whole[-1] ^ 1]))
    settings.VAULT_KEYS = line("new", "old")
    with pytest.raises(Tampered):
        keys.rewrap_all(batch=1)
    assert sorted(DataKey.objects.values_list("kek_id", flat=True)) == ["new", "old"]
    DataKey.objects.filter(pk=last.pk).update(wrapped=whole)
    assert keys.rewrap_all(batch=1) == 1
    for user in (alice, charlie):
        assert keys.decrypt(user.pk, sealed[user.pk], WHERE) == user.username


def test_the_command_names_the_key_that_is_missing(settings, alice: User) -> None:
    settings.VAULT_KEYS = line("old")
    keys.data_key(alice.pk)
    settings.VAULT_KEYS = line("new")
    with pytest.raises(UnknownKey):
        keys.rewrap_all()
    with pytest.raises(CommandError, match="'old' is not configured"):
        call_command("rewrap_keys")


@pytest.mark.django_db(transaction=True)
def test_of_two_rewraps_at_once_neither_is_done_while_an_old_key_is_left(settings) -> None:
    people = [User.objects.create_user(name) for name in ("anna", "bert")]
    settings.VAULT_KEYS = line("old")
    for person in people:
        keys.encrypt(person.pk, "x", WHERE)
    settings.VAULT_KEYS = line("new", "old")
    ended: list[int] = []

    def rewrap() -> None:
        ended.append(keys.rewrap_all())
        connection.close()

    with transaction.atomic():
        first = DataKey.objects.select_for_update().get(user=people[0])
        other = threading.Thread(target=rewrap)
        other.start()
        other.join(1)
        assert not ended, "a key that somebody is at is waited for"
        first.wrapped, first.kek_id = keys.vault().rewrap(bytes(first.wrapped), first.kek_id)
        first.save()
    other.join(10)
    assert ended == [1]
    assert set(DataKey.objects.values_list("kek_id", flat=True)) == {"new"}
