"""Templates, files, the de-risk preset, and one set of settings for several traders."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copytrade import changes, derisk, portable, presets, rules, versions
from copytrade.models import (
    Account,
    AuditEntry,
    ChangeGroup,
    CopySymbols,
    SettingsChange,
    SettingsTemplate,
    Trader,
    User,
)
from copytrade.sync import run
from tests.support.sandbox_process import Sandbox

State = SettingsChange.State
ONE = rules.TraceConfig(
    symbol=None, symbols=("BTCUSDT", "ETHUSDT"), trace_type="amount", trace_value=Decimal(100),
    max_hold=Decimal(500), take_profit=Decimal("0.5"), stop_loss=Decimal("0.4"), slippage=Decimal(0),
    margin_type="cross", leverage_type="fixed", long_leverage=20, short_leverage=3,
)  # fmt: skip
UNIFIED = rules.CopySettings(rules.UNIFIED, (ONE,))
OF_EACH = rules.CopySettings(
    rules.PER_SYMBOL,
    tuple(replace(ONE, symbol=name, symbols=None, margin_type="trader") for name in ("BTCUSDT", "ETHUSDT")),
)


# Files


@pytest.mark.parametrize("settings", [UNIFIED, OF_EACH])
def test_what_is_written_is_read_again_and_names_no_trader(settings: rules.CopySettings) -> None:
    text = portable.write(settings, "Careful")
    assert portable.read(text) == (settings, "Careful")
    assert portable.read(("\ufeff" + text).encode()) == (settings, "Careful")
    assert "traderId" not in text


def changed(**fields: object) -> str:
    return json.dumps(json.loads(portable.write(UNIFIED, "x")) | fields)


def with_config(**fields: object) -> str:
    body = portable.body_of(UNIFIED)
    return changed(body=body | {"unifiedTraceConfig": body["unifiedTraceConfig"] | fields})


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ("", "", "nothing to import"),
        ("{", "", "not JSON: line 1"),
        ("[]", "", "must be one object"),
        ("[" * 100_000, "", "nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", "", "cannot be read"),
        ('{"a": NaN}', "", "NaN is no number"),
        ('{"a": 1, "a": 2}', "", "there twice"),
        ('{"a": "\\ud800"}', "", "no text"),
        (changed(name="\x00"), "", "no text"),
        (b"\xff\xfe", "", "UTF-8"),
        ("x" * (portable.MAX_BYTES + 1), "", "too large"),
        (changed(format="other"), "format", "no settings file"),
        (changed(version=2), "version", "version 1"),
        (changed(version=True), "version", "version 1"),
        (changed(mode="per_symbol"), "mode", "different things"),
        (changed(surprise=1), "", "no field named surprise"),
        (changed(body=None), "", "must be one object"),
        (changed(body={"traderId": 1, **portable.body_of(UNIFIED)}), "traderId", "Take traderId out"),
        (with_config(traceValue="1,5"), "unifiedTraceConfig.traceValue", "plain number"),
        (with_config(traceValue=1.5), "unifiedTraceConfig.traceValue", "as text"),
        (with_config(stopLossRatio="4.1"), "unifiedTraceConfig.stopLossRatio", "between 0 % and 400 %"),
        (with_config(fixedLongLeverage=0), "unifiedTraceConfig.fixedLongLeverage", "1 or more"),
        (with_config(symbols=[]), "unifiedTraceConfig.symbols", "at least one symbol"),
        (with_config(surprise="1"), "unifiedTraceConfig.surprise", "no setting named surprise"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_the_place_and_a_sentence(
    text: str | bytes, where: str, words: str
) -> None:
    with pytest.raises(portable.NotImportable) as refused:
        portable.read(text)
    assert refused.value.problems[0][0] == where
    assert words in refused.value.problems[0][1]


def test_every_problem_of_a_file_is_named_at_once() -> None:
    with pytest.raises(portable.NotImportable) as refused:
        portable.read(with_config(traceValue="x", stopLossRatio="9", slippageRatio="0.5"))
    assert [where.split(".")[1] for where, _ in refused.value.problems] == [
        "traceValue", "stopLossRatio", "slippageRatio",
    ]  # fmt: skip


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=20), inner, max_size=4),
    max_leaves=12,
)


@given(JSON, st.sampled_from(["body", "mode", "name", "version", "unifiedTraceConfig"]))
def test_no_json_whatever_breaks_the_import(value: object, where: str) -> None:
    found = json.loads(portable.write(UNIFIED, "x"))
    (found["body"] if where == "unifiedTraceConfig" else found)[where] = value
    settings, problems = UNIFIED, [("", "a sentence")]
    try:
        settings, _ = portable.read(json.dumps(found))
    except portable.NotImportable as refused:
        problems = refused.problems
    assert settings == UNIFIED
    assert problems and all(sentence for _, sentence in problems)


@given(st.binary(max_size=300))
def test_no_bytes_whatever_break_the_import(data: bytes) -> None:
    with pytest.raises(portable.NotImportable):
        portable.read(data)


# De-risk


def test_derisking_lowers_and_never_raises() -> None:
    (config,) = derisk.lowered(UNIFIED, derisk.Options()).configs
    assert (config.trace_value, config.long_leverage, config.short_leverage) == (50, 5, 3)
    assert config.stop_loss == Decimal("0.2")
    kept = replace(UNIFIED, configs=(replace(ONE, stop_loss=Decimal("0.1")),))
    assert derisk.lowered(kept, derisk.Options()).configs[0].stop_loss == Decimal("0.1")
    for off in (None, Decimal(0)):
        without = replace(UNIFIED, configs=(replace(ONE, stop_loss=off),))
        assert derisk.lowered(without, derisk.Options()).configs[0].stop_loss == Decimal("0.2")


@pytest.mark.parametrize(("usual", "fixed"), [(3, 3), (20, 5), (None, 5), (0, 5)])
def test_a_leverage_that_follows_the_trader_becomes_the_lower_of_cap_and_usual(
    usual: int | None, fixed: int
) -> None:
    follows = replace(ONE, leverage_type="trader", long_leverage=None, short_leverage=None)
    (config,) = derisk.lowered(replace(UNIFIED, configs=(follows,)), derisk.Options(), usual).configs
    assert (config.leverage_type, config.long_leverage, config.short_leverage) == ("fixed", fixed, fixed)


def test_the_leverages_of_each_symbol_are_capped_and_an_unset_one_gets_the_cap() -> None:
    customs = (rules.CustomLeverage("BTCUSDT", 50, None), rules.CustomLeverage("ETHUSDT", 2, 7))
    of_each = replace(
        ONE, leverage_type="specify", long_leverage=None, short_leverage=None, custom_leverages=customs
    )
    (config,) = derisk.lowered(replace(UNIFIED, configs=(of_each,)), derisk.Options()).configs
    assert [(item.long_leverage, item.short_leverage) for item in config.custom_leverages] == [(5, 5), (2, 5)]


def test_every_symbol_is_lowered_and_what_is_not_chosen_stays() -> None:
    lowered = derisk.lowered(OF_EACH, derisk.Options(size=None, leverage=2, stop_loss=None))
    assert [(c.trace_value, c.long_leverage, c.short_leverage, c.stop_loss) for c in lowered.configs] == [
        (100, 2, 2, Decimal("0.4"))
    ] * 2
    assert derisk.Options(None, None, None).empty


def test_the_options_are_told_in_words() -> None:
    assert derisk.Options().words() == "size to 50 %, leverage at most 5x, stop loss at most 20 %"


# Templates


def test_a_template_keeps_settings_under_a_name_that_only_one_has(alice: User, charlie: User) -> None:
    template = presets.save(alice, "  My   careful ", UNIFIED)
    assert template.name == "My careful"
    assert portable.settings_in(SettingsTemplate.objects.get().body) == UNIFIED
    with pytest.raises(presets.PresetRefused, match="already"):
        presets.save(alice, "My careful", OF_EACH)
    presets.save(charlie, "My careful", UNIFIED)


@pytest.mark.parametrize("name", ["", "   ", "x" * 81, "\x00", "\u202e"])
def test_a_template_needs_a_name_that_can_be_read(alice: User, name: str) -> None:
    with pytest.raises(presets.PresetRefused):
        presets.save(alice, name, UNIFIED)


def test_settings_that_break_a_rule_cannot_become_a_template(alice: User) -> None:
    broken = replace(UNIFIED, configs=(replace(ONE, max_hold=Decimal(1)),))
    with pytest.raises(presets.PresetRefused, match="between 10 and 100000"):
        presets.save(alice, "Broken", broken)


def test_renaming_and_deleting_leave_a_line_in_the_audit_log(alice: User) -> None:
    first, second = presets.save(alice, "One", UNIFIED), presets.save(alice, "Two", UNIFIED)
    presets.rename(first, "Three")
    with pytest.raises(presets.PresetRefused, match="already"):
        presets.rename(first, "Two")
    assert SettingsTemplate.objects.get(pk=first.pk).name == "Three"
    presets.delete(second)
    assert list(AuditEntry.objects.order_by("id").values_list("action", "subject")) == [
        ("template_saved", "Template “One” saved"),
        ("template_saved", "Template “Two” saved"),
        ("template_saved", "Template “One” renamed to “Three”"),
        ("template_deleted", "Template “Two” deleted"),
    ]


# Several traders


@pytest.fixture
def traders(account: Account) -> list[Trader]:
    """All that alice copies at the sandbox, with their settings read."""
    assert run.sync_account(account.pk, ["traders", "settings"]) == {"traders": "", "settings": ""}
    return list(account.traders.filter(copied=True).select_related("account").order_by("pk"))


def unified_for(traders: list[Trader], value: str = "77") -> rules.CopySettings:
    symbols = tuple(sorted(CopySymbols.objects.get().symbols))[:3]
    assert traders
    return replace(UNIFIED, configs=(replace(ONE, symbols=symbols, trace_value=Decimal(value)),))


def prepared(alice: User, traders: list[Trader]) -> ChangeGroup:
    template = presets.save(alice, "Careful", unified_for(traders))
    return presets.prepare(alice, traders, presets.from_template(template))


def seen(group: ChangeGroup) -> dict[int, str]:
    return {change.pk: changes.body_mark(change) for change in group.changes.all()}


def test_each_trader_gets_a_draft_against_his_own_settings(alice: User, traders: list[Trader]) -> None:
    group = prepared(alice, traders)
    drafts = list(group.changes.order_by("trader_id"))
    assert [draft.trader for draft in drafts] == traders
    assert len({json.dumps(draft.differences) for draft in drafts}) > 1
    for draft in drafts:
        assert draft.state == State.DRAFT and draft.origin == "template" and draft.author == alice
        assert draft.base == versions.latest(draft.trader)
        assert draft.body["traderId"] == draft.trader.trader_id
    entry = AuditEntry.objects.get(action="template_used")
    assert entry.subject == f"Template “Careful”: prepared for {len(traders)} traders"


def test_a_trader_for_whom_it_cannot_be_is_named_and_stops_nobody(alice: User, traders: list[Trader]) -> None:
    first, second, third = traders[:3]
    third.versions.all().delete()
    changes_nothing = presets.from_trader(first)
    group = presets.prepare(alice, [first, second, third], changes_nothing)
    words = dict(group.refused)
    assert "nothing to send" in words[first.pk]
    assert "not known yet" in words[third.pk]
    assert [draft.trader for draft in group.changes.all()] == [second]


def test_a_symbol_that_is_not_supported_is_told_for_the_trader(alice: User, traders: list[Trader]) -> None:
    settings = replace(UNIFIED, configs=(replace(ONE, symbols=("BTCUSDT", "NOSUCHUSDT")),))
    group = presets.prepare(alice, traders[:1], presets.from_file(settings, "Other desk"))
    assert group.refused == [[traders[0].pk, "Copy trading does not support NOSUCHUSDT."]]
    assert not group.changes.exists()
    assert AuditEntry.objects.get(action="imported").subject.startswith("Imported settings “Other desk”")


def test_settings_per_symbol_wait_until_the_list_of_symbols_is_known(
    alice: User, traders: list[Trader]
) -> None:
    CopySymbols.objects.all().delete()
    unified = next(t for t in traders if versions.latest(t).mode == "unified")
    group = presets.prepare(alice, [unified], presets.from_file(OF_EACH))
    assert "not known yet" in group.refused[0][1]


def test_derisking_starts_from_each_traders_own_settings(alice: User, traders: list[Trader]) -> None:
    group = presets.prepare(
        alice, traders, presets.from_derisk(derisk.Options(leverage=None, stop_loss=None))
    )
    assert group.changes.count() == len(traders)
    for draft in group.changes.all():
        before = rules.from_answer(draft.base.answer).configs
        after = rules.from_body(draft.body).configs
        assert [c.trace_value for c in after] == [c.trace_value / 2 for c in before]
    with pytest.raises(presets.PresetRefused):
        presets.from_derisk(derisk.Options(None, None, None))


def test_nobody_changes_the_settings_of_somebody_elses_trader(
    alice: User, charlie: User, traders: list[Trader]
) -> None:
    with pytest.raises(presets.PresetRefused, match="owner"):
        presets.prepare(charlie, traders, presets.from_file(UNIFIED))
    assert not ChangeGroup.objects.exists()


@pytest.mark.parametrize(("many", "words"), [(0, "at least one"), (51, "at most 50")])
def test_a_group_is_of_one_trader_or_more_and_not_of_too_many(
    alice: User, traders: list[Trader], many: int, words: str
) -> None:
    with pytest.raises(presets.PresetRefused, match=words):
        presets.prepare(alice, traders[:1] * many, presets.from_file(UNIFIED))


def test_the_chosen_ones_are_confirmed_once_and_the_rest_stay_drafts(
    alice: User, traders: list[Trader]
) -> None:
    group = prepared(alice, traders)
    marks = seen(group)
    left_out = marks.popitem()[0]
    assert presets.confirm(group, group.key, marks) == sorted(marks)
    assert presets.confirm(ChangeGroup.objects.get(), group.key, seen(group)) == []
    states = dict(group.changes.values_list("pk", "state"))
    assert states.pop(left_out) == State.DRAFT
    assert set(states.values()) == {State.CONFIRMED}
    assert AuditEntry.objects.filter(action="send").count() == len(marks)


def test_one_that_cannot_be_confirmed_stops_no_other(alice: User, traders: list[Trader]) -> None:
    group = prepared(alice, traders)
    busy = traders[0]
    under_way = changes.draft(busy, unified_for(traders, "66"), alice)
    changes.confirm(under_way, under_way.key)
    confirmed = presets.confirm(group, group.key, seen(group))
    assert len(confirmed) == len(traders) - 1
    assert ChangeGroup.objects.get().refused == [
        [busy.pk, "Another change for this trader is under way. Wait until its outcome is known."]
    ]


def test_a_body_that_was_not_the_one_shown_is_not_sent(alice: User, traders: list[Trader]) -> None:
    group = prepared(alice, traders)
    marks = seen(group)
    wrong = min(marks)
    confirmed = presets.confirm(group, group.key, marks | {wrong: "0" * 64})
    assert wrong not in confirmed and len(confirmed) == len(marks) - 1
    assert "What you reviewed" in ChangeGroup.objects.get().refused[0][1]


def test_nothing_is_decided_when_nothing_can_be_sent(alice: User, traders: list[Trader]) -> None:
    group = prepared(alice, traders)
    Account.objects.update(writes_enabled=False)
    for key, marks, words in [
        (uuid4(), seen(group), "out of date"),
        (group.key, {}, "at least one"),
        (group.key, seen(group), "read-only"),
    ]:
        with pytest.raises(changes.ChangeRefused, match=words):
            presets.confirm(group, key, marks)
    assert ChangeGroup.objects.get().confirmed_at is None
    assert set(group.changes.values_list("state", flat=True)) == {State.DRAFT}


def test_drafts_of_another_group_are_not_touched(alice: User, traders: list[Trader]) -> None:
    group = prepared(alice, traders[:1])
    other = presets.prepare(alice, traders[1:2], presets.from_file(unified_for(traders)))
    with pytest.raises(changes.ChangeRefused, match="at least one"):
        presets.confirm(group, group.key, seen(other))
    assert other.changes.get().state == State.DRAFT


def test_one_failure_at_the_exchange_leaves_the_others_applied(
    alice: User, traders: list[Trader], sandbox: Sandbox
) -> None:
    group = prepared(alice, traders[:3])
    confirmed = presets.confirm(group, group.key, seen(group))
    sandbox.fault("update_follower_settings", "code", times=1, code=-1142)
    for pk in confirmed:
        changes.send(pk)
    states = sorted(group.changes.values_list("state", flat=True))
    assert states == ["applied", "applied", "rejected"]
    assert sum(call["operation"] == "update_follower_settings" for call in sandbox.calls()["calls"]) == 3
