from __future__ import annotations

from argparse import ArgumentParser

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from copytrade import symbols


class Command(BaseCommand):
    help = (
        "Show the symbols that copy trading supports at a venue, as far as they are known; with symbols, set them. "
        "Your list stands until you set another; no call of the exchange tells it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("venue", choices=sorted(settings.VENUES))
        parser.add_argument(
            "symbol", nargs="*", help="such as BTCUSDT; all of them, since a list replaces the old"
        )

    def handle(self, *args: object, **options: object) -> None:
        venue, names = str(options["venue"]), [*options["symbol"]]  # type: ignore[misc]
        odd = [name for name in names if not (name.isascii() and name.isalnum() and name == name.upper())]
        if odd:
            raise CommandError(
                f"{', '.join(odd)}: a symbol is capital letters and digits. Nothing was changed."
            )
        if names:
            symbols.set_by_operator(venue, names)
        known = symbols.supported(venue)
        self.stdout.write(" ".join(sorted(known)) if known else f"The symbols of {venue} are not known yet.")
