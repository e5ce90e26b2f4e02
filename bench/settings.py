"""How long checks, editor and sending of copy settings take: `./run bench settings`.

Checks and editor: settings of 200 symbols. Sending: the whole way, from the press of the button through the
broker and a worker process to the committed APPLIED, against the sandbox exchange.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from urllib.parse import urlencode

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.test import Client  # noqa: E402
from django.urls import reverse  # noqa: E402

from copytrade import changes, rules, symbols, versions  # noqa: E402
from copytrade.clients import talking_to  # noqa: E402
from copytrade.models import CopySymbols, SettingsChange, Trader, User  # noqa: E402
from copytrade.sync import run  # noqa: E402
from dashboard.settling import settle  # noqa: E402
from tests.faults.desk_workers import Workers  # noqa: E402
from tests.support.sandbox_process import Sandbox  # noqa: E402
from tests.support.signed_in import signed_in  # noqa: E402

from . import desk  # noqa: E402
from .samples import SYMBOLS, per_symbol, unified  # noqa: E402
from .timing import Row, Times, table, timed  # noqa: E402

CHECKS, PAGES, SENDINGS = 200, 30, 30
State = SettingsChange.State


def checks() -> list[Row]:
    """Checking a body of 200 symbols, beside one pass of the JSON parser over the same body."""
    rows = []
    for name, sample in (
        ("per symbol", per_symbol()),
        ("unified, a leverage for each", unified()),
    ):
        body = rules.to_body(702345678901234567, sample)
        text = json.dumps(body)
        bare = timed(lambda text=text: json.loads(text), CHECKS)
        times = timed(lambda body=body: rules.check_body(body, supported=SYMBOLS, ours=True), CHECKS)
        assert rules.check_body(body, supported=SYMBOLS, ours=True) == []
        rows.append(
            Row(f"check a body of 200 symbols, {name}", times, bare, "parsing its JSON", 0.005, "median")
        )
    return rows


def editor() -> list[Row]:
    """The editor's pages with 200 symbols, beside a page with nothing but the frame. All with the middleware."""
    owner = desk.alice()
    with desk.exchange_of_200() as url:
        desk.venue_at(url)
        account = desk.connection_of(owner, "Bench")
        symbols.set_by_operator("sandbox", SYMBOLS)
        client = signed_in(alice())
        visit(client, reverse("bare"))
        settle()  # as the real server
        bare = timed(lambda: visit(client, reverse("bare")), PAGES)
        rows = []
        for trader_id, mode in ((1, "per symbol"), (2, "unified")):
            trader = Trader.objects.create(
                account=account, trader_id=trader_id, name=f"Trader {trader_id}", copied=True
            )
            address, check = (
                reverse(name, args=[trader.pk]) for name in ("copy_settings", "copy_settings_check")
            )
            opened = timed(lambda at=address: visit(client, at), PAGES)
            form = urlencode(desk.form_of(visit(client, address)), doseq=True)
            checked = timed(lambda at=check, form=form: send(client, at, form), PAGES)
            part = timed(lambda at=check, form=form: send(client, at, form, HTTP_HX_REQUEST="true"), PAGES)
            more = (bare, "a bare page", 0.15)
            rows += [
                Row(f"editor of 200 symbols, {mode}: open", opened, *more),
                Row(f"editor of 200 symbols, {mode}: the whole page again, checked", checked, *more),
                Row(f"editor of 200 symbols, {mode}: check while typing", part, *more),
            ]
    return rows


def visit(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, (address, answer.status_code)
    return answer.content.decode()


def send(client: Client, address: str, form: str, **headers: str) -> None:
    """A form as a browser sends it; that it was put together is not the server's time."""
    answer = client.post(address, form, content_type="application/x-www-form-urlencoded", **headers)
    assert answer.status_code == 200, (address, answer.status_code)


def sending(folder: Path) -> list[Row]:
    """From the press of the button to the committed APPLIED, the exchange's own time taken off."""
    with Sandbox(folder / "sandbox.log", "--speed", "0", "--seed", "1", "--limit", "1000000") as sandbox:
        desk.venue_at(sandbox.url)
        CopySymbols.objects.all().delete()  # those of the editor's part
        account = desk.connection_of(alice(), "Sandbox")
        run.sync_account(account.pk, ["traders", "settings"])
        trader = account.traders.filter(copied=True, versions__mode="unified").first()
        bare = timed(lambda: read(trader), 30)
        with Workers(folder, sandbox.url) as workers:
            workers.start()
            pressed = [press(workers, trader, number) for number in range(SENDINGS + 1)]
    # The first one also waits for the worker to start.
    exchange = 3 * bare.median  # it is read, written, and read back
    times = Times(pressed[1:])
    return [Row("from confirmation to APPLIED", times, bare, "a bare call", 0.3, less=exchange)]


def alice() -> User:
    return User.objects.get(username="alice")


def read(trader: Trader) -> None:
    with talking_to(trader.account, interactive=True) as client:
        client.follower_settings(trader_id=trader.trader_id)


def press(workers: Workers, trader: Trader, number: int) -> float:
    """One change through the browser's button; the seconds until its outcome was committed."""
    held = versions.settings_of(versions.latest(trader))
    wanted = replace(
        held, configs=(replace(held.configs[0], stop_loss=Decimal(100 + number) / 1000), *held.configs[1:])
    )
    change = changes.draft(trader, wanted, alice())
    client = signed_in(alice())
    address = reverse("copy_settings_change", args=[trader.pk, change.key])
    form = desk.hidden_fields(visit(client, address))
    started = time.time()
    answer = client.post(address, form)
    assert answer.status_code == 302, answer.status_code
    workers.wait(lambda: SettingsChange.objects.get(pk=change.pk).state == State.APPLIED)
    change.refresh_from_db()
    return change.resolved_at.timestamp() - started


def main(result: Path) -> int:
    settings.ALLOWED_HOSTS = ["testserver"]
    settings.ROOT_URLCONF = "bench.urls"
    call_command("migrate", verbosity=0)
    with tempfile.TemporaryDirectory(prefix="copydesk-bench-") as folder:
        rows = [*checks(), *editor(), *sending(Path(folder))]
    text = table(rows)
    result.write_text(text)
    print(text)
    return 0 if all(row.ok for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
