"""The copy settings form: what was typed, for both modes, and what the rules say about it.

The form is plain text by field name, so nothing typed is ever lost: a value that no rule accepts is shown
again as it was. Only the chosen mode becomes a body; every field of that mode is in it.
Rules: copytrade.rules, and nothing here repeats one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from copytrade import rules
from copytrade.rules import PER_SYMBOL, UNIFIED, CopySettings, Violation

from .copy_settings_blocks import (
    SIDES,
    Block,
    LeverageRow,
    Typed,
    mode_typed,
    row_symbols,
    settings_typed,
    slug,
)
from .copy_settings_fields import LEVERAGES, SPECS, Field, Spec, with_unknown
from .examples import examples
from .pasted import Pasted, read
from .per_symbol import ROWS_AT_MOST, Table, act, one
from .typed import integer_sent


class SettingsForm:
    """The form of one trader's settings.

    `supported` are the copy-trading symbols, None when they are not known; `offered` further symbols to
    choose from (seen in orders). Only the chosen mode is built, and the other one when its fields are in `data`:
    200 symbols are 2,000 inputs, which nobody asked for who edits unified settings.
    """

    def __init__(
        self,
        data: Mapping[str, list[str]],
        *,
        trader_id: int,
        supported: Sequence[str] | None,
        offered: Iterable[str] = (),
        base: CopySettings | None = None,
    ):
        self.data: Typed = dict(data)
        self.trader_id = trader_id
        self.supported = supported
        self.base = base
        self.mode = self.one("mode")
        self.symbols = self._chosen()
        known = {*(supported or ()), *offered, *self.symbols, *self._base_symbols()}
        self.offered = sorted(known)
        self.violations: list[Violation] = []
        self.errors: list[str] = []
        self.edited: list[Block] = []
        self.unseen = False  # the chosen mode was proposed and not shown yet: nothing to review
        self.redraw = ""  # the section that a check answers as a whole: "rows", "unified" or none
        self.done = ""  # what an action did, in a sentence
        self.pasted: Pasted | None = None
        self.untouched: CopySettings | None = None  # the settings that every text of the form comes from
        self._build()

    @classmethod
    def from_settings(cls, settings: CopySettings, **known) -> SettingsForm:
        form = cls(settings_typed(settings), base=settings, **known)
        form.untouched = settings
        return form

    @classmethod
    def from_post(cls, post, **known) -> SettingsForm:
        """From a request's QueryDict, with what its button asks for: see per_symbol.py and pasted.py."""
        data = {name: post.getlist(name) for name in post}
        supported, base, mode = known.get("supported"), known.get("base"), post.get("mode", "")
        unseen = not _shown(data, mode, row_symbols(supported, base))
        if unseen:
            data = mode_typed(base, mode, supported) | data
        form = cls(data, **known)
        form.unseen = unseen
        if unseen:
            form.redraw = "rows" if mode == PER_SYMBOL else "unified"
            return form
        if one(data, "apply").startswith("paste"):
            return form._with_pasted(take=one(data, "apply") == "paste-take", **known)
        if "apply" in data or "fill_from" in data:
            return form._with_action(**known)
        return form

    def _with_action(self, **known) -> SettingsForm:
        new, sentence = act(self.table, self.data)
        form = type(self)(self.data | new, **known) if new else self
        form.redraw, form.done = "rows", sentence
        return form

    def _with_pasted(self, *, take: bool, **known) -> SettingsForm:
        """Try the pasted values in a form of their own, so that the rules name the wrong cells; take over the rest."""
        pasted = read(self.one("paste"), {card.symbol for card in self.cards})
        tried = type(self)(self.data | {cell.name: [cell.text] for cell in pasted.cells}, **known)
        tried.check()
        fields = {item.name: item for card in tried.cards for item in card.fields}
        good = {}
        for cell in pasted.cells:
            errors = fields[cell.name].errors
            if errors:
                where = f"Line {cell.line}, {cell.symbol}, {cell.spec.label.lower()} “{cell.text[:40]}”"
                pasted.tell(cell.line, f"{where}: {' '.join(errors)} It is left out.")
            elif cell.text != self.one(cell.name):
                good[cell.name] = [cell.text]
                pasted.preview.append((cell.symbol, cell.spec.label, self.one(cell.name), cell.text))
        form = type(self)(self.data | good | {"paste": [""]}, **known) if take else self
        form.pasted, form.redraw, pasted.took = pasted, "rows", take
        return form

    def one(self, name: str) -> str:
        values = self.data.get(name) or [""]
        return values[-1].strip()

    def _chosen(self) -> list[str]:
        """The ticked symbols, then those written by hand, each once and in that order."""
        written = re.split(r"[\s,;]+", self.one("more_symbols").upper())
        return list(dict.fromkeys(name for name in [*self.data.get("symbols", []), *written] if name))

    def _base_symbols(self) -> set[str]:
        if self.base is None or self.base.mode != UNIFIED:
            return set()
        return {name for config in self.base.configs for name in config.symbols or ()}

    # The page

    def _build(self) -> None:
        with_rows = self.mode == PER_SYMBOL or _rows_in(self.data, self.supported)
        with_unified = self.mode != PER_SYMBOL or "trace_type" in self.data
        self.unified = Block("", "u", [self._field(spec, "", "u", False) for spec in SPECS])
        self.cards = [self._card(symbol) for symbol in self._card_symbols()] if with_rows else []
        self.leverages = (
            [self._leverage_row(symbol) for symbol in self.offered]
            if with_unified and not self.crowded
            else []
        )
        self.has_unified = with_unified
        self._explain(self.unified)

    @property
    def has_rows(self) -> bool:
        return bool(self.cards)

    @property
    def crowded(self) -> bool:
        """More symbols than one form can carry: they are not listed, and this says so."""
        return max(len(self.offered), len(self.supported or ())) > ROWS_AT_MOST

    @property
    def rows_at_most(self) -> int:
        return ROWS_AT_MOST

    @property
    def table(self) -> Table:
        same = self.untouched is not None and self.untouched is self.base
        return Table(
            self.cards, self.data, self.data if same else mode_typed(self.base, PER_SYMBOL, self.supported)
        )

    def _card(self, symbol: str) -> Block:
        block_id = f"s-{slug(symbol)}"
        return Block(symbol, block_id, [self._field(spec, f"{symbol}.", block_id, True) for spec in SPECS])

    def _card_symbols(self) -> list[str]:
        return [] if self.crowded else row_symbols(self.supported, self.base)

    def _field(self, spec: Spec, prefix: str, block_id: str, per_symbol: bool) -> Field:
        value = self.one(prefix + spec.name)
        choices = spec.choices_for(per_symbol)
        if choices:
            choices = with_unknown(choices, value)
        return Field(
            spec=spec,
            name=prefix + spec.name,
            id=f"{block_id}-{spec.name}",
            value=value,
            choices=choices,
            label=spec.label,
            unit=spec.unit,
        )

    def _leverage_row(self, symbol: str) -> LeverageRow:
        fields = [
            Field(
                spec=SPECS[-1],
                name=f"lev.{symbol}.{side}",
                id=f"lev-{slug(symbol)}-{side}",
                value=self.one(f"lev.{symbol}.{side}"),
                label=f"{side.capitalize()} leverage {symbol}",
                unit="x",
            )
            for side, _, _ in SIDES
        ]
        return LeverageRow(symbol, symbol in self.symbols, fields)

    def _explain(self, block: Block) -> None:
        fields = block.by_name
        fields["trace_value"].unit = {"amount": "USDT", "percent": "x"}.get(fields["trace_type"].value, "")
        for name, sentence in examples({name: item.value for name, item in fields.items()}).items():
            fields[name].example = sentence

    # The body

    def _config_body(self, block: Block) -> dict:
        values = block.by_name
        body: dict = {}
        for item in block.fields:
            fixed = values["leverage_type"].value == "fixed"
            if item.value and (item.spec.name not in LEVERAGES or fixed):
                body[item.spec.wire] = item.spec.sent(item.value)
        return body

    def body(self) -> dict:
        """The POST body of the chosen mode, with what was typed in it, right or wrong."""
        body: dict = {"traderId": self.trader_id, "settingType": self.mode}
        if self.mode == PER_SYMBOL:
            body["symbolTraceConfigs"] = [
                {"symbol": card.symbol} | self._config_body(card) for card in self.cards
            ]
            return body
        config = {"symbols": self.symbols} | self._config_body(self.unified)
        if config.get("leverageType") == "specify":
            config["customLeverages"] = [self._custom(row) for row in self.leverages if row.chosen]
        return body | {"unifiedTraceConfig": config}

    @staticmethod
    def _custom(row: LeverageRow) -> dict:
        typed = {
            wire: integer_sent(item.value)
            for (_, wire, _), item in zip(SIDES, row.fields, strict=True)
            if item.value
        }
        return {"symbol": row.symbol} | typed

    def settings(self) -> CopySettings:
        """The settings of a body without violations."""
        return rules.from_body(self.body())

    # The checks

    def check(self) -> bool:
        """Put every message of the rules beside its field; True when there is none."""
        self.violations = rules.check_body(self.body(), supported=self.supported, ours=True)
        places = self._places()
        for violation in self.violations:
            self._place(violation, places)
        return not self.violations and not self.unseen

    def _places(self) -> dict[str, Field | Block]:
        """Body path -> the field or block that shows its message."""
        if self.mode == PER_SYMBOL:
            places: dict[str, Field | Block] = {
                f"symbolTraceConfigs[{n}]": card for n, card in enumerate(self.cards)
            }
        else:
            places = {"unifiedTraceConfig": self.unified}
            rows = [row for row in self.leverages if row.chosen]
            for number, row in enumerate(rows):
                for (_, wire, _), item in zip(SIDES, row.fields, strict=True):
                    places[f"unifiedTraceConfig.customLeverages[{number}].{wire}"] = item
        for path, block in list(places.items()):
            if isinstance(block, Block):
                places |= {f"{path}.{item.spec.wire}": item for item in block.fields}
        return places

    def _place(self, violation: Violation, places: dict[str, Field | Block]) -> None:
        place = places.get(violation.field)
        if isinstance(place, Field):
            place.errors = (*place.errors, violation.message)
        elif isinstance(place, Block):
            place.errors.append(violation.message)
        elif violation.field.startswith(("unifiedTraceConfig.symbols", "unifiedTraceConfig.customLeverages")):
            self.unified.errors.append(violation.message)
        else:
            self.errors.append(violation.message)

    def answer_for(self, element_id: str) -> None:
        """Choose the blocks whose notes a check answers: the edited one, or all of the mode after a switch."""
        blocks = self.cards if self.mode == PER_SYMBOL else [self.unified]
        self.edited = [block for block in blocks if block.id == element_id]
        for block in self.edited:
            self._explain(block)
        if not self.edited and not self.redraw and element_id in ("mode", ""):
            self.edited = [self.unified] if self.mode != PER_SYMBOL else []

    @property
    def edits_unified(self) -> bool:
        return self.unified in self.edited

    @property
    def unchanged(self) -> bool:
        """For a form without violations: whether it says what the exchange holds already."""
        if self.violations or self.base is None:
            return False
        return self.untouched is self.base or rules.same(self.base, self.settings())

    @property
    def problems(self) -> list[tuple[str, str, str]]:
        """Every message of the chosen mode as (element id, symbol, message), in the order of the page."""
        found = [("settings-form", "", message) for message in self.errors]
        for block in self.cards if self.mode == PER_SYMBOL else [self.unified]:
            found += [(f"{block.id}-block", block.symbol, message) for message in block.errors]
            found += [(item.id, block.symbol, message) for item in block.fields for message in item.errors]
        found += [
            (item.id, row.symbol, m) for row in self.leverages for item in row.fields for m in item.errors
        ]
        return found


def _rows_in(data: Mapping[str, list[str]], symbols: Iterable[str] | None) -> bool:
    return any(f"{symbol}.trace_type" in data for symbol in symbols or ())


def _shown(data: Mapping[str, list[str]], mode: str, symbols: Iterable[str]) -> bool:
    """Whether the page that was posted had the fields of its mode: a mode that was just chosen has not."""
    if mode == PER_SYMBOL:
        return _rows_in(data, symbols)
    return "trace_type" in data or mode != UNIFIED
