"""Copy settings as a person may type them, right and wrong, and what a body made of them has to be.

The body here is a second reading of the form, as independent_rules.py is one of the rules: percentages are
divided by hand, nothing of the form or of copytrade.rules is used.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from .independent_rules import DIGITS, as_number
from .rules_samples import EDGES, SYMBOLS

TRADER_ID = 702345678901234567
HOSTILE = [
    "NaN", "Infinity", "-Infinity", "1e400", "1E-400", "１２", "٣", "1,5", "1.5.2", "1 000",
    "1" * 40, "0." + "1" * 39, "1" * 20 + "." + "1" * 20, "9" * 400, "0x1F", "½", "−5", "+5", "5%", "<b>5</b>",
]  # fmt: skip
# At and beside each bound, as typed: percentages for ratios.
TYPED = [
    "1", "0.1", "0.09999", "0.1000", "1.0001", "0.00001", "400", "400.0", "400.0001", "399.99999", "20",
    "10", "9.99", "100000", "100000.01", "125", "126", "-1", "-0", "0", "0.0", "12.5", "00012", "1" * 18, "1" * 19,
    "1" * 36, "1" * 37, "0." + "0" * 33 + "1", "0." + "0" * 34 + "1", "0." + "0" * 35 + "1",
]  # fmt: skip
NUMBERS = {
    "trace_value": "traceValue",
    "max_hold": "maxHoldQty",
    "take_profit": "stopProfitRatio",
    "stop_loss": "stopLossRatio",
    "slippage": "slippageRatio",
}
PERCENTAGES = {"take_profit", "stop_loss", "slippage"}
WORDS = {"trace_type": "traceType", "margin_type": "marginType", "leverage_type": "leverageType"}
LEVERAGES = {"long_leverage": "fixedLongLeverage", "short_leverage": "fixedShortLeverage"}
FIELDS = [*WORDS, *NUMBERS, *LEVERAGES]
CHOICES = [
    "percent",
    "amount",
    "cross",
    "isolated",
    "trader",
    "fixed",
    "specify",
    "",
    "Fixed",
    "ｆixed",
    "<i>",
]
CONFIG = {
    "trace_type": "amount", "trace_value": "100", "max_hold": "1000", "take_profit": "50", "stop_loss": "20",
    "slippage": "0.5", "margin_type": "trader", "leverage_type": "fixed", "long_leverage": "5", "short_leverage": "4",
}  # fmt: skip

texts = st.one_of(
    st.sampled_from(TYPED),
    st.sampled_from(HOSTILE),
    st.sampled_from(EDGES),
    st.integers(-10, 10**7).map(str),
    st.text(max_size=6),
    st.just(""),
)
symbol_lists = st.sampled_from(
    [
        SYMBOLS,
        SYMBOLS[:1],
        SYMBOLS[:2],
        (),
        ("BTCUSDT", "BTCUSDT"),
        ("DOGEUSDT", "BTCUSDT"),
        ("NaN", "ETHUSDT"),
    ]
)


@st.composite
def forms(draw):
    """(mode, what was typed): a form of either mode with up to five fields retyped, emptied or left out."""
    mode = draw(st.sampled_from(["unified", "unified", "per_symbol"]))
    prefixes = [""] if mode == "unified" else [f"{symbol}." for symbol in SYMBOLS]
    data = {"mode": [mode]} | {prefix + name: [text] for prefix in prefixes for name, text in CONFIG.items()}
    if mode == "unified":
        data["symbols"] = list(draw(symbol_lists))
        data["leverage_type"] = [draw(st.sampled_from(["fixed", "trader", "specify"]))]
        for symbol in dict.fromkeys(data["symbols"]):
            for side in ("long", "short"):
                data[f"lev.{symbol}.{side}"] = [draw(st.sampled_from(["5", "125", "1", "126"]))]
    names = sorted(name for name in data if name not in ("mode", "symbols"))
    for _ in range(draw(st.integers(0, 5))):
        name = draw(st.sampled_from(names))
        if draw(st.integers(0, 9)) == 0:
            data.pop(name, None)
        elif name.rpartition(".")[2] in WORDS:
            data[name] = [draw(st.sampled_from(CHOICES))]
        else:
            data[name] = [draw(texts)]
    return mode, data


def body_of(mode, data):
    """The POST body that these texts ask for: what is typed and no number stays as it was typed."""

    def typed(name):
        return (data.get(name) or [""])[-1].strip()

    def config(prefix):
        made = {}
        for name, wire in WORDS.items():
            made[wire] = typed(prefix + name)
        for name, wire in NUMBERS.items():
            made[wire] = decimal_sent(typed(prefix + name), 100 if name in PERCENTAGES else 1)
        if made["leverageType"] == "fixed":
            made |= {wire: leverage_sent(typed(prefix + name)) for name, wire in LEVERAGES.items()}
        return {wire: value for wire, value in made.items() if value != ""}

    body = {"traderId": TRADER_ID, "settingType": mode}
    if mode == "per_symbol":
        items = [{"symbol": symbol} | config(f"{symbol}.") for symbol in sorted(SYMBOLS)]
        return body | {"symbolTraceConfigs": items}
    chosen = list(dict.fromkeys(data["symbols"]))
    unified = {"symbols": chosen} | config("")
    if unified.get("leverageType") == "specify":
        unified["customLeverages"] = [
            {"symbol": symbol}
            | {
                f"{side}Leverage": leverage_sent(typed(f"lev.{symbol}.{side}"))
                for side in ("long", "short")
                if typed(f"lev.{symbol}.{side}")
            }
            for symbol in sorted(chosen)
        ]
    return body | {"unifiedTraceConfig": unified}


def decimal_sent(text, divisor):
    amount = as_number(text)
    return text if amount is None else in_digits(amount / divisor)


def leverage_sent(text):
    return int(text) if text and len(text) <= 18 and all(sign in DIGITS for sign in text) else text


def in_digits(amount: Fraction) -> str:
    """An exact decimal fraction in digits, without zeros at its end."""
    places = 0
    while (amount * 10**places).denominator != 1:
        places += 1
    digits = str(abs(int(amount * 10**places))).rjust(places + 1, "0")
    sign = "-" if amount < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)
