"""Forms of a trader's page: a note, and one's own base for ROI."""

from __future__ import annotations

from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from django import forms

from copytrade.models import TraderNote

MOST_CAPITAL = Decimal("1e15")


class NoteForm(forms.ModelForm):
    """What a person writes down about a trader, for a day of their own clock."""

    class Meta:
        model = TraderNote
        fields = ("day", "text")
        labels = {"day": "Day", "text": "Note"}
        widgets = {
            "day": forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
            "text": forms.Textarea(attrs={"rows": 3}),
        }

    def __init__(self, *args: Any, today: date, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["day"].initial = today
        self.fields["text"].error_messages["required"] = "Write what you want to remember."

    def clean_text(self) -> str:
        """PostgreSQL keeps no NUL; a browser's line ends become plain ones."""
        return self.cleaned_data["text"].replace("\x00", "").replace("\r\n", "\n")

    def clean_day(self) -> date:
        day = self.cleaned_data["day"]
        if not 2009 <= day.year <= 2100:
            raise forms.ValidationError("Choose a day between 2009 and 2100.")
        return day


class CapitalForm(forms.Form):
    """The money that results are measured against; empty leaves that to the exchange's figure."""

    capital = forms.CharField(
        label="Your base for ROI, USDT",
        required=False,
        max_length=40,
        widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}),
        help_text="What you put in yourself. 1000 makes a result of 50 an ROI of 5 %. Empty: the money invested today.",
    )

    def clean_capital(self) -> Decimal | None:
        text = self.cleaned_data["capital"].replace(" ", "").replace("\u202f", "")
        if not text:
            return None
        try:
            value = Decimal(text)
        except InvalidOperation:
            value = Decimal("NaN")
        if not text.isascii() or not value.is_finite() or "," in text or "_" in text:
            raise forms.ValidationError("Write it as a plain number: 1000 or 1000.50.")
        if not 0 < value <= MOST_CAPITAL:
            raise forms.ValidationError("It has to be above 0. To have no base of your own, leave it empty.")
        return value
