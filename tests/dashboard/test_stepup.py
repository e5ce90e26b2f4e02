"""Before settings are sent the desk asks who sits there, if that was not proved a short while ago."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from decimal import Decimal
from html import unescape

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import (
    TOTP,
    format_hotp_value,
    hotp_value,
    yield_hotp_counters_from_time,
)
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from copytrade import changes
from copytrade.models import Account, DeskPolicy, SettingsChange, Trader, User
from tests.support.ledger_rows import UNIFIED, version_of
from tests.support.signed_in import signed_in

pytestmark = pytest.mark.django_db

PASSWORD = "alice-password-of-20"
SECRET = "JBSWY3DPEHPK3PXP"
ASKS = "/accounts/reauthenticate/"
ASKS_CODE = "/accounts/2fa/reauthenticate/"


@pytest.fixture(autouse=True)
def _no_tries_counted(redis_client: object) -> None:
    cache.clear()


@pytest.fixture
def draft(alice: User) -> SettingsChange:
    """alice's change under review; its trader is not copied now, so a box must be ticked."""
    account = Account.objects.create(owner=alice, label="Main", venue="sandbox", writes_enabled=True)
    trader = Trader.objects.create(account=account, trader_id=702345678901234567, name="Northwind Steady")
    version_of(trader, copy_enable=False)
    wanted = replace(UNIFIED, configs=(replace(UNIFIED.configs[0], trace_value=Decimal(200)),))
    return changes.draft(trader, wanted, alice)


def address(draft: SettingsChange) -> str:
    return reverse("copy_settings_change", args=[draft.trader_id, draft.key])


def press(client: Client, draft: SettingsChange, **more: str) -> object:
    fields = {"key": str(draft.key), "seen": changes.body_mark(draft), "not_copying": "understood"}
    return client.post(address(draft), fields | more)


def state(draft: SettingsChange) -> str:
    draft.refresh_from_db()
    return draft.state


def code() -> str:
    return format_hotp_value(hotp_value(SECRET, next(iter(yield_hotp_counters_from_time()))))


def demand() -> None:
    """The operator has switched it on."""
    DeskPolicy.objects.create(pk=1, second_factor_for_sending=True)


def test_a_proof_of_nine_minutes_ago_is_enough(alice: User, draft: SettingsChange) -> None:
    answer = press(signed_in(alice, seconds_ago=590), draft)
    assert answer.headers["Location"] == address(draft)
    assert state(draft) == "confirmed"


@pytest.mark.parametrize("proof", [{"seconds_ago": 601}, {"seconds_ago": -5}, {"method": "code"}])
def test_an_old_or_doubtful_proof_is_asked_for_again_and_nothing_is_confirmed(
    alice: User, draft: SettingsChange, proof: dict
) -> None:
    answer = press(signed_in(alice, **proof), draft)
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith(f"{ASKS}?next=%2Ftraders%2F")
    assert state(draft) == "draft"


def test_a_session_that_never_gave_a_proof_is_asked(alice: User, draft: SettingsChange) -> None:
    client = Client()
    client.force_login(alice, backend="dashboard.sessions.PersonBackend")
    assert press(client, draft).headers["Location"].startswith(ASKS)


def test_the_proof_of_another_person_in_the_same_browser_does_not_count(
    alice: User, charlie: User, draft: SettingsChange
) -> None:
    client = signed_in(alice)
    session = client.session
    session["account_authentication_methods_user"] = str(charlie.pk)
    session.save()
    assert press(client, draft).headers["Location"].startswith(ASKS)
    assert state(draft) == "draft"


def test_the_review_comes_back_with_what_was_ticked_and_is_sent_by_pressing_again(
    alice: User, draft: SettingsChange
) -> None:
    client = signed_in(alice, seconds_ago=3600)
    asked = press(client, draft).headers["Location"]
    page = client.get(asked).content.decode()
    assert "about to send copy settings" in page and "Nothing has happened yet" in page
    form = re.search(rf'<form[^>]*action="{ASKS}".*?</form>', page, re.S)[0]
    hidden = unescape(re.search(r'name="next"[^>]*value="([^"]*)"', form)[1])
    answer = client.post(ASKS, {"password": PASSWORD, "next": hidden})
    assert answer.headers["Location"] == address(draft)
    assert state(draft) == "draft", "the proof alone sends nothing"
    review = client.get(address(draft)).content.decode()
    assert "It is you." in review
    box = re.search(r'<input[^>]*name="not_copying"[^>]*>', review)
    assert box and "checked" in box[0]
    assert press(client, draft).headers["Location"] == address(draft)
    assert state(draft) == "confirmed"


def test_what_was_ticked_is_given_back_once(alice: User, draft: SettingsChange) -> None:
    client = signed_in(alice, seconds_ago=3600)
    press(client, draft)
    client.post(ASKS, {"password": PASSWORD, "next": address(draft)})
    assert "It is you." in client.get(address(draft)).content.decode()
    again = client.get(address(draft)).content.decode()
    assert "It is you." not in again
    assert "checked" not in re.search(r'<input[^>]*name="not_copying"[^>]*>', again)[0]


def test_a_wrong_password_proves_nothing(alice: User, draft: SettingsChange) -> None:
    client = signed_in(alice, seconds_ago=3600)
    press(client, draft)
    answer = client.post(ASKS, {"password": "wrong", "next": address(draft)})
    assert answer.status_code == 200 and "about to send copy settings" in answer.content.decode()
    assert press(client, draft).headers["Location"].startswith(ASKS)
    assert state(draft) == "draft"


def test_looking_at_a_review_asks_for_nothing(alice: User, draft: SettingsChange) -> None:
    assert signed_in(alice, seconds_ago=3600).get(address(draft)).status_code == 200


def test_a_replayed_form_of_a_change_under_way_leads_to_its_outcome_without_a_question(
    alice: User, draft: SettingsChange
) -> None:
    press(signed_in(alice), draft)
    assert press(signed_in(alice, seconds_ago=3600), draft).headers["Location"] == address(draft)


def test_the_demo_is_never_asked_not_even_under_the_switch(alice: User, draft: SettingsChange) -> None:
    demand()
    User.objects.filter(pk=alice.pk).update(is_demo=True)
    assert press(signed_in(alice, seconds_ago=9999), draft).headers["Location"] == address(draft)


def test_htmx_is_sent_to_the_question_by_the_whole_page(alice: User, draft: SettingsChange) -> None:
    client = signed_in(alice, seconds_ago=3600)
    answer = client.post(address(draft), {"key": str(draft.key)}, headers={"HX-Request": "true"})
    assert answer.headers["HX-Redirect"].startswith(ASKS)


# --- the operator's switch -------------------------------------------------------------------------------
def test_under_the_switch_a_password_is_not_enough(alice: User, draft: SettingsChange) -> None:
    demand()
    TOTP.activate(alice, SECRET)
    client = signed_in(alice)
    asked = press(client, draft).headers["Location"]
    assert asked.startswith(ASKS_CODE)
    page = client.get(asked).content.decode()
    assert "about to send copy settings" in page and "Use your password" not in page
    assert client.get(f"{ASKS}?next={address(draft)}").headers["Location"].startswith(ASKS_CODE)
    client.post(ASKS, {"password": PASSWORD, "next": address(draft)})
    assert press(client, draft).status_code == 302 and state(draft) == "draft"


def test_under_the_switch_the_code_of_the_second_factor_sends(alice: User, draft: SettingsChange) -> None:
    demand()
    TOTP.activate(alice, SECRET)
    client = signed_in(alice)
    press(client, draft)
    answer = client.post(ASKS_CODE, {"code": code(), "next": address(draft)})
    assert answer.headers["Location"] == address(draft) and state(draft) == "draft"
    assert "It is you." in client.get(address(draft)).content.decode()
    assert press(client, draft).headers["Location"] == address(draft)
    assert state(draft) == "confirmed"


def test_a_recovery_code_counts_as_the_second_factor_once(alice: User, draft: SettingsChange) -> None:
    demand()
    TOTP.activate(alice, SECRET)
    codes = RecoveryCodes.activate(alice).get_unused_codes()
    client = signed_in(alice)
    press(client, draft)
    assert client.post(ASKS_CODE, {"code": codes[0], "next": address(draft)}).status_code == 302
    press(client, draft)
    assert state(draft) == "confirmed"


def test_a_passkey_is_asked_for_where_it_is_the_only_second_factor(
    alice: User, draft: SettingsChange
) -> None:
    demand()
    Authenticator.objects.create(user=alice, type="webauthn", data={"name": "Key", "credential": {}})
    asked = press(signed_in(alice), draft).headers["Location"]
    assert asked.startswith("/accounts/2fa/webauthn/reauthenticate/")


def test_who_signed_in_with_the_second_factor_a_moment_ago_is_not_asked(
    alice: User, draft: SettingsChange
) -> None:
    demand()
    assert press(signed_in(alice, method="mfa"), draft).headers["Location"] == address(draft)
    assert state(draft) == "confirmed"


def test_who_has_no_second_factor_is_led_to_it_and_finds_the_way_back(
    alice: User, draft: SettingsChange
) -> None:
    demand()
    client = signed_in(alice)
    answer = press(client, draft)
    assert answer.headers["Location"] == reverse("security") and state(draft) == "draft"
    page = client.get(reverse("security")).content.decode()
    assert "you have none" in page
    assert f'href="{address(draft)}">Back to the review' in page
    again = client.get(f"{ASKS}?next={reverse('mfa_activate_totp')}")
    assert again.status_code == 200, "setting one up is proved by the password"


def test_the_way_back_is_forgotten_after_an_hour(alice: User, draft: SettingsChange) -> None:
    client = signed_in(alice, seconds_ago=3600)
    press(client, draft)
    assert "A review waits" in client.get(reverse("security")).content.decode()
    session = client.session
    session["stepup"] = session["stepup"] | {"at": time.time() - 3601}
    session.save()
    assert "A review waits" not in client.get(reverse("security")).content.decode()


def test_a_session_keeps_no_more_than_a_reviews_ticks(alice: User, draft: SettingsChange) -> None:
    client = signed_in(alice, seconds_ago=3600)
    press(client, draft, note="x" * 50_000)
    assert len(client.session["stepup"]["fields"]) == 0
    press(client, draft)
    assert "csrf" not in client.session["stepup"]["fields"]
    assert "not_copying=understood" in client.session["stepup"]["fields"]
