"""The pages of templates in tests: settings of any size, traders that have them, what a page says, what is ticked."""

from __future__ import annotations

import re
from decimal import Decimal

from django.utils import timezone

from copytrade import changes, portable, rules, versions
from copytrade.models import Account, ChangeGroup, Trader

CONFIG = rules.TraceConfig(
    symbol=None, symbols=("BTCUSDT", "ETHUSDT"), trace_type="amount", trace_value=Decimal(100),
    max_hold=Decimal(500), take_profit=Decimal("0.5"), stop_loss=Decimal("0.4"), slippage=Decimal(0),
    margin_type="cross", leverage_type="fixed", long_leverage=20, short_leverage=3,
)  # fmt: skip
UNIFIED = rules.CopySettings(rules.UNIFIED, (CONFIG,))


def sized(value: int) -> rules.CopySettings:
    return rules.from_body(
        {
            "settingType": "unified",
            "unifiedTraceConfig": portable.body_of(UNIFIED)["unifiedTraceConfig"]
            | {"traceValue": str(value)},
        }
    )


def followed(account: Account, number: int, value: int = 100, copy_enable: bool = True) -> Trader:
    trader = Trader.objects.create(
        account=account, trader_id=702345678901234567 + number, name=f"Trader {number:02}", copied=True
    )
    items = rules.to_answer(sized(value), copy_enable=copy_enable)
    versions.record(trader, items, copy_enable, timezone.now())
    return trader


def text_of(answer: object) -> str:
    html = answer.content.decode()  # type: ignore[attr-defined]
    return " ".join(re.sub(r"<[^>]+>", " ", html[html.index("<main") :]).split())


def ticks(group: ChangeGroup) -> dict[str, str]:
    marks = {f"include-{change.pk}": changes.body_mark(change) for change in group.changes.all()}
    return {"key": str(group.key), **marks}
