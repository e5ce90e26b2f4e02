"""Whatever valid settings are written to the exchange are read back as they were written, in either mode."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, given, settings

from copytrade.rules import MODES, CopySettings, canonical, same
from tests.copytrade.rules_samples import SYMBOLS
from tests.copytrade.rules_samples import settings as copy_settings

from .battery import PER_SYMBOL_TRADER, TRADER

HIGHEST = 125  # the sandbox's own rule, above which it answers -3313


def highest(made: CopySettings) -> int:
    """The highest leverage among the settings."""
    found = [1]
    for config in made.configs:
        found += [config.long_leverage or 1, config.short_leverage or 1]
        found += [
            side or 1 for own in config.custom_leverages for side in (own.long_leverage, own.short_leverage)
        ]
    return max(found)


@pytest.mark.parametrize("mode", MODES)
def test_what_was_written_is_read_back_over_http(desk, mode):
    client = desk.client()
    symbols = [c.symbol for c in client.follower_settings(trader_id=PER_SYMBOL_TRADER).settings.configs]
    assert set(SYMBOLS) < set(symbols)
    tried = set()

    @given(made=copy_settings(mode))
    @settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
    def holds(made):
        if mode == "per_symbol":
            # One config for each symbol of the exchange: the four that were drawn, in turn.
            four = itertools.cycle(made.configs)
            made = replace(made, configs=tuple(replace(next(four), symbol=symbol) for symbol in symbols))
        assume(highest(made) <= HIGHEST)
        client.update_follower_settings(trader_id=TRADER, settings=made, supported=symbols)
        answer = client.follower_settings(trader_id=TRADER)
        assert answer.drift == []
        assert same(answer.settings, made)
        assert canonical(answer.settings) == canonical(made)
        tried.add(made.configs[0].leverage_type)

    holds()
    assert tried == ({"trader", "fixed", "specify"} if mode == "unified" else {"trader", "fixed"})
