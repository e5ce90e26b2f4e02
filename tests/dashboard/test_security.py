"""The second factor, its secrets in the vault, sessions, and the operator's invitations."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
from allauth.usersessions.models import UserSession
from django.core.cache import cache, caches
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from copytrade.models import DataKey, Invitation, User
from copytrade.vault import VaultError

pytestmark = pytest.mark.django_db

PASSWORD = "seven quiet harbours"


@pytest.fixture(autouse=True)
def _no_tries_counted(redis_client: object) -> None:
    cache.clear()


@pytest.fixture
def olivia(db: None) -> User:
    return User.objects.create_user("olivia", "", PASSWORD, is_operator=True)


def signed_in(name: str = "olivia") -> Client:
    client = Client()
    client.post(reverse("account_login"), {"login": name, "password": PASSWORD})
    return client


def again(client: Client) -> None:
    """Changing the second factor asks for the password once more."""
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})


def code_for(secret: str) -> str:
    return format_hotp_value(hotp_value(secret, next(iter(yield_hotp_counters_from_time()))))


def with_totp(client: Client) -> str:
    """Activate an authenticator app as a person would; its secret."""
    again(client)
    url = reverse("mfa_activate_totp")
    secret = client.get(url).context["form"].secret
    answer = client.post(url, {"code": code_for(secret)})
    assert answer.status_code == 302, answer.content
    return secret


def test_an_authenticator_app_is_asked_for_at_the_next_sign_in(olivia: User) -> None:
    secret = with_totp(signed_in())
    client = signed_in()
    assert client.get(reverse("security")).status_code == 302
    refused = client.post(reverse("mfa_authenticate"), {"code": "000000"})
    assert refused.status_code == 200
    cache.clear()
    assert client.post(reverse("mfa_authenticate"), {"code": code_for(secret)}).status_code == 302
    assert client.get(reverse("security")).status_code == 200


def test_a_second_factors_secret_lies_sealed_in_the_database(olivia: User) -> None:
    secret = with_totp(signed_in())
    rows = {row.type: row.data for row in Authenticator.objects.all()}
    assert set(rows) == {"totp", "recovery_codes"}
    assert secret not in str(rows)
    sealed = rows["totp"]["secret"]
    assert get_adapter().decrypt(sealed) == secret
    assert get_adapter().encrypt(secret) != sealed
    assert DataKey.objects.filter(user=None).count() == 1


def test_a_tampered_secret_is_refused_not_used(olivia: User) -> None:
    sealed = get_adapter().encrypt("JBSWY3DPEHPK3PXP")
    swapped = sealed[:-6] + ("A" if sealed[-6] != "A" else "B") + sealed[-5:]
    for wrong in (swapped, "not sealed at all", ""):
        with pytest.raises(VaultError):
            get_adapter().decrypt(wrong)


def test_recovery_codes_come_with_the_second_factor_and_work_once(olivia: User) -> None:
    with_totp(client := signed_in())
    html = client.get(reverse("mfa_view_recovery_codes")).content.decode()
    code = re.findall(r"\b\d{8}\b", html)[0]
    first, second = signed_in(), signed_in()
    assert first.post(reverse("mfa_authenticate"), {"code": code}).status_code == 302
    assert first.get(reverse("security")).status_code == 200
    cache.clear()
    assert second.post(reverse("mfa_authenticate"), {"code": code}).status_code == 200


def test_the_page_says_what_is_on(olivia: User) -> None:
    client = signed_in()
    before = client.get(reverse("security")).context
    assert (before["totp"], before["passkeys"], before["codes"]) == (False, 0, False)
    with_totp(client)
    after = client.get(reverse("security")).context
    assert (after["totp"], after["passkeys"], after["codes"]) == (True, 0, True)
    assert after["sessions"] == 1


def test_passkeys_are_on_offer_at_sign_in_and_after_it(olivia: User) -> None:
    assert b"Use a passkey" in Client().get(reverse("account_login")).content
    answer = Client().get(reverse("mfa_login_webauthn"), headers={"Accept": "application/json"})
    assert "challenge" in str(answer.json())
    client = signed_in()
    assert client.get(reverse("mfa_add_webauthn")).headers["Location"].startswith("/accounts/reauthenticate/")
    again(client)
    page = client.get(reverse("mfa_add_webauthn"))
    assert page.status_code == 200
    assert b'type="application/json"' in page.content


def test_a_changed_password_signs_everybody_out(olivia: User) -> None:
    one, two = signed_in(), signed_in()
    new = "eight loud mountains"
    data = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    assert one.post(reverse("account_change_password"), data).status_code == 302
    assert two.get(reverse("security")).status_code == 302
    olivia.refresh_from_db()
    assert olivia.check_password(new)


def test_other_sessions_can_be_ended(olivia: User) -> None:
    one, two = signed_in(), signed_in()
    assert one.get(reverse("usersessions_list")).context["session_count"] == 2
    one.post(reverse("usersessions_list"))
    assert one.get(reverse("security")).status_code == 200
    assert two.get(reverse("security")).status_code == 302


def test_a_browser_is_noted_once_a_minute_and_another_address_at_once(olivia: User) -> None:
    client = signed_in()
    client.get(reverse("security"))
    long_ago = timezone.now() - timedelta(days=1)
    UserSession.objects.update(last_seen_at=long_ago)
    client.get(reverse("security"))
    assert UserSession.objects.get().last_seen_at == long_ago
    client.get(reverse("security"), headers={"User-Agent": "Another"})
    assert UserSession.objects.get().user_agent == "Another"
    UserSession.objects.update(last_seen_at=long_ago)
    caches["process"].clear()  # as a minute later
    client.get(reverse("security"))
    assert UserSession.objects.get().last_seen_at > long_ago


def test_the_operator_makes_a_link_that_is_shown_once(olivia: User) -> None:
    client = signed_in()
    html = client.post(reverse("invitations"), {"note": "Bob"}).content.decode()
    link = re.search(r'value="(http://testserver/join/[\w-]+/)"', html)
    assert link
    assert Client().get(link[1]).status_code == 302
    later = client.get(reverse("security")).content.decode()
    assert "Bob" in later
    assert link[1] not in later


def test_a_note_that_is_too_long_is_refused_beside_its_field(olivia: User) -> None:
    answer = signed_in().post(reverse("invitations"), {"note": "x" * 81})
    assert answer.status_code == 400
    assert b"at most 80" in answer.content
    assert not Invitation.objects.exists()


def test_a_withdrawn_invitation_stops_working_at_once(olivia: User) -> None:
    client = signed_in()
    html = client.post(reverse("invitations"), {"note": ""}).content.decode()
    link = re.search(r'value="(http://testserver/join/[\w-]+/)"', html)
    assert link
    url = reverse("invitation_withdraw", args=[Invitation.objects.get().pk])
    assert client.post(url).status_code == 302
    assert Client().get(link[1]).status_code == 410
    assert client.post(url).status_code == 404


def test_another_operators_invitation_cannot_be_withdrawn(olivia: User, alice: User) -> None:
    invitation = Invitation.objects.create(
        token_hash="h", invited_by=alice, expires_at="2099-01-01T00:00:00Z"
    )
    url = reverse("invitation_withdraw", args=[invitation.pk])
    assert signed_in().post(url).status_code == 404
    assert Invitation.objects.exists()


def test_people_without_the_role_see_no_invitations(alice: User, client_of: Callable[[User], Client]) -> None:
    assert b"Invitations" not in client_of(alice).get(reverse("security")).content


def test_times_follow_the_clock_that_a_person_chose(olivia: User) -> None:
    client = signed_in()
    html = client.post(reverse("zone"), {"zone": "Asia/Tokyo"}, follow=True).content.decode()
    olivia.refresh_from_db()
    assert olivia.zone == "Asia/Tokyo"
    assert "clock of Asia/Tokyo" in html
    assert '<option value="Asia/Tokyo" selected>' in html
    assert "JST" in client.get(reverse("usersessions_list")).content.decode()


@pytest.mark.parametrize("zone", ["", "Mars/Olympus", "../../etc/passwd"])
def test_a_clock_that_does_not_exist_changes_nothing(olivia: User, zone: str) -> None:
    html = signed_in().post(reverse("zone"), {"zone": zone}, follow=True).content.decode()
    olivia.refresh_from_db()
    assert olivia.zone == "UTC"
    assert "was not changed" in html


def test_a_stored_clock_that_is_gone_falls_back_to_utc(olivia: User) -> None:
    User.objects.update(zone="Mars/Olympus")
    assert "UTC" in signed_in().get(reverse("usersessions_list")).content.decode()
