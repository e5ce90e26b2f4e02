"""Errors as a person meets them: a sentence, a next step, and no secret in the log."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path
from django.views.decorators.debug import sensitive_post_parameters

from copytrade.exchange.errors import (
    FAULTS,
    ExchangeError,
    LocalRefusal,
    Malformed,
    OutcomeUnknown,
    RateLimited,
    Rejected,
    Unauthorized,
    Unreachable,
)
from copytrade.models import User
from dashboard.admission import announce, setup_token
from dashboard.errors import explain
from dashboard.urls import (  # noqa: F401 (Django looks for the handlers here)
    handler403,
    handler404,
    handler500,
)
from dashboard.urls import (
    urlpatterns as desk,
)


def refused(request: HttpRequest) -> HttpResponse:
    raise Unauthorized("The exchange does not know this key.", fault="key", code=-1044, http_status=401)


@sensitive_post_parameters("secret")
def broken(request: HttpRequest) -> HttpResponse:
    secret = request.POST.get("secret", "")
    raise ValueError(f"cannot go on, {len(secret)} characters")


urlpatterns = [*desk, path("refused/", refused), path("broken/", broken)]


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client], settings: object) -> Client:
    settings.ROOT_URLCONF = __name__  # type: ignore[attr-defined]
    client = client_of(alice)
    client.raise_request_exception = False
    return client


def test_an_exchange_error_is_a_page_with_a_sentence_and_a_next_step(client: Client) -> None:
    answer = client.get("/refused/")
    html = answer.content.decode()
    assert answer.status_code == 502
    assert "The exchange does not know this key." in html
    assert 'href="/connections/"' in html
    assert "Traceback" not in html


def test_a_broken_page_says_so_and_its_log_has_no_secret(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        answer = client.post("/broken/", {"secret": "hunter2-and-more"})
    assert answer.status_code == 500
    assert b"Something broke" in answer.content
    assert b"hunter2" not in answer.content
    text = "\n".join([*(record.getMessage() for record in caplog.records), caplog.text])
    assert "cannot go on" in text
    assert "hunter2" not in text


ERRORS = [
    Unreachable("No answer.", fault="network"),
    RateLimited("Too many.", retry_after=10),
    Unauthorized("Refused.", fault="secret"),
    Rejected("Not allowed.", fault="permission", permission="Futures"),
    LocalRefusal.of("page", "range", "page must be at least 1."),
    OutcomeUnknown("No answer came."),
    Malformed("Not JSON."),
]


@pytest.mark.django_db
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_every_kind_of_error_has_its_words(error: ExchangeError) -> None:
    found = explain(error)
    assert found.title and found.next_step
    assert found.sentence == error.sentence
    assert 400 <= found.status < 600


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_has_a_next_step(fault: str) -> None:
    found = explain(Rejected("Refused.", fault=fault))
    assert found.title and found.next_step
    assert found.title != found.next_step


@pytest.mark.parametrize("fault", ["key", "secret", "passphrase", "clock", "address", "permission"])
def test_each_part_of_a_connection_is_named_and_leads_there(fault: str) -> None:
    found = explain(Unauthorized("Refused.", fault=fault))
    words = f"{found.title} {found.next_step}".lower()
    assert fault in words
    assert found.link == "/connections/"


def test_a_lost_answer_is_never_called_a_failure() -> None:
    found = explain(OutcomeUnknown("No answer came.", fault="network"))
    assert found.title == "The answer was lost"
    assert "Nothing is sent twice" in found.next_step


@pytest.mark.django_db
def test_the_log_shows_the_set_up_token_until_there_is_an_account(caplog: pytest.LogCaptureFixture) -> None:
    announce()
    assert setup_token() in caplog.text
    caplog.clear()
    User.objects.create_user("olivia")
    announce()
    assert caplog.text == ""


@pytest.mark.django_db
def test_the_health_check_answers_without_a_sign_in() -> None:
    answer = Client().get("/healthz")
    assert (answer.status_code, answer.content) == (200, b"ok")
    assert Client().post("/healthz").status_code == 405
