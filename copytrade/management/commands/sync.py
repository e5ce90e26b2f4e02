from __future__ import annotations

from argparse import ArgumentParser

from django.core.management.base import BaseCommand, CommandError

from copytrade.models import Account
from copytrade.sync import run


class Command(BaseCommand):
    help = "Read the exchange into the ledger now: every account, or one; every kind, or some."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--account", type=int, help="id of one account")
        parser.add_argument("--kind", choices=run.EVERY, action="append", help="may be given several times")

    def handle(self, *args: object, **options: object) -> None:
        accounts = Account.objects.order_by("pk")
        if options["account"] is not None:
            accounts = accounts.filter(pk=options["account"])
            if not accounts.exists():
                raise CommandError(f"There is no account {options['account']}.")
        failed = 0
        for account in accounts:
            for kind, trouble in run.sync_account(account.pk, options["kind"] or run.EVERY).items():
                failed += bool(trouble)
                self.stdout.write(f"{account.pk} {account.label}: {kind}: {trouble or 'read'}")
        if failed:
            raise CommandError(f"{failed} of the readings failed.")
