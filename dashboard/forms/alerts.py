"""Forms for alert rules: one line of the table, an override for one trader, and quiet hours."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django import forms

from copytrade.alerts.kinds import KINDS, About
from copytrade.alerts.rules import BadLimit, Rule, checked
from copytrade.alerts.words import limit as in_words
from copytrade.models import AlertRule, Trader

MODES = [(value, label.capitalize()) for value, label in AlertRule.Mode.choices]


class LimitField(forms.DecimalField):
    """A number as people type it: with a comma, too, and grouped by spaces."""

    widget = forms.TextInput

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_digits=21, decimal_places=8, **kwargs)
        self.widget.attrs |= {"inputmode": "decimal", "autocomplete": "off", "maxlength": "24"}

    def to_python(self, value: Any) -> Decimal | None:
        if isinstance(value, str):
            value = "".join(value.split()).replace("\u202f", "")
            if value.count(",") == 1 and "." not in value:
                value = value.replace(",", ".")
        return super().to_python(value)


class RuleForm(forms.Form):
    """What holds of one kind for all traders; its prefix is the kind."""

    mode = forms.ChoiceField(choices=MODES)

    def __init__(self, about: About, rule: Rule, *args: Any) -> None:
        start = {"mode": rule.mode, "unit": rule.unit}
        if rule.limit is not None:
            start["limit"] = in_words(rule.limit, "").strip()
        super().__init__(*args, prefix=about.kind, initial=start)
        self.about, label = about, about.label.capitalize()
        self.fields["mode"].widget.attrs["aria-label"] = label
        if about.units:
            self.fields["limit"] = LimitField(required=False)
            self.fields["limit"].widget.attrs["aria-label"] = f"{label}: limit"
        if len(about.units) > 1:
            units = [(unit, unit) for unit in about.units]
            self.fields["unit"] = forms.ChoiceField(choices=units, required=False)
            self.fields["unit"].widget.attrs["aria-label"] = f"{label}: unit"

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if "limit" not in self._errors:
            try:
                found = checked(self.about, data.get("limit"), data.get("unit") or "")
                data["limit"], data["unit"] = found
            except BadLimit as error:
                self.add_error("limit", str(error))
        return data

    def wanted(self) -> tuple[str, Decimal | None, str]:
        """(mode, limit, unit), once it is valid."""
        return self.cleaned_data["mode"], self.cleaned_data["limit"], self.cleaned_data["unit"]


class OverrideForm(forms.Form):
    """What holds for one trader instead. Without a limit, that of all traders holds."""

    trader = forms.ModelChoiceField(
        label="Trader",
        queryset=Trader.objects.none(),
        empty_label=None,
        error_messages={"required": "Choose a trader.", "invalid_choice": "Choose one of your traders."},
    )
    kind = forms.ChoiceField(
        label="About",
        choices=[(about.kind, about.label.capitalize()) for about in KINDS.values() if about.of_traders],
    )
    mode = forms.ChoiceField(label="Do", choices=MODES)
    limit = LimitField(label="Limit", required=False)
    unit = forms.ChoiceField(
        label="Unit",
        required=False,
        choices=[("", "as usual"), ("USDT", "USDT"), ("%", "%"), ("days", "days")],
    )

    def __init__(self, *args: Any, traders: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["trader"].queryset = traders  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        about, limit = KINDS.get(data.get("kind", "")), data.get("limit")
        if about is None or limit is None or "limit" in self._errors:
            return data
        unit = data.get("unit") or ""
        if not about.units:
            self.add_error("limit", "This kind has no limit: leave it empty.")
        elif unit and unit not in about.units:
            self.add_error("unit", f"The limit of this kind is in {' or '.join(about.units)}.")
        else:
            try:
                data["limit"], data["unit"] = checked(about, limit, unit)
            except BadLimit as error:
                self.add_error("limit", str(error))
        return data


class QuietForm(forms.Form):
    """Both times, or neither."""

    begins = forms.TimeField(label="From", required=False, widget=forms.TimeInput({"type": "time"}, "%H:%M"))
    ends = forms.TimeField(label="To", required=False, widget=forms.TimeInput({"type": "time"}, "%H:%M"))

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if self._errors:
            return data
        if (data["begins"] is None) != (data["ends"] is None):
            missing = "begins" if data["begins"] is None else "ends"
            self.add_error(missing, "Enter both times, or leave both empty for no quiet hours.")
        elif data["begins"] is not None and data["begins"] == data["ends"]:
            self.add_error("ends", "Quiet hours that end when they begin are none: leave both empty.")
        return data
