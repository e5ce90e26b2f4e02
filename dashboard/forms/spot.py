"""The order ticket and the batch: a symbol, and one to ten lines. What holds is decided by exchange/checks.py."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from django import forms

from copytrade import rules
from copytrade.exchange.checks import NewOrder
from copytrade.exchange.errors import LocalRefusal
from copytrade.exchange.operations import BATCH_MOST
from copytrade.models import Account, SpotOrder, SpotTicket
from copytrade.rules.spot import BUY, LIMIT, MARKET, SELL
from copytrade.spot import tickets

SHOWN_AT_FIRST = 3  # lines of a batch; the others open by a press
SYMBOL = re.compile(r"[A-Z0-9][A-Z0-9_-]{1,31}")
LABELS = {
    "symbol": "Symbol",
    "side": "Side",
    "type": "Type",
    "quantity": "Quantity",
    "price": "Price",
    "timeInForce": "Time in force",
}
FIELDS = {"timeInForce": "time_in_force"} | {name: name for name in LABELS if name != "timeInForce"}
NOT_A_NUMBER = "Write a plain number with a point, such as 0.25."
_typed = {"inputmode": "decimal", "autocomplete": "off", "spellcheck": "false"}


class Asked(forms.CharField):
    """An input that is asked for. Whether it may be empty is said by the rules of the interface, not here."""

    def validate(self, value: Any) -> None:
        """Left to exchange/checks.py."""


class AskedChoice(forms.ChoiceField):
    """The same for one of several: what is chosen must be among them, that something is chosen is not said here."""

    def validate(self, value: Any) -> None:
        if value:
            super().validate(value)


class SymbolForm(forms.Form):
    """The trading pair. Whether the exchange has it, only the exchange knows."""

    symbol = Asked(
        label="Symbol", max_length=40, strip=True,
        help_text="As the exchange writes it, such as BTCUSDT.",
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "spellcheck": "false", "autocapitalize": "characters", "list": "symbols"}
        ),
    )  # fmt: skip
    use_required_attribute = False

    def clean_symbol(self) -> str:
        symbol = str(self.cleaned_data["symbol"]).upper()
        if not SYMBOL.fullmatch(symbol):
            raise forms.ValidationError("Write the pair as the exchange does, such as BTCUSDT.")
        return symbol


class LineForm(forms.Form):
    """One order of the ticket."""

    use_required_attribute = False
    side = forms.ChoiceField(label="Side", choices=[(BUY, "Buy"), (SELL, "Sell")], initial=BUY)
    type = forms.ChoiceField(label="Type", choices=[(LIMIT, "Limit"), (MARKET, "Market")], initial=LIMIT)
    quantity = Asked(label="Quantity", max_length=60, widget=forms.TextInput(attrs=_typed))
    price = Asked(label="Price", max_length=60, widget=forms.TextInput(attrs=_typed))
    time_in_force = AskedChoice(
        label="Time in force", initial="GTC",
        choices=[("GTC", "Until filled (GTC)"), ("IOC", "At once, the rest cancelled (IOC)"),
                 ("FOK", "All at once or nothing (FOK)")],
    )  # fmt: skip

    def __init__(self, *args: Any, radios: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if radios:
            for name in ("side", "type"):
                field = self.fields[name]
                assert isinstance(field, forms.ChoiceField)
                field.widget = forms.RadioSelect(choices=field.choices)

    def clean(self) -> dict[str, Any] | None:
        """A market order has neither price nor time in force: what stands there is not sent, so it is not wrong."""
        if not self.limited:
            for name in ("price", "time_in_force"):
                self.errors.pop(name, None)
        return super().clean()

    @property
    def number(self) -> str:
        return (self.prefix or "").removeprefix("o")

    @property
    def blank(self) -> bool:
        """Nothing was typed into it: a line that is not used."""
        return not (self._text("quantity") or self._text("price"))

    @property
    def limited(self) -> bool:
        return self._text("type") != MARKET

    def order(self) -> NewOrder:
        """What was typed. A number that cannot be read is told at once, and left out."""
        return NewOrder(
            self._text("side"), self._text("type"), self._number("quantity"),  # type: ignore[arg-type]
            (self._text("time_in_force") or None) if self.limited else None,
            self._number("price") if self.limited else None,
        )  # fmt: skip

    def _text(self, name: str) -> str:
        return str(self.data.get(self.add_prefix(name), "")).strip() if self.is_bound else ""

    def _number(self, name: str) -> Decimal | None:
        typed = self._text(name)
        found = rules.number(typed)
        if typed and found is None:
            self.add_error(name, NOT_A_NUMBER)
        return found


class TicketForm:
    """A symbol and its lines. `batch`: up to ten, of which the blank ones do not count."""

    def __init__(
        self, data: Mapping[str, Any] | None = None, *, batch: bool = False, symbol: str = ""
    ) -> None:
        self.batch = batch
        self.symbol = SymbolForm(data, initial={"symbol": symbol})
        self.lines = [
            LineForm(data, prefix=f"o{number}", radios=not batch)
            for number in range(1, (BATCH_MOST if batch else 1) + 1)
        ]
        self.errors: list[str] = []
        self.orders: list[NewOrder] = []

    @classmethod
    def of(cls, ticket: SpotTicket) -> TicketForm:
        """The form as it was typed for an earlier ticket, with what the exchange said beside the fields."""
        rows = tickets.lines(ticket)
        data = {"symbol": ticket.symbol}
        for number, row in enumerate(rows, 1):
            data |= {f"o{number}-{name}": value for name, value in _typed_for(row).items()}
        form = cls(data, batch=len(rows) > 1)
        form.check(ticket.account)
        for line, row in zip(form.lines, rows, strict=False):
            if row.state == SpotOrder.State.REJECTED and row.sent_at:
                form._tell(line, row)
        return form

    @property
    def used(self) -> list[LineForm]:
        """The lines that count: of a batch those with something typed."""
        return [line for line in self.lines if not (self.batch and line.blank)]

    @property
    def first(self) -> list[LineForm]:
        return self.lines[:SHOWN_AT_FIRST]

    @property
    def more(self) -> list[LineForm]:
        return self.lines[SHOWN_AT_FIRST:]

    @property
    def more_open(self) -> bool:
        """Something stands in the lines that are folded away."""
        return any(not line.blank or (line.is_bound and line.errors) for line in self.more)

    @property
    def way(self) -> str:
        return SpotTicket.Way.BATCH if self.batch else SpotTicket.Way.SINGLE

    def check(self, account: Account) -> bool:
        """Whether this can go to the review; what is wrong stands beside each field."""
        forms_used: Iterable[forms.Form] = [self.symbol, *self.used]
        shaped = not any(list(map(_wrong, forms_used)))  # all of them, so that each tells what is wrong
        self.orders = [line.order() for line in self.used]
        if not self.orders:
            self.errors.append("Fill in at least one order.")
        elif shaped and not any(line.errors for line in self.used):
            try:
                tickets.check(account, self.symbol.cleaned_data["symbol"], self.orders, self.way)
            except LocalRefusal as refused:
                for violation in refused.violations:
                    self._refuse(violation.field, violation.message)
        return not self.problems()

    def problems(self) -> list[tuple[str, str]]:
        """[(id of the input, sentence)] of everything that is wrong; "" where no input is meant."""
        found = [("", sentence) for sentence in self.errors]
        named = [
            ("", self.symbol),
            *((f"Order {line.number}: " if self.batch else "", line) for line in self.used),
        ]
        for prefix, form in named:
            if not form.is_bound:
                continue
            for name, sentences in form.errors.items():
                wanted = form[name].id_for_label or f"id_{form.add_prefix(name)}_0"
                found += [(wanted, f"{prefix}{sentence}") for sentence in sentences]
        return found

    def _refuse(self, name: str, message: str) -> None:
        """A broken rule of the interface, beside its field: `orderList[2].price` is the third line's."""
        indexed = re.fullmatch(r"orderList\[(\d+)\]\.(\w+)", name)
        place = int(indexed[1]) if indexed else 0
        plain = indexed[2] if indexed else name
        words = _in_words(plain, message)
        if plain == "symbol":
            self.symbol.add_error("symbol", words)
        elif plain in FIELDS and place < len(self.used):
            self.used[place].add_error(FIELDS[plain], words)
        else:
            self.errors.append(words)

    def _tell(self, line: LineForm, row: SpotOrder) -> None:
        """What the exchange said of a refused order, beside the field that it names."""
        field = "symbol" if row.error_code == "-2007" else FIELDS.get(row.error_field.rpartition(".")[2], "")
        if field == "symbol":
            if row.error_message not in self.symbol.errors.get("symbol", []):
                self.symbol.add_error("symbol", row.error_message)
        elif field:
            line.add_error(field, row.error_message)
        else:
            line.add_error("quantity", row.error_message)


def _wrong(form: forms.Form) -> bool:
    return not form.is_valid()


def _typed_for(row: SpotOrder) -> dict[str, str]:
    return {
        "side": row.side, "type": row.type, "quantity": f"{row.quantity:f}",
        "price": "" if row.price is None else f"{row.price:f}", "time_in_force": row.time_in_force or "GTC",
    }  # fmt: skip


def _in_words(name: str, message: str) -> str:
    """The rule's sentence with the field called as on the form."""
    label = LABELS.get(name, name)
    words = message.replace("when type is LIMIT", "for a limit order")
    return label + words.removeprefix(name) if words.startswith(name) else words


class LookUpForm(forms.Form):
    """One of two ids; each is needed when the other is not given (interface.md, "order details")."""

    order_id = forms.CharField(
        label="Order number", required=False, max_length=24, help_text="The exchange's own, digits only.",
        widget=forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"}),
    )  # fmt: skip
    client_id = forms.CharField(
        label="Client order id", required=False, max_length=64,
        help_text="The one that was sent along; ours begin with cd.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )  # fmt: skip

    def clean_order_id(self) -> int | None:
        typed = str(self.cleaned_data["order_id"])
        if not typed:
            return None
        if not (typed.isascii() and typed.isdigit()) or int(typed) >= 2**63:
            raise forms.ValidationError("An order number has digits only, and is below 9223372036854775808.")
        return int(typed)

    def clean_client_id(self) -> str:
        typed = str(self.cleaned_data["client_id"])
        if not typed.isprintable():
            raise forms.ValidationError("This id has characters that cannot be sent.")
        return typed

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors and bool(cleaned.get("order_id") is not None) == bool(cleaned.get("client_id")):
            raise forms.ValidationError("Give one of the two: the order number or the client order id.")
        return cleaned
