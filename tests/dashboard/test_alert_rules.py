"""The page of alert rules: the table saved whole, single traders, quiet hours; as alice, charlie and nobody."""

from __future__ import annotations

from collections.abc import Callable
from datetime import time
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from copytrade.alerts import rules
from copytrade.alerts.kinds import KINDS
from copytrade.models import Account, AlertRule, QuietHours, Trader, User
from tests.support.alert_desk import account_of, copy_of, trader_of

pytestmark = pytest.mark.django_db
RULES, OWN, QUIET = "/alerts/rules/", "/alerts/rules/traders/", "/alerts/rules/quiet/"


@pytest.fixture
def account(alice: User) -> Account:
    return account_of(alice)


@pytest.fixture
def trader(account: Account) -> Trader:
    return trader_of(account)


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


def form(**changes: str) -> dict[str, str]:
    """The table as a browser sends it, untouched but for the changes: form(loss_limit="5")."""
    sent = {}
    for kind, about in KINDS.items():
        sent[f"{kind}-mode"] = about.mode
        if about.limit is not None:
            sent[f"{kind}-limit"] = str(about.limit)
        if len(about.units) > 1:
            sent[f"{kind}-unit"] = about.units[0]
    return sent | {name.replace("__", "-"): value for name, value in changes.items()}


def page(client: Client, address: str = RULES) -> str:
    return client.get(address).content.decode()


def test_every_kind_stands_there_with_its_words_and_default(client: Client) -> None:
    html = page(client)
    for about in KINDS.values():
        assert f'name="{about.kind}-mode"' in html and about.label.capitalize() in html
    assert 'name="loss-limit" value="50"' in html and 'name="margin-unit"' in html
    assert "once a connection has been read" in html.lower()


def test_what_was_untouched_changes_nothing(client: Client) -> None:
    answer = client.post(RULES, form(), follow=True)
    assert "Nothing was different" in answer.content.decode() and not AlertRule.objects.exists()


def test_the_table_is_saved_whole_and_shown_as_saved(client: Client, alice: User) -> None:
    sent = form(
        loss__mode="silent",
        loss__limit="1 234,5",
        margin__limit="900",
        margin__unit="USDT",
        opened__mode="on",
    )
    answer = client.post(RULES, sent, follow=True)
    assert "It holds from now on for 3 of" in answer.content.decode()
    held = rules.book([alice.pk])
    assert held.of(alice.pk, "loss").limit == Decimal("1234.5") and held.of(alice.pk, "loss").mode == "silent"
    assert (held.of(alice.pk, "margin").limit, held.of(alice.pk, "margin").unit) == (Decimal(900), "USDT")
    assert 'value="1234.5"' in page(client) and AlertRule.objects.count() == 3


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"loss__limit": ""}, "A limit is missing here."),
        ({"loss__limit": "-5"}, "The limit has to be above 0."),
        ({"loss__limit": "many"}, "Enter a number."),
        ({"loss__limit": "NaN"}, "Enter a number."),
        ({"loss__limit": "1e40"}, "digits"),
        ({"drawdown__limit": "2000"}, "The limit can be 1000\u202f% at most."),
        ({"quiet__limit": "0"}, "The limit has to be above 0."),
        ({"opened__mode": "shout"}, "shout is not one of the available choices"),
        ({"margin__unit": "BTC"}, "BTC is not one of the available choices"),
    ],
)
def test_a_table_with_a_mistake_is_kept_as_typed_and_not_saved(
    client: Client, changes: dict[str, str], words: str
) -> None:
    answer = client.post(RULES, form(closed__mode="on", **changes))
    html = answer.content.decode()
    assert answer.status_code == 422 and words in html and "Nothing was saved" in html
    assert not AlertRule.objects.exists()


def test_a_form_that_lacks_kinds_is_refused(client: Client) -> None:
    assert client.post(RULES, {"loss-mode": "off", "loss-limit": "5"}).status_code == 422
    assert not AlertRule.objects.exists()


def test_the_page_counts_what_the_last_week_had(client: Client, trader: Trader) -> None:
    for net in ("-49", "-50", "-51", "10"):
        copy_of(trader, net=net, ago=60 * 24 * 6)
    copy_of(trader, net="-99", ago=60 * 24 * 8)
    copy_of(trader)
    html = page(client)
    assert "2 copies reached this limit in the last 7 days." in html
    assert "4 copies closed in the last 7 days." in html and "5 copies opened in the last 7 days." in html
    assert "No traders left in the last 7 days." in html


# --- single traders --------------------------------------------------------------------------------------
def test_a_trader_gets_rules_of_their_own_and_loses_them_again(client: Client, trader: Trader) -> None:
    sent = {"trader": trader.pk, "kind": "loss", "mode": "off", "limit": "", "unit": ""}
    for _ in range(2):
        assert client.post(OWN, sent).headers["Location"] == RULES
    row = AlertRule.objects.get()
    assert (row.trader, row.mode, row.threshold) == (trader, "off", None)
    assert "Loss of a copy: off, 50\u202fUSDT, as for all" in page(client)
    client.post(OWN, sent | {"limit": "7", "mode": "on"})
    assert "Loss of a copy: on, 7\u202fUSDT<" in page(client)
    assert client.post(f"{OWN}{row.pk}/remove/").status_code == 302
    assert not AlertRule.objects.exists()
    assert client.post(f"{OWN}{row.pk}/remove/").status_code == 404, "twice changes nothing"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"trader": "x"}, "Choose one of your traders."),
        ({"trader": ""}, "Choose a trader."),
        ({"kind": "key_refused"}, "not one of the available choices"),
        ({"kind": "opened", "limit": "5"}, "This kind has no limit"),
        ({"limit": "5", "unit": "days"}, "The limit of this kind is in USDT."),
        ({"limit": "0"}, "The limit has to be above 0."),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused_with_what_was_typed(
    client: Client, trader: Trader, changes: dict[str, str], words: str
) -> None:
    sent = {"trader": str(trader.pk), "kind": "loss", "mode": "silent", "limit": "", "unit": ""} | changes
    answer = client.post(OWN, sent)
    assert answer.status_code == 422 and words in answer.content.decode()
    assert not AlertRule.objects.exists()


def test_the_traders_page_leads_to_the_rules_with_the_trader_chosen(client: Client, account: Account) -> None:
    trader_of(account, "Aardvark")
    trader = trader_of(account, "Zebra")
    assert f"{RULES}?trader={trader.pk}#traders" in page(client, f"/traders/{trader.pk}/")
    assert f'<option value="{trader.pk}" selected>Zebra' in page(client, f"{RULES}?trader={trader.pk}")
    assert client.get(f"{RULES}?trader=%00").status_code == 200


# --- quiet hours -----------------------------------------------------------------------------------------
def test_quiet_hours_are_set_changed_and_taken_away(client: Client, alice: User) -> None:
    client.post(QUIET, {"begins": "22:30", "ends": "07:00"})
    assert QuietHours.objects.get(owner=alice).begins == time(22, 30)
    assert 'value="22:30"' in page(client)
    client.post(QUIET, {"begins": "23:00", "ends": "07:00"})
    assert QuietHours.objects.get().begins == time(23)
    client.post(QUIET, {"begins": "", "ends": ""})
    assert not QuietHours.objects.exists()


@pytest.mark.parametrize(
    ("begins", "ends", "words"),
    [
        ("22:00", "", "Enter both times"),
        ("", "07:00", "Enter both times"),
        ("22:00", "22:00", "leave both empty"),
        ("25:00", "07:00", "Enter a valid time"),
    ],
)
def test_quiet_hours_that_make_no_sense_are_refused(
    client: Client, begins: str, ends: str, words: str
) -> None:
    answer = client.post(QUIET, {"begins": begins, "ends": ends})
    assert answer.status_code == 422 and words in answer.content.decode()
    assert not QuietHours.objects.exists()


# --- who may ---------------------------------------------------------------------------------------------
def test_a_stranger_sees_and_changes_nothing_of_hers(
    alice: User, charlie: User, trader: Trader, client_of: Callable[[User], Client]
) -> None:
    row = rules.override(alice, "loss", trader, "off")
    stranger = client_of(charlie)
    assert str(trader) not in page(stranger)
    assert stranger.post(f"{OWN}{row.pk}/remove/").status_code == 404
    sent = {"trader": trader.pk, "kind": "loss", "mode": "on", "limit": "", "unit": ""}
    assert stranger.post(OWN, sent).status_code == 422
    stranger.post(RULES, form(loss__mode="off"))
    assert AlertRule.objects.get(trader=trader).mode == "off"
    assert rules.book([alice.pk]).of(alice.pk, "loss").mode == "on"


def test_a_rule_for_all_traders_cannot_be_removed_as_one_of_a_trader(client: Client, alice: User) -> None:
    client.post(RULES, form(loss__mode="off"))
    assert client.post(f"{OWN}{AlertRule.objects.get().pk}/remove/").status_code == 404


@pytest.mark.parametrize("address", [RULES, OWN, QUIET, f"{OWN}1/remove/"])
def test_nobody_gets_in(address: str) -> None:
    for answer in (Client().get(address), Client().post(address)):
        assert answer.status_code == 302 and "/accounts/login/" in answer.headers["Location"]


@pytest.mark.parametrize("address", [OWN, QUIET, f"{OWN}1/remove/"])
def test_a_look_changes_nothing(address: str, client: Client) -> None:
    assert client.get(address).status_code == 405


def test_two_overrides_cost_as_many_queries_as_ten(client: Client, account: Account, alice: User) -> None:
    def queries(n: int) -> int:
        for _ in range(n):
            rules.override(alice, "loss", trader_of(account), "off")
        with CaptureQueriesContext(connection) as captured:
            client.get(RULES)
        return len(captured)

    client.get(RULES)
    assert queries(2) == queries(8)
