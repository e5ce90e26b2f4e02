"""Where the cause of an alert can be looked into or dealt with."""

from __future__ import annotations

from django.urls import reverse

from copytrade.models import Alert

Kind = Alert.Kind
ORDER, TRADER, ACCOUNT = "order", "trader", "account"

# By kind: the name of the address, of which row it is, and what to do there.
CURES: dict[str, tuple[str, str, str]] = {
    Kind.KEY_REFUSED: ("connection", ACCOUNT, "Test or replace the key"),
    Kind.DATA_STALE: ("activity", "?account", "See what failed"),
    Kind.QUOTA: ("activity", "?account", "See what the readings cost"),
    Kind.SETTINGS_OUTSIDE: ("copy_settings_timeline", TRADER, "See what changed, and restore"),
    Kind.OPENED: ("order", ORDER, "Show the copy"),
    Kind.CLOSED: ("order", ORDER, "Show the copy"),
    Kind.LOSS: ("order", ORDER, "Show the copy"),
    Kind.PARTIAL: ("order", ORDER, "Show the copy"),
    Kind.DRAWDOWN: ("trader", TRADER, "See the trader's results"),
    Kind.MARGIN: ("open_orders", "?trader", "See what is open"),
    Kind.QUIET: ("trader", TRADER, "See the trader's results"),
    Kind.GONE: ("trader", TRADER, "See the trader's results"),
    Kind.RECONCILIATION: ("trader", TRADER, "Compare the sums"),
    Kind.CHANNEL_OFF: ("channels", "", "See the channels"),
}
# Where the row that the page is of is not known (a folded alert, or one of the whole account).
WITHOUT = {
    ORDER: ("open_orders", "See what is open"),
    TRADER: ("traders", "See the traders"),
    ACCOUNT: ("connections", "See the connections"),
}


def cure(alert: Alert) -> tuple[str, str]:
    """(path, words) of the page where this alert's cause can be dealt with. One that counts others: those."""
    if alert.times > 1:
        return reverse("alert", args=[alert.pk]), f"Show the {alert.times}"
    name, row, words = CURES[alert.kind]
    if row.startswith("?"):
        pk = getattr(alert, f"{row[1:]}_id")
        return f"{reverse(name)}{row}={pk}" if pk else reverse(name), words
    if not row:
        return reverse(name), words
    pk = getattr(alert, f"{row}_id")
    if pk is None:
        name, words = WITHOUT[row]
        return reverse(name), words
    return reverse(name, args=[pk]), words
