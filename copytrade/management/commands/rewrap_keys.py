from __future__ import annotations

from django.core.management.base import BaseCommand, CommandError

from copytrade import keys
from copytrade.vault import VaultError


class Command(BaseCommand):
    help = (
        "Wrap every data key with the first key of VAULT_KEYS. Put the new key first, keep the old one behind it, "
        "restart, run this, then remove the old one. May be stopped and run again."
    )

    def handle(self, *args: object, **options: object) -> None:
        try:
            changed = keys.rewrap_all()
        except VaultError as error:
            raise CommandError(f"{error} What was wrapped before stays so. Run it again.") from None
        self.stdout.write(f"{changed} data keys were wrapped with '{keys.vault().first_id}'.")
