"""Print the set-up token for the first account, as long as there is none."""

from __future__ import annotations

from django.core.management.base import BaseCommand

from dashboard.admission import nobody_yet, setup_token


class Command(BaseCommand):
    help = "Show the set-up token for the first account."

    def handle(self, *args: object, **options: object) -> None:
        if nobody_yet():
            self.stdout.write(setup_token())
        else:
            self.stdout.write(
                "The first account exists. Further people sign up by invitation (Security page)."
            )
