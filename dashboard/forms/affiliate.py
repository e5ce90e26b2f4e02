"""The questions of the affiliate pages: each with the fields that its operation takes, and no day out of its bounds."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

from django import forms

from copytrade.affiliate import BOTH, Kind
from copytrade.affiliate.kinds import choices, usual
from copytrade.exchange import ranges
from copytrade.exchange.kinds import INT64

MOST_USERS = 200
LABELS = {
    "since": "From (UTC day)", "until": "to", "product_type": "Product", "coin": "Coin", "uid": "User",
    "sub_uid": "Sub-affiliate", "withdraw_id": "Withdrawal", "user_ids": "Customers",
    "from_account_type": "From wallet", "to_account_type": "To wallet",
}  # fmt: skip
ANY = {"coin": "All coins", "product_type": "Both"}
WORDS = {"SPOT": "Spot", "FUTURES": "Futures", "FUND": "Funding"}


class AskForm(forms.Form):
    """A question of one kind. `today` and the bounds are of UTC, like the days that it asks for."""

    def __init__(
        self, kind: Kind, data: Any = None, *, now: datetime, asked: dict[str, Any] | None = None
    ) -> None:
        offered = usual(kind, now.astimezone(UTC).date())
        first = dict(zip(("since", "until"), offered, strict=True)) if offered else {}
        super().__init__(data, initial=_shown(asked) if asked else first, auto_id="ask-%s")
        self.kind, self.now = kind, now
        for name in kind.asks:
            self.fields[name] = MAKERS[name](self, name)
            self.fields[name].label = LABELS[name]

    def days(self, name: str) -> forms.DateField:
        """Needed where the exchange would choose days of its own that nobody sees."""
        allowed = ranges.days(self.kind.operation, self.now)
        bounds = {"min": allowed.first.isoformat(), "max": allowed.last.isoformat()}
        return forms.DateField(
            required=self.kind.usual_days is not None,
            widget=forms.DateInput(attrs={"type": "date", **bounds}, format="%Y-%m-%d"),
            error_messages={
                "required": "Choose a day.",
                "invalid": "Write the day as year-month-day: 2026-05-04.",
            },
        )

    def one_of(self, name: str) -> forms.ChoiceField:
        allowed = [(value, WORDS.get(value, value)) for value in choices(self.kind, name)]
        if name == "coin":
            allowed = [("", ANY[name]), *allowed]
        elif name == "product_type":
            allowed = [(BOTH, ANY[name]), *allowed]
        return forms.ChoiceField(
            required=name == "product_type",
            choices=allowed,
            error_messages={"invalid_choice": "Choose one of the list."},
        )

    def number(self, name: str) -> forms.CharField:
        attrs = {"inputmode": "numeric", "autocomplete": "off", "placeholder": "All"}
        return forms.CharField(required=False, max_length=40, widget=forms.TextInput(attrs=attrs))

    def numbers(self, name: str) -> forms.CharField:
        attrs = {"inputmode": "numeric", "autocomplete": "off", "placeholder": "All direct customers"}
        return forms.CharField(required=False, max_length=5000, widget=forms.TextInput(attrs=attrs))

    def text(self, name: str) -> forms.CharField:
        attrs = {"autocomplete": "off", "placeholder": "All"}
        return forms.CharField(required=False, max_length=64, widget=forms.TextInput(attrs=attrs))

    def clean_uid(self) -> int | None:
        return _whole(self.cleaned_data["uid"])

    def clean_sub_uid(self) -> int | None:
        return _whole(self.cleaned_data["sub_uid"])

    def clean_user_ids(self) -> list[int]:
        found = [_whole(part) for part in re.split(r"[\s,;]+", self.cleaned_data["user_ids"]) if part]
        if len(found) > MOST_USERS:
            raise forms.ValidationError(
                f"Ask for at most {MOST_USERS} customers at once; these are {len(found)}."
            )
        return sorted({one for one in found if one is not None})

    def clean_withdraw_id(self) -> str:
        found = self.cleaned_data["withdraw_id"]
        if not found.isprintable():
            raise forms.ValidationError("Copy the withdrawal's number as the exchange shows it.")
        return found

    def clean(self) -> dict[str, Any]:
        found = super().clean() or self.cleaned_data
        days: list[date | None] = [found.get("since"), found.get("until")]
        if "since" in self.fields and (wrong := ranges.refusal(self.kind.operation, *days, self.now)):
            self.add_error(*wrong)
        return found


def _shown(asked: dict[str, Any]) -> dict[str, Any]:
    return {name: ", ".join(map(str, one)) if isinstance(one, list) else one for name, one in asked.items()}


def _whole(text: str) -> int | None:
    """An id, exact; nothing when the field is empty."""
    text = text.strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) in INT64):
        raise forms.ValidationError(f"{text[:24]} is not a user's number: it has digits only, at most 19.")
    return int(text)


MAKERS: dict[str, Callable[[AskForm, str], forms.Field]] = {
    "since": AskForm.days, "until": AskForm.days, "product_type": AskForm.one_of, "coin": AskForm.one_of,
    "from_account_type": AskForm.one_of, "to_account_type": AskForm.one_of, "uid": AskForm.number,
    "sub_uid": AskForm.number, "user_ids": AskForm.numbers, "withdraw_id": AskForm.text,
}  # fmt: skip
