"""Copy settings and POST bodies for the tests of the rules, valid ones and broken ones."""

import copy
from decimal import Decimal

from hypothesis import strategies as st

from copytrade.rules import CopySettings, CustomLeverage, TraceConfig

SYMBOLS = ("BTCUSDT", "ETHUSDT", "SOLUSDT", "XRPUSDT")

# Text for numbers: at and beside every bound, and everything that is nearly a number.
EDGES = [
    "0",
    "-0",
    "0.0",
    "1",
    "-1",
    "10",
    "9.999999999999999999999999",
    "10.0",
    "100000",
    "100000.00000000000000000000001",
    "4",
    "4.0",
    "4.01",
    "3.999",
    "0.001",
    "0.0009",
    "0.00100",
    "0.01",
    "0.0100001",
    "0.0101",
    "0.005",
    "0.5",
    "1e3",
    "1E-3",
    "+1",
    ".5",
    "5.",
    "1.2.3",
    "1,5",
    "-",
    "--",
    "0x10",
    "NaN",
    "Infinity",
    "1_000",
    "５",
    "٣",
    "0.٣",
]
EDGES += [
    "",
    " ",
    " 5 ",
    "\t0.005\n",
    "\u00a05",
    "5\u00a0",
    "5\x00",
    "9" * 36,
    "9" * 37,
    "0." + "0" * 34 + "1",
    "0." + "0" * 35 + "1",
]
WORDS = [
    "percent",
    "amount",
    "cross",
    "isolated",
    "trader",
    "fixed",
    "specify",
    "unified",
    "per_symbol",
    "Fixed",
    " fixed",
]
ODD = [
    None,
    True,
    False,
    0,
    1,
    -1,
    10,
    125,
    126,
    2**63 - 1,
    2**63,
    1.0,
    0.5,
    Decimal("0.5"),
    [],
    {},
    [[]],
    [None],
    [{}],
]
IDS = [
    1,
    0,
    "1",
    "0",
    "702345678901234567",
    702345678901234567,
    " 1",
    "1 ",
    "-1",
    "1.0",
    "٣",
    "9" * 19,
    "9" * 20,
    "9" * 5000,
]
LISTS = [
    list(SYMBOLS),
    list(SYMBOLS[:2]),
    ["BTCUSDT", "BTCUSDT"],
    ["btcusdt"],
    ["DOGEUSDT"],
    ["BTCUSDT", 1],
    [""],
]

# Any JSON, mostly what is nearly right. Draw it through deepcopy before changing it.
junk = st.one_of(
    *(st.sampled_from(pool) for pool in (EDGES, WORDS, ODD, IDS, LISTS)),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=6,
    ),
)


def exact(low, high, places=12):
    return st.decimals(Decimal(low), Decimal(high), places=places, allow_nan=False, allow_infinity=False)


positive = (
    exact("0.000000000001", "999999999999")
    | st.just(Decimal("9" * 36))
    | st.just(Decimal("0." + "0" * 34 + "1"))
)
hold = exact(10, 100000) | st.sampled_from([Decimal(10), Decimal(100000), Decimal("1E+2")])
ratio = exact(0, 4) | st.sampled_from([Decimal(0), Decimal(4), Decimal("0.20")])
slippage = exact("0.001", "0.01") | st.sampled_from([Decimal(0), Decimal("0.001"), Decimal("0.010")])
leverage = st.integers(1, 500)


# Strategies are made once: made again in every draw, they take longer than the drawing.
modes = st.sampled_from(["unified", "per_symbol"])
orders_of_symbols = st.permutations(SYMBOLS)
how_many_symbols = st.integers(1, len(SYMBOLS))
trace_types = st.sampled_from(["percent", "amount"])
leverage_types = {
    True: st.sampled_from(["trader", "fixed", "specify"]),
    False: st.sampled_from(["trader", "fixed"]),
}
margin_types = {True: st.sampled_from(["cross", "isolated", "trader"]), False: st.sampled_from(["trader"])}
# By whether they are unified: then they may be left out.
holds, ratios, slippages = (
    {True: st.none() | strategy, False: strategy} for strategy in (hold, ratio, slippage)
)


@st.composite
def configs(draw, unified=True, symbol=None):
    """A valid trace config. Optional fields are sometimes left out in unified mode."""
    leverage_type = draw(leverage_types[unified])
    symbols = tuple(draw(orders_of_symbols)[: draw(how_many_symbols)]) if unified else None
    fixed = leverage_type == "fixed"
    customs = ()
    if leverage_type == "specify":
        customs = tuple(CustomLeverage(name, draw(leverage), draw(leverage)) for name in reversed(symbols))
    return TraceConfig(
        symbol=symbol,
        symbols=symbols,
        trace_type=draw(trace_types),
        trace_value=draw(positive),
        max_hold=draw(holds[unified]),
        take_profit=draw(ratios[unified]),
        stop_loss=draw(ratios[unified]),
        slippage=draw(slippages[unified]),
        margin_type=draw(margin_types[unified]),
        leverage_type=leverage_type,
        long_leverage=draw(leverage) if fixed else None,
        short_leverage=draw(leverage) if fixed else None,
        custom_leverages=customs,
    )


unified_configs = configs()
configs_of_symbols = {name: configs(unified=False, symbol=name) for name in SYMBOLS}


@st.composite
def drawn_settings(draw, mode):
    mode = mode or draw(modes)
    if mode == "unified":
        return CopySettings(mode, (draw(unified_configs),))
    return CopySettings(mode, tuple(draw(configs_of_symbols[name]) for name in draw(orders_of_symbols)))


settings_by_mode = {mode: drawn_settings(mode) for mode in (None, "unified", "per_symbol")}


def settings(mode=None):
    """Valid settings of either mode, as this desk writes them."""
    return settings_by_mode[mode]


def config_body(symbol=None, /, **changes):
    """A valid config as JSON: of a symbol when one is named, else unified."""
    body = {
        "traceType": "amount",
        "traceValue": "100",
        "maxHoldQty": "1000",
        "stopProfitRatio": "0.5",
        "stopLossRatio": "0.2",
        "slippageRatio": "0.005",
        "marginType": "trader",
        "leverageType": "fixed",
        "fixedLongLeverage": 5,
        "fixedShortLeverage": 4,
    }
    body.update({"symbols": list(SYMBOLS[:2])} if symbol is None else {"symbol": symbol})
    body.update(changes)
    return {name: value for name, value in body.items() if value is not LEFT_OUT}


LEFT_OUT = object()


def unified_body(**changes):
    return {
        "traderId": 702345678901234567,
        "settingType": "unified",
        "unifiedTraceConfig": config_body(**changes),
    }


def specify_body(**changes):
    customs = [{"symbol": name, "longLeverage": 5, "shortLeverage": 6} for name in SYMBOLS[:2]]
    left_out = {"fixedLongLeverage": LEFT_OUT, "fixedShortLeverage": LEFT_OUT}
    return unified_body(**{**left_out, "leverageType": "specify", "customLeverages": customs, **changes})


def per_symbol_body(**changes):
    """Valid for SYMBOLS; the changes are made to the second item."""
    items = [config_body(name) for name in SYMBOLS]
    items[1] = config_body(SYMBOLS[1], **changes)
    return {"traderId": "702345678901234567", "settingType": "per_symbol", "symbolTraceConfigs": items}


def places(node):
    """Every (holder, key) inside a body."""
    found = []
    if isinstance(node, dict | list):
        for key in list(node) if isinstance(node, dict) else range(len(node)):
            found.append((node, key))
            found += places(node[key])
    return found


NAMES = [
    "traderId",
    "settingType",
    "unifiedTraceConfig",
    "symbolTraceConfigs",
    "symbol",
    "symbols",
    "traceType",
    "traceValue",
    "maxHoldQty",
    "stopProfitRatio",
    "stopLossRatio",
    "slippageRatio",
    "marginType",
    "leverageType",
    "fixedLongLeverage",
    "fixedShortLeverage",
    "customLeverages",
    "longLeverage",
    "shortLeverage",
    "maxHoldSize",
]


@st.composite
def bodies(draw):
    """A valid body with up to four things broken: left out, replaced, added."""
    body = copy.deepcopy(draw(st.sampled_from([unified_body(), specify_body(), per_symbol_body()])))
    for _ in range(draw(st.integers(0, 4))):
        holder, key = draw(st.sampled_from(places(body) or [({}, None)]))
        what = draw(st.sampled_from(["drop", "replace", "replace", "replace", "add", "twin"]))
        if what == "replace" and key is not None:
            # A number's own field mostly meets nearly-numbers; the rest meets everything.
            numeric = isinstance(holder, dict) and isinstance(holder[key], str) and holder[key][:1].isdigit()
            nearly = numeric and draw(st.booleans())
            holder[key] = copy.deepcopy(draw(st.sampled_from(EDGES) if nearly else junk))
        elif what == "add" and isinstance(holder, dict):
            holder[draw(st.sampled_from(NAMES))] = copy.deepcopy(draw(junk))
        elif what == "twin" and isinstance(holder, list):
            holder.append(copy.deepcopy(holder[key]))
        elif what == "drop" and key is not None:
            del holder[key]
    return body
