"""Hold all daily sums against the orders, remake what differs, and make every summary again."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from copytrade import rollups
from copytrade.models import Account


class Command(BaseCommand):
    help = "Remake daily sums and summaries from the orders, and say what differed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--account", type=int, help="The number of one account; all of them without it.")

    def handle(self, *args: Any, **options: Any) -> None:
        accounts = Account.objects.order_by("pk")
        if options["account"] is not None:
            accounts = accounts.filter(pk=options["account"])
            if not accounts:
                raise CommandError(f"There is no account {options['account']}.")
        for account in accounts:
            found = rollups.rebuild(account)
            made = rollups.summarise(account.traders.values_list("pk", flat=True))
            self.stdout.write(
                f"{account.pk} {account.label}: {found.n} daily sums differed and were remade, "
                f"summaries of {made} traders made."
            )
            for cell in found.sample:
                self.stdout.write(
                    f"  trader {cell['trader']}, {cell['day']}, {cell['symbol']}: "
                    f"{_told(cell['kept'])} kept, {_told(cell['right'])} in the orders"
                )


def _told(figures: dict | None) -> str:
    return "nothing" if figures is None else f"{figures['n']} copies, net {figures['net']},"
