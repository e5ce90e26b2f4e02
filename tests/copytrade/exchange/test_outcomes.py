"""What each answer means: the error, whether it may be repeated, and what was certainly not done."""

import pickle

import pytest

from copytrade.exchange import (
    OPERATIONS,
    ExchangeError,
    LocalRefusal,
    Malformed,
    OutcomeUnknown,
    RateLimited,
    Rejected,
    Unauthorized,
    Unreachable,
)
from copytrade.exchange.errors import FAULTS
from copytrade.exchange.outcomes import CODES, read
from copytrade.exchange.transport import Reply

from .scripted import answer

READ, WRITE = OPERATIONS["open_tracking_orders"], OPERATIONS["update_follower_settings"]

# An independent reading of open-points.md, "Errors": codes, HTTP status, the policy for a read and for a write.
PAUSE, SURFACE, AGAIN, UNKNOWN = Unauthorized, Rejected, Unreachable, OutcomeUnknown
TABLE = [
    ((-1040, -1041, -1042), 400, SURFACE, SURFACE),
    ((-1043, -1046), 400, SURFACE, SURFACE),
    ((-1044, -1047, -1049), 401, PAUSE, PAUSE),
    ((-1045, -1135), 400, SURFACE, SURFACE),
    ((-1050, -1055, -1056, -1057, -1190), 403, PAUSE, PAUSE),
    ((-1051, -1052, -1053, -1058, -3235, -3236), 403, SURFACE, SURFACE),
    ((-1115, -1116, -1117, -1121, -1128, -1140, -1141, -1142, -1160, -1180), 400, SURFACE, SURFACE),
    ((-1150,), 405, SURFACE, SURFACE),
    ((-1170, -1171), 400, SURFACE, SURFACE),
    ((-2007, -2200), 404, SURFACE, SURFACE),
    ((-1000, -1054), 500, AGAIN, UNKNOWN),
]
CASES = [(code, *rest) for codes, *rest in TABLE for code in codes]


def failing(operation, data, status=400, **headers):
    """The error that an answer means."""
    body = answer(data).partition(b"\r\n\r\n")[2]
    with pytest.raises(ExchangeError) as error:
        read(Reply(status, headers, body), operation)
    return error.value


def coded(operation, code, status, message="it says why"):
    return failing(operation, {"code": code, "msg": message}, status)


def test_every_code_of_the_open_points_has_a_meaning():
    assert {code for code, *_ in CASES} <= set(CODES)


@pytest.mark.parametrize(("code", "status", "reading", "writing"), CASES)
def test_a_code_has_its_policy(code, status, reading, writing):
    for operation, kind in ((READ, reading), (WRITE, writing)):
        error = coded(operation, code, status)
        assert type(error) is kind
        assert (error.code, error.http_status, error.message) == (code, status, "it says why")
        assert error.operation == operation.name
        assert error.fault in FAULTS
        assert error.sentence.endswith((".", "”."))
        assert str(code) in str(error)


@pytest.mark.parametrize(("code", "status", "reading", "writing"), CASES)
def test_a_code_as_text_or_in_a_200_means_the_same(code, status, reading, writing):
    assert type(coded(READ, str(code), status)) is reading
    assert type(coded(READ, code, 200)) is reading
    assert type(coded(WRITE, code, 200)) is writing


@pytest.mark.parametrize(
    "data", [{"code": "200", "msg": "success"}, {"code": 200}, {"code": "0"}, {"code": None}, []]
)
def test_a_code_that_is_not_negative_is_no_failure(data):
    body = answer(data).partition(b"\r\n\r\n")[2]
    assert read(Reply(200, {}, body), WRITE) == data


@pytest.mark.parametrize("status", [401, 403, 400, 404, 418, 500, 503])
def test_an_unknown_code_is_surfaced_verbatim(status):
    kinds = {401: Unauthorized, 500: Unreachable, 503: Unreachable}
    error = coded(READ, -9999, status, "quite new")
    assert type(error) is kinds.get(status, Rejected)
    assert (error.code, error.message) == (-9999, "quite new")
    assert type(coded(WRITE, -9999, status)) is {
        401: Unauthorized,
        500: OutcomeUnknown,
        503: OutcomeUnknown,
    }.get(status, Rejected)


FAULTY = [
    (-1044, "key"), (-1047, "secret"), (-1049, "passphrase"), (-1046, "clock"), (-1056, "address"),
    (-1052, "permission"),
    (-1057, "account"), (-1121, "field"), (-1170, "range"), (-1040, "ours"), (-2007, "symbol"), (-2200, "order"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "fault"), FAULTY)
def test_a_refusal_says_what_is_at_fault(code, fault):
    assert coded(READ, code, 400).fault == fault


@pytest.mark.parametrize(
    ("operation", "code", "permission"),
    [
        ("open_tracking_orders", -1052, "Readonly"),
        ("update_follower_settings", -1052, "Futures"),
        ("update_follower_settings", -1058, "Futures"),
        ("place_order", -1051, "Spot"),
        ("affiliate_users", -1051, "Readonly"),
        ("sub_affiliates", -1051, "affiliate account"),
        ("lead_order_history", -3236, "copy-trade key"),
    ],
)
def test_a_missing_permission_is_named(operation, code, permission):
    error = coded(OPERATIONS[operation], code, 403)
    assert error.permission == permission
    assert permission in error.sentence


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ("Parameter limit is out of bounds", "limit"),
        ("unknown traderId.", "traderId"),
        ("something is wrong", None),
    ],
)
def test_a_bad_parameter_is_named_where_the_message_names_it(message, field):
    error = coded(READ, -1142, 400, message)
    assert error.field == field
    assert message in error.sentence


def test_a_field_of_the_settings_body_is_named():
    error = coded(WRITE, -1140, 400, "symbolTraceConfigs[3].slippageRatio must be 0 or 0.001 to 0.01")
    assert error.field == "symbolTraceConfigs[3].slippageRatio"


def test_a_shortfall_is_a_refusal_and_certain():
    error = coded(OPERATIONS["place_order"], -1054, 400, "insufficient balance")
    assert (type(error), error.fault) == (Rejected, "balance")
    assert type(coded(OPERATIONS["place_order"], -1054, 500, "insufficient balance")) is OutcomeUnknown


ODD = ["<html>Bad gateway</html>", "", "{", "null", "5", '{"msg": "no code"}', b"\xff\xfe", "[" * 5000]


@pytest.mark.parametrize("body", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize(
    ("status", "reading", "writing"),
    [
        (500, Unreachable, OutcomeUnknown),
        (502, Unreachable, OutcomeUnknown),
        (404, Malformed, Malformed),
        (403, Malformed, Malformed),
        (408, Unreachable, OutcomeUnknown),
        (302, Malformed, OutcomeUnknown),
        (201, Malformed, OutcomeUnknown),
    ],
)
def test_an_answer_without_a_code_goes_by_its_status(body, status, reading, writing):
    assert type(failing(READ, body, status)) is reading
    assert type(failing(WRITE, body, status)) is writing


@pytest.mark.parametrize("body", ["<html>Welcome</html>", "", "{", b"\xff\xfe"])
def test_a_200_that_is_not_json_is_malformed_for_a_read_and_unknown_for_a_write(body):
    assert type(failing(READ, body, 200)) is Malformed
    assert type(failing(WRITE, body, 200)) is OutcomeUnknown


def test_no_page_of_a_gateway_reaches_a_person():
    assert "html" not in str(failing(READ, "<html>secret internals</html>", 502))
    assert len(coded(READ, -1121, 400, "x" * 5000).message) == 300


@pytest.mark.parametrize(
    ("sent", "seconds"),
    [(None, 10), ("3", 3), ("0.5", 0.5), ("Wed, 21 Oct 2026 07:28:00 GMT", 10), ("-5", 10), ("999999", 3600)],
)
def test_a_429_says_how_long_to_wait(sent, seconds):
    headers = {} if sent is None else {"retry-after": sent}
    for operation in (READ, WRITE):
        error = failing(operation, "slow down", 429, **headers)
        assert type(error) is RateLimited
        assert (error.retry_after, error.local, error.http_status) == (seconds, False, 429)


def test_errors_survive_a_pickle():
    """Celery carries a failed task's exception from process to process."""
    errors = [
        coded(READ, -1142, 400, "limit"),
        failing(READ, "", 429),
        LocalRefusal.of("limit", "range", "limit must be at most 100."),
        coded(WRITE, -1000, 500),
    ]
    for error in errors:
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert again.__dict__ == error.__dict__
        assert str(again) == str(error)


def test_retry_is_said_only_where_repeating_can_help():
    assert [kind.retry for kind in (Unreachable, RateLimited, Malformed)] == [True, True, True]
    assert [kind.retry for kind in (Unauthorized, Rejected, LocalRefusal, OutcomeUnknown)] == [False] * 4
