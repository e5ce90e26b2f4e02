from __future__ import annotations

from django.core.management.base import BaseCommand

from copytrade import changes
from copytrade.models import SettingsChange


class Command(BaseCommand):
    help = (
        "Take up the settings changes that wait: send the confirmed ones, look at the outcome of those sent."
    )

    def handle(self, *args: object, **options: object) -> None:
        for change_id in changes.take_up():
            state = changes.proceed(change_id)
            self.stdout.write(f"change {change_id}: {SettingsChange.State(state).label}")
