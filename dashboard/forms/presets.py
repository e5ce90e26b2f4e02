"""Forms for templates, the de-risk preset, files to import, and the traders that get the settings."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django import forms

from copytrade import derisk, portable
from copytrade.models import Trader
from copytrade.presets import LONGEST_NAME, MOST_TRADERS
from copytrade.rules import CopySettings, number

HUNDRED = Decimal(100)


class NameForm(forms.Form):
    name = forms.CharField(
        label="Name",
        max_length=LONGEST_NAME,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        error_messages={"required": "Give the template a name."},
    )


class SaveForm(NameForm):
    """A trader's settings, and what to call them."""

    trader = forms.ModelChoiceField(
        label="Settings of",
        queryset=Trader.objects.none(),
        empty_label=None,
        error_messages={"required": "Choose a trader.", "invalid_choice": "Choose one of your traders."},
    )

    field_order = ["trader", "name"]

    def __init__(self, *args: Any, traders: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["trader"].queryset = traders  # type: ignore[attr-defined]


class DeriskForm(forms.Form):
    """What to lower, and how far. A field that is left empty is not lowered."""

    size = forms.CharField(label="Size, % of now", required=False, initial="50")
    leverage = forms.CharField(label="Leverage at most", required=False, initial="5")
    stop_loss = forms.CharField(label="Stop loss, % of margin", required=False, initial="20")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.widget.attrs |= {"inputmode": "decimal", "autocomplete": "off"}

    def clean_size(self) -> Decimal | None:
        value = self._number("size")
        if value is not None and not 0 < value <= HUNDRED:
            raise forms.ValidationError("The size must be more than 0 % and at most 100 % of what it is now.")
        return None if value is None else value / HUNDRED

    def clean_leverage(self) -> int | None:
        value = self._number("leverage")
        if value is not None and (value != int(value) or not 1 <= value <= 1000):
            raise forms.ValidationError("The leverage must be a whole number from 1 to 1000.")
        return None if value is None else int(value)

    def clean_stop_loss(self) -> Decimal | None:
        value = self._number("stop_loss")
        if value is not None and not 0 < value <= 400:
            raise forms.ValidationError(
                "The stop loss must be more than 0 % and at most 400 % of the margin."
            )
        return None if value is None else value / HUNDRED

    def _number(self, name: str) -> Decimal | None:
        text = self.cleaned_data[name]
        if not text:
            return None
        value = number(text)
        if value is None:
            raise forms.ValidationError("This must be a plain number such as 20 or 0.5.")
        return value

    def options(self) -> derisk.Options:
        data = self.cleaned_data
        return derisk.Options(data["size"], data["leverage"], data["stop_loss"])


class ImportForm(forms.Form):
    """A settings file, chosen or pasted. What was read stays in the text field when something is wrong."""

    file = forms.FileField(label="File", required=False, help_text="A .json file that a desk exported.")
    text = forms.CharField(
        label="Or its text",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 10, "spellcheck": "false", "class": "mono"}),
    )
    name = forms.CharField(label="Name of the template", max_length=LONGEST_NAME, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.settings: CopySettings | None = None
        self.named = ""  # in the file
        self.problems: list[tuple[str, str]] = []

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        given = self._read_file() if data.get("file") else data.get("text", "")
        try:
            self.settings, self.named = portable.read(given)
        except portable.NotImportable as error:
            self.problems = error.problems
            self.add_error(None, "This cannot be imported.")
        return data

    def _read_file(self) -> bytes:
        """At most one byte more than is allowed; what is text of it is kept in the text field."""
        given = self.cleaned_data["file"].read(portable.MAX_BYTES + 1)
        if len(given) <= portable.MAX_BYTES:
            self.data = self.data.copy()
            self.data["text"] = given.decode("utf-8-sig", "replace").replace("\x00", "")
        return given


class TradersForm(forms.Form):
    """The traders that get the settings, each with a tick."""

    traders = forms.ModelMultipleChoiceField(
        queryset=Trader.objects.none(),
        error_messages={
            "required": "Choose at least one trader.",
            "invalid_choice": "Choose from your own traders.",
            "invalid_pk_value": "Choose from your own traders.",
        },
    )

    def __init__(self, *args: Any, traders: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["traders"].queryset = traders  # type: ignore[attr-defined]

    def clean_traders(self) -> list[Trader]:
        chosen = list(self.cleaned_data["traders"])
        if len(chosen) > MOST_TRADERS:
            raise forms.ValidationError(f"Choose at most {MOST_TRADERS} traders at once.")
        return chosen
