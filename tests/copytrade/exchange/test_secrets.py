"""Key, secret and passphrase appear nowhere but in the request's own headers."""

import http.client
import json
import logging
import pickle
import traceback

import pytest

from copytrade.exchange import Credentials, ExchangeError, LocalRefusal

from .samples import LEAST, sample
from .scripted import KEY, PASSPHRASE, SECRET, ScriptedServer, answer, client_of, refusal, reset, silence

SECRETS = (KEY, SECRET, PASSPHRASE, "visible-nowhere")
REPLIES = {
    "refused": refusal(-1047, 401, "signature of ACCESS-KEY refused"), "reset": reset, "silence": silence,
    "html": answer("<html>"), "busy": answer("", 429), "broken": answer("{"), "system": refusal(-1000, 500),
}  # fmt: skip


def assert_clean(text):
    assert not [secret for secret in SECRETS if secret in text]


def everything_about(error):
    """All that a log, a page of errors or a broker might take up."""
    shown = [str(error), repr(error), json.dumps(error.__dict__, default=repr), repr(pickle.dumps(error))]
    shown += traceback.format_exception(error)
    summary = traceback.TracebackException.from_exception(error, capture_locals=True)
    return "\n".join([*shown, *summary.format()])


@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
@pytest.mark.parametrize("name", ["my_traders", "update_follower_settings"])
def test_errors_hold_no_secret_and_no_library_exception(name, reply):
    with ScriptedServer(reply) as server, pytest.raises(ExchangeError) as caught:
        getattr(server.client(deadline=0.4), name)(**LEAST[name])
    error = caught.value
    assert error.__cause__ is None
    assert error.__context__ is None
    assert_clean(everything_about(error))


def test_a_refused_connection_holds_no_secret():
    with ScriptedServer(answer({})) as server:
        url = server.url
    with pytest.raises(ExchangeError) as caught:
        client_of(url, deadline=0.3).my_traders()
    assert_clean(everything_about(caught.value))


@pytest.mark.parametrize("code", [-1044, -1142, -1000, -9999])
@pytest.mark.parametrize("name", ["my_traders", "update_follower_settings"])
def test_an_exchange_that_repeats_the_key_in_its_message_is_not_repeated(name, code):
    reply = refusal(code, 400, f"no such key {KEY}, passphrase {PASSPHRASE}, secret {SECRET}")
    with ScriptedServer(reply) as server, pytest.raises(ExchangeError) as caught:
        getattr(server.client(deadline=1.0), name)(**LEAST[name])
    error = caught.value
    assert "no such key" in error.message
    assert_clean(str(error) + repr(error) + repr(error.__dict__) + repr(pickle.dumps(error)))
    assert_clean("".join(traceback.format_exception(error)).replace(repr(reply), ""))


def test_local_refusals_hold_no_secret():
    with ScriptedServer(answer({})) as server, pytest.raises(LocalRefusal) as caught:
        server.client().my_traders(page=0)
    assert_clean(everything_about(caught.value))


@pytest.mark.parametrize("thing", ["credentials", "client", "caller", "transport"])
def test_nothing_shows_them(thing):
    with ScriptedServer(answer({})) as server:
        client = server.client()
    things = {
        "credentials": Credentials(KEY, SECRET, PASSPHRASE),
        "client": client,
        "caller": client._caller,
        "transport": client._caller._transport,
    }
    for way in (
        repr,
        str,
        "{}".format,
        "{!r}".format,
        "%s".__mod__,
        lambda it: repr(vars(it)) if hasattr(it, "__dict__") else "",
    ):
        assert_clean(way(things[thing]))


@pytest.fixture
def loud():
    """Everything that any logger of the libraries and ours says, however logging is configured."""
    said = []

    class Ears(logging.Handler):
        def emit(self, record):
            said.append(self.format(record) + repr(record.__dict__))

    ears = Ears(logging.DEBUG)
    roots = ("urllib3", "requests", "copytrade")
    loggers = [logging.getLogger(n) for n in logging.root.manager.loggerDict if n.partition(".")[0] in roots]
    before = [(logger, logger.level, logger.disabled) for logger in loggers]
    for logger in loggers:
        logger.addHandler(ears)
        logger.setLevel(logging.DEBUG)
        logger.disabled = False
    yield said
    for logger, level, disabled in before:
        logger.removeHandler(ears)
        logger.setLevel(level)
        logger.disabled = disabled


def test_the_loudest_logging_shows_none(loud, capsys):
    with ScriptedServer(reset, answer(sample("my_traders")), answer(sample("place_order"))) as server:
        client = server.client()
        client.my_traders()
        client.place_order(**LEAST["place_order"])
        assert len(server.received) == 3
    assert "myTraders" in "".join(loud), "the library does log at this level"
    assert_clean("".join(loud) + "".join(capsys.readouterr()))
    assert http.client.HTTPConnection.debuglevel == 0


def test_the_secret_itself_never_travels():
    with ScriptedServer(answer(sample("my_traders"))) as server:
        server.client().my_traders()
        request = server.received[0]
    assert SECRET not in repr(request)
    assert {name for name, value in request.headers.items() if value in (KEY, PASSPHRASE)} == {
        "access-key",
        "access-passphrase",
    }
