"""A second reading of the copy settings rules, written from interface.md's trace config table alone.

It shares nothing with copytrade.rules, on purpose: form, client and sandbox all use that module, so a
mistake in it would look right from every side. Here each row of the table is one entry below; the answer
is a set of (field, kind of problem), without sentences.

Kinds: missing (required, not there), type (not the JSON type of the table), value (the type is right, the
value is not), extra (does not belong there), symbol (not a symbol of copy trading), twice, cover (a list of
symbols that is not the one it has to be).
"""

from fractions import Fraction

DIGITS = "0123456789"
ASCII_SPACE = " \t\n\r\x0b\x0c"


def as_number(text):
    """An exact fraction, or None when the text is no plain ASCII number of 1 to 36 digits."""
    left, right = 0, len(text)
    while left < right and text[left] in ASCII_SPACE:
        left += 1
    while right > left and text[right - 1] in ASCII_SPACE:
        right -= 1
    core = text[left:right]
    minus = core[:1] == "-"
    parts = core[1 if minus else 0 :].split(".")
    if len(parts) > 2 or any(part == "" or any(sign not in DIGITS for sign in part) for part in parts):
        return None
    if sum(len(part) for part in parts) > 36:
        return None
    decimals = len(parts[1]) if len(parts) == 2 else 0
    value = Fraction(int("".join(parts)), 10**decimals)
    return -value if minus else value


def text_number(accepts):
    def judge(value):
        if type(value) is not str:
            return "type"
        amount = as_number(value)
        return None if amount is not None and accepts(amount) else "value"

    return judge


def one_of(*words):
    def judge(value):
        if type(value) is not str:
            return "type"
        return None if value in words else "value"

    return judge


def leverage(value):
    if type(value) is not int:
        return "type"
    return None if value >= 1 else "value"


def user_id(value):
    if type(value) is str and value and all(sign in DIGITS for sign in value) and len(value) < 20:
        value = int(value)
    if type(value) is not int:
        return "type"
    return None if 0 < value < 2**63 else "value"


# The table. name: (unified, per symbol, judge of unified, judge of per symbol); "R" required, "-" optional.
RATIO = text_number(lambda x: 0 <= x <= 4)
SLIPPAGE = text_number(lambda x: x == 0 or Fraction(1, 1000) <= x <= Fraction(1, 100))
HOLD = text_number(lambda x: 10 <= x <= 100000)
VALUE = text_number(lambda x: x > 0)
KIND = one_of("percent", "amount")
TABLE = {
    "traceType": ("R", "R", KIND, KIND),
    "traceValue": ("R", "R", VALUE, VALUE),
    "maxHoldQty": ("-", "R", HOLD, HOLD),
    "stopProfitRatio": ("-", "R", RATIO, RATIO),
    "stopLossRatio": ("-", "R", RATIO, RATIO),
    "slippageRatio": ("-", "R", SLIPPAGE, SLIPPAGE),
    "marginType": ("-", "-", one_of("cross", "isolated", "trader"), one_of("trader")),
    "leverageType": ("-", "-", one_of("fixed", "trader", "specify"), one_of("fixed", "trader")),
    "fixedLongLeverage": ("-", "-", leverage, leverage),
    "fixedShortLeverage": ("-", "-", leverage, leverage),
}
FIXED = ("fixedLongLeverage", "fixedShortLeverage")


def problems(body, supported, ours):
    """The set of (field, kind) that is wrong with a POST body."""
    if type(body) is not dict:
        return {("", "type")}
    found = judged(body, "", {"traderId": user_id, "settingType": one_of("unified", "per_symbol")})
    found |= {(name, "missing") for name in ("traderId", "settingType") if name not in body}
    mode = body.get("settingType")
    if mode not in ("unified", "per_symbol"):
        return found
    mine, _other = ("unifiedTraceConfig", "symbolTraceConfigs")[:: 1 if mode == "unified" else -1]
    if ours:
        found |= extras(body, "", {"traderId", "settingType", mine})
    if mine not in body:
        return found | {(mine, "missing")}
    content = body[mine]
    if type(content) is not (dict if mode == "unified" else list):
        return found | {(mine, "type")}
    return found | (unified if mode == "unified" else per_symbol)(content, supported, ours)


def judged(holder, prefix, judges):
    verdicts = ((prefix + name, judge(holder[name])) for name, judge in judges.items() if name in holder)
    return {(path, verdict) for path, verdict in verdicts if verdict}


def extras(holder, prefix, known):
    """What the table does not name. A name that is no word, or over 40 long, is told at its holder."""
    return {
        (prefix + name if name.isidentifier() and len(name) <= 40 else prefix.removesuffix("."), "extra")
        for name in holder
        if name not in known
    }


def table(config, prefix, column, ours):
    found = judged(config, prefix, {name: row[2 + column] for name, row in TABLE.items()})
    found |= {
        (prefix + name, "missing") for name, row in TABLE.items() if row[column] == "R" and name not in config
    }
    if ours:
        found |= extras(config, prefix, {*TABLE, "symbol", "symbols", "customLeverages"})
        kind = config.get("leverageType", "trader")
        if kind in (["trader", "specify"], ["trader"])[column]:
            found |= {(prefix + name, "extra") for name in FIXED if name in config}
    return found


def is_kind(config, word):
    return type(config.get("leverageType")) is str and config["leverageType"] == word


def fixed_missing(config, prefix):
    return {(prefix + name, "missing") for name in FIXED if is_kind(config, "fixed") and name not in config}


def unified(config, supported, ours):
    prefix = "unifiedTraceConfig."
    found = table(config, prefix, 0, ours)
    if "symbol" in config:
        found.add((prefix + "symbol", "extra"))
    found |= unified_symbols(config, prefix + "symbols", supported, ours)
    if ours:
        found |= fixed_missing(config, prefix)
    if is_kind(config, "specify"):
        found |= customs(config, prefix + "customLeverages", supported, ours)
    elif ours and "customLeverages" in config and config.get("leverageType", "trader") in ("trader", "fixed"):
        found.add((prefix + "customLeverages", "extra"))
    return found


def texts(value):
    return type(value) is list and all(type(item) is str for item in value)


def unified_symbols(config, path, supported, ours):
    if "symbols" not in config:
        return {(path, "missing")} if ours else set()
    symbols = config["symbols"]
    if not texts(symbols):
        return {(path, "type")}
    found = set() if symbols else {(path, "missing")}
    if any(symbol.strip() == "" if supported is None else symbol not in supported for symbol in symbols):
        found.add((path, "symbol"))
    if len(set(symbols)) < len(symbols):
        found.add((path, "twice"))
    return found


def customs(config, path, supported, ours):
    if "customLeverages" not in config:
        return {(path, "missing")}
    items = config["customLeverages"]
    if type(items) is not list:
        return {(path, "type")}
    found, names = set(), []
    for place, item in enumerate(items):
        here = f"{path}[{place}]"
        if type(item) is not dict:
            found.add((here, "type"))
            continue
        found |= judged(item, here + ".", {"longLeverage": leverage, "shortLeverage": leverage})
        if ours:
            found |= extras(item, here + ".", {"symbol", "longLeverage", "shortLeverage"})
            found |= {
                (f"{here}.{side}Leverage", "missing")
                for side in ("long", "short")
                if side + "Leverage" not in item
            }
        if "symbol" not in item:
            found.add((here + ".symbol", "missing"))
        elif type(item["symbol"]) is not str:
            found.add((here + ".symbol", "type"))
        else:
            names.append(item["symbol"])
    if len(names) == len(items):
        found |= customs_cover(config, path, names, supported)
    return found


def customs_cover(config, path, names, supported):
    """ "Its symbols must exactly match unifiedTraceConfig.symbols"; left-out symbols mean all."""
    found = {(path, "twice")} if len(set(names)) < len(names) else set()
    wanted = config.get("symbols", supported)
    if (texts(wanted) or "symbols" not in config) and wanted is not None and set(names) != set(wanted):
        found.add((path, "cover"))
    return found


def per_symbol(items, supported, ours):
    path, found, covered = "symbolTraceConfigs", set(), []
    for place, config in enumerate(items):
        prefix = f"{path}[{place}]."
        if type(config) is not dict:
            found.add((prefix[:-1], "type"))
            continue
        found |= table(config, prefix, 1, ours) | fixed_missing(config, prefix)
        if "symbols" in config:
            found.add((prefix + "symbols", "extra"))
        if ours and "customLeverages" in config:
            found.add((prefix + "customLeverages", "extra"))
        found |= symbol_of(config, prefix + "symbol", supported, covered)
    if (supported is None and ours) or (supported is not None and not set(supported) <= set(covered)):
        found.add((path, "cover"))
    if not items and not supported:
        found.add((path, "missing"))
    return found


def symbol_of(config, path, supported, covered):
    if "symbol" not in config:
        return {(path, "missing")}
    symbol = config["symbol"]
    if type(symbol) is not str:
        return {(path, "type")}
    if symbol.strip() == "" if supported is None else symbol not in supported:
        return {(path, "symbol")}
    if symbol in covered:
        return {(path, "twice")}
    covered.append(symbol)
    return set()
