"""Every address x every person x every method, read from the resolver, each with the answer that it owes.

What an address owes follows from what it is: it names a row (its owner's alone), it is the operator's, it is open
to everybody, or it is a page on which everybody finds their own. Only what differs from that stands in a table.
The methods are those of the view's guard. A new address joins by itself; one with a parameter that no row is known
for fails with a sentence that says where to add one: tests/support/whole_world.py.
"""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client

from copytrade.models import User
from dashboard import watching
from dashboard.middleware import DEMO_CLOSED, DEMO_OPEN
from tests.support.addresses import Address, addresses
from tests.support.signed_in import signed_in
from tests.support.whole_world import NAMED_BY, names_a_row, rows_of, values_for

pytestmark = pytest.mark.django_db

EVERY = addresses()
OURS = [address for address in EVERY if address.ours]

# Open to nobody in particular, and what a visitor gets who is not signed in: (GET, POST without anything in it).
OPEN: dict[str, tuple[set[int], set[int]]] = {
    "gone": ({404}, {405}),  # how far a deletion got, for whoever has its address
    "healthz": ({200}, {405}),  # a container's health check
    "demo": ({405}, {302}),  # its button stands on the sign-in page
    "setup": ({404}, {404}),  # there are people already
    "join": ({410}, {405}),  # no such invitation
    "look": ({405}, {400}),  # the theme of the sign-in page
    "account_login": ({200}, {200}),
    "account_signup": ({200}, {200}),  # closed: it says how to get in
    "account_inactive": ({200}, {405}),
    "account_logout": ({302}, {302}),
    "account_reset_password": ({200}, {200}),
    "account_reset_password_done": ({200}, {405}),
    "account_reset_password_from_key": ({200}, {200}),  # no such key
    "account_reset_password_from_key_done": ({200}, {405}),
    "account_confirm_email": ({200}, {404}),
    "account_email_verification_sent": ({200}, {405}),
    "account_confirm_login_code": ({302}, {302}),  # not in use: to the sign-in page
    "mfa_authenticate": ({302}, {302}),
    "mfa_login_webauthn": ({302}, {302}),
}
# For the operator alone; for others they do not exist.
OPERATORS = {"invitations", "invitation_withdraw", "sending_policy", "spot_policy", "metrics"}
# What she gets of them with somebody else's row, or with an empty form.
OPERATORS_OWN = {"GET": {200}, "HEAD": {200}, "POST": {200, 302, 404, 405}}
# Where a signed-in person finds nothing: what it is about is not there, or nothing was chosen for it.
NOTHING_THERE = {
    "affiliate_export",  # no report was read to its end
    "gone",
    "setup",
    "template_apply",
    "account_confirm_email",
    "mfa_deactivate_totp",
    "mfa_view_recovery_codes",
    "mfa_download_recovery_codes",
}
# What looking leaves behind, in tables: when a person was here, and that somebody looks.
TRACES = {"django_session", "copytrade_user", "usersessions_usersession", "copytrade_syncjob"}
# Addresses whose looking is written down, and where.
WRITTEN_DOWN = {
    "traders_export": "copytrade_auditentry",
    "trader_export": "copytrade_auditentry",
    "history_export": "copytrade_auditentry",
    "open_orders_export": "copytrade_auditentry",
    "settings_export": "copytrade_auditentry",
    "affiliate_export": "copytrade_auditentry",
    "balances_export": "copytrade_auditentry",
    "bills_export": "copytrade_auditentry",
    "audit_export": "copytrade_auditentry",
    "lead_export": "copytrade_auditentry",
    "template_export": "copytrade_auditentry",
    "account_email": "account_emailaddress",  # the sign-in package makes it from the person's address
}
# Buttons for which a row that is gone is as good as done; they must leave a stranger's row alone all the same.
TWICE_IS_ONCE = {"trader_note_delete"}
EMPTY_FORM = {200, 302, 303, 400, 409, 422}
METHODS = ("GET", "HEAD", "POST")
PEOPLE = ("alice", "charlie", "operator", "demo", "nobody")
# Names in addresses behind the question mark that could mean a row of somebody else.
QUERY_NAMES = {
    name: name for name in ("trader", "account", "order", "template", "group", "change", "alert", "report")
} | {
    "before": "version",
    "after": "order",
    "pk": "trader",
    "key": "change",
}


def freshly_proved(user: User) -> Client:
    """Signed in, and asked for the password again just now: so that no page asks instead of answering."""
    client = signed_in(user)
    session = client.session
    records = session["account_authentication_methods"]
    session["account_authentication_methods"] = [*records, {**records[-1], "reauthenticated": True}]
    session.save()
    return client


class World:
    """alice, charlie and the operator with a row of every kind each; nobody and the demo's visitor with none."""

    def __init__(self) -> None:
        make = User.objects.create_user
        self.people = {
            "alice": make("alice", "alice@example.com", "alice-password-of-20"),
            "charlie": make("charlie", "charlie@example.com", "charlie-password-of-20"),
            "operator": make("olivia", "olivia@example.com", "olivia-password-of-20", is_operator=True),
            "demo": make("demo", is_demo=True),
        }
        self.rows = {
            name: rows_of(self.people[name], f"{name}s") for name in ("alice", "charlie", "operator")
        }
        self.clients = {name: freshly_proved(user) for name, user in self.people.items()} | {
            "nobody": Client()
        }


@pytest.fixture
def world(db: None, settings: Any) -> World:
    closed = settings.VENUES["sandbox"] | {"spot": "http://127.0.0.1:9", "contract": "http://127.0.0.1:9"}
    settings.VENUES = settings.VENUES | {"sandbox": closed}
    settings.ACCOUNT_RATE_LIMITS = False
    watching.remembered.forget()
    return World()


@contextmanager
def taken_back() -> Iterator[None]:
    """Whatever happens in it has not happened."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def written() -> dict[str, int]:
    """Rows written so far in this transaction, by table: the database's own count, taken back or not."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, n_tup_ins + n_tup_upd + n_tup_del FROM pg_stat_xact_user_tables"
            " WHERE n_tup_ins + n_tup_upd + n_tup_del > 0"
        )
        return dict(cursor.fetchall())


def asked(client: Client, method: str, url: str, query: dict[str, Any] | None = None) -> tuple[Any, set[str]]:
    """The answer, and the tables that were written meanwhile. Nothing of it stays."""
    cookies = client.cookies
    client.cookies = copy.deepcopy(cookies)
    with taken_back():
        before = written()
        answer = client.generic(method, url, query_params=query) if method != "POST" else client.post(url)
        answer.whole = b"".join(answer.streaming_content) if answer.streaming else answer.content
        after = written()
    client.cookies = cookies
    return answer, {table for table, rows in after.items() if rows != before.get(table, 0)}


def closed_to_the_demo(address: Address) -> bool:
    closed = address.name.startswith(DEMO_CLOSED) or address.name == "delete_everything"
    return closed and address.name not in DEMO_OPEN


def owed(address: Address, who: str, method: str) -> set[int]:
    """The statuses that this address may answer this person, when its parameters name alice's rows."""
    if who == "nobody":
        return owed_to_nobody(address, method)
    if who == "demo" and closed_to_the_demo(address):
        return {403}
    if not address.answers(method):
        return {405}
    if address.name in OPERATORS:
        return OPERATORS_OWN[method] if who == "operator" else {404}
    if names_a_row(address) and who != "alice":
        return {404}
    own = EMPTY_FORM | ({405} if address.methods is None else set()) if method == "POST" else {200, 302}
    return own | ({404} if address.name in NOTHING_THERE else set())


def owed_to_nobody(address: Address, method: str) -> set[int]:
    if address.name not in OPEN:
        return {302}
    looking, sending = OPEN[address.name]
    if method == "POST":
        return sending
    return looking if address.answers(method) else {405}


def wrong(address: Address, who: str, method: str, answer: Any, tables: set[str]) -> Iterator[str]:
    """What is not as it should be about an answer, in words."""
    label = f"{method} {address.name} as {who}: {answer.status_code}"
    if answer.status_code not in owed(address, who, method):
        yield f"{label}, and not one of {sorted(owed(address, who, method))}"
    if who == "nobody" and address.name not in OPEN and "/accounts/login/" not in answer.headers["Location"]:
        yield f"{label}, but not to the sign-in page"
    allowed = TRACES | {WRITTEN_DOWN.get(address.name, "")}
    if (method != "POST" or answer.status_code in {403, 404, 405}) and tables - allowed:
        yield f"{label}, and {sorted(tables - allowed)} was written"
    if who != "alice" and b"alices" in answer.whole:
        yield f"{label}, with alice's texts in it"


def test_every_parameter_of_an_address_names_a_row_that_is_known(world: World) -> None:
    for address in EVERY:
        assert address.at(values_for(address, world.rows["alice"]))
    assert len(EVERY) > 90 and sum(names_a_row(address) for address in EVERY) > 30


def test_every_view_of_ours_says_which_methods_it_answers() -> None:
    unguarded = {address.name for address in OURS if address.methods is None}
    assert unguarded == {"metrics"}, "it answers 401, 302 or 404 before it looks at the method"


@pytest.mark.parametrize("who", PEOPLE)
def test_every_address_answers_everybody_as_it_owes_them(world: World, who: str) -> None:
    problems: list[str] = []
    for address, method in itertools.product(EVERY, METHODS):
        url = address.at(values_for(address, world.rows["alice"]))
        answer, tables = asked(world.clients[who], method, url)
        problems += wrong(address, who, method, answer, tables)
    assert problems == []


def test_the_operator_finds_what_is_hers(world: World) -> None:
    for name in OPERATORS:
        address = next(one for one in EVERY if one.name == name)
        method = "GET" if address.answers("GET") else "POST"
        answer, _ = asked(
            world.clients["operator"], method, address.at(values_for(address, world.rows["operator"]))
        )
        assert answer.status_code in {200, 302}, name


def test_no_question_behind_an_address_opens_somebody_elses_rows(world: World) -> None:
    """Lists and charts that take a trader, an account, a version from the address: charlie asks for alice's."""
    theirs = {name: str(world.rows["alice"][kind]) for name, kind in QUERY_NAMES.items()}
    for address in EVERY:
        if not address.ours or not address.answers("GET"):
            continue
        url = address.at(values_for(address, world.rows["charlie"]))
        singly = [] if names_a_row(address) else [{name: value} for name, value in theirs.items()]
        for query in (theirs, *singly):
            answer, tables = asked(world.clients["charlie"], "GET", url, query)
            assert answer.status_code < 500, (url, query)
            assert b"alices" not in answer.whole, (url, query)
            assert not tables - TRACES - {WRITTEN_DOWN.get(address.name, "")}, (url, query)


def mixtures(address: Address, world: World) -> Iterator[dict[str, object]]:
    """Addresses in which some rows are charlie's own and at least one is alice's."""
    mine, hers = (values_for(address, world.rows[name]) for name in ("charlie", "alice"))
    rows = [name for name, before in address.parameters.items() if before in NAMED_BY]
    for chosen in itertools.product((mine, hers), repeat=len(rows)):
        picked = mine | {name: source[name] for name, source in zip(rows, chosen, strict=True)}
        if mine in chosen and hers in chosen:
            yield picked


def test_a_row_of_ones_own_does_not_open_somebody_elses_behind_it(world: World) -> None:
    tried = 0
    for address in EVERY:
        for values, method in itertools.product(list(mixtures(address, world)), METHODS):
            answer, tables = asked(world.clients["charlie"], method, address.at(values))
            done = address.name in TWICE_IS_ONCE and answer.status_code == 302
            assert answer.status_code == (404 if address.answers(method) else 405) or done, (address, values)
            assert not tables - TRACES and b"alices" not in answer.whole, (address, values)
            tried += 1
    assert tried >= 30


@pytest.mark.parametrize("who", ["alice", "operator", "nobody"])
def test_no_form_is_taken_without_the_token_of_its_page(world: World, who: str) -> None:
    """Another site can make a browser send a form with its cookies; it cannot know the token."""
    client = Client(enforce_csrf_checks=True)
    client.cookies = world.clients[who].cookies
    for address in EVERY:
        rows = world.rows["operator" if who == "operator" else "alice"]
        answer, tables = asked(client, "POST", address.at(values_for(address, rows)))
        assert (answer.status_code, tables - TRACES) == (403, set()), address.name
        assert b"CSRF" in answer.whole or b"form" in answer.whole, address.name


def test_with_the_token_the_same_form_is_taken(world: World) -> None:
    """So the test before this one refuses for want of the token, and for nothing else."""
    client = Client(enforce_csrf_checks=True)
    client.cookies = world.clients["alice"].cookies
    found = re.search(rb'name="csrfmiddlewaretoken" value="(\w+)"', client.get("/security/").content)
    assert found
    data = {"zone": "Asia/Tokyo", "csrfmiddlewaretoken": found[1].decode()}
    assert client.post("/security/zone/", data).status_code == 302
    assert User.objects.get(username="alice").zone == "Asia/Tokyo"
