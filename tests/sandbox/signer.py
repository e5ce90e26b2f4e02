"""A tiny signer of the tests' own: neither the client's nor the sandbox's code."""

from __future__ import annotations

import hmac
import json
import time
from base64 import standard_b64encode
from typing import Any

import requests

SECRETS = {
    "follower-key": "follower-secret",
    "readonly-key": "readonly-secret",
    "lead-key": "lead-secret",
    "affiliate-key": "affiliate-secret",
}


def sign(secret: str, text: str | bytes) -> str:
    exact = text.encode() if isinstance(text, str) else text
    return standard_b64encode(hmac.digest(secret.encode(), exact, "sha256")).decode()


class Caller:
    """Signed calls to a sandbox, by one key, over one keep-alive session."""

    def __init__(self, url: str, key: str = "follower-key", secret: str | None = None) -> None:
        self.url = url
        self.key = key
        self.secret = secret or SECRETS.get(key, "load-secret")
        self.session = requests.Session()

    def headers(self, method: str, target: str, body: str | bytes, now_ms: int) -> dict[str, str]:
        stamp = str(now_ms)
        exact = body.encode() if isinstance(body, str) else body
        headers = {
            "ACCESS-KEY": self.key,
            "ACCESS-SIGN": sign(self.secret, (stamp + method + target).encode() + exact),
            "ACCESS-PASSPHRASE": "sandbox",
            "ACCESS-TIMESTAMP": stamp,
        }
        return headers | ({"Content-Type": "application/json"} if body else {})

    def send(
        self,
        method: str,
        target: str,
        body: str = "",
        *,
        headers: dict[str, str | None] | None = None,
        shift_ms: int = 0,
        timeout: float = 10,
    ) -> requests.Response:
        """One call of a raw target; `headers` replaces signed ones (None removes), `shift_ms` moves our clock."""
        signed = self.headers(method, target, body, int(time.time() * 1000) + shift_ms) | (headers or {})
        kept = {name: value for name, value in signed.items() if value is not None}
        request = requests.Request(method, self.url, headers=kept, data=body.encode() or None).prepare()
        request.url = self.url + target  # as it stands: nothing re-encoded
        return self.session.send(request, timeout=timeout)

    def get(self, path: str, query: str = "", **more: Any) -> requests.Response:
        return self.send("GET", path + ("?" + query if query else ""), **more)

    def post(self, path: str, body: Any, **more: Any) -> requests.Response:
        return self.send("POST", path, json.dumps(body), **more)


def refusal(response: requests.Response) -> tuple[int, int]:
    """(HTTP status, code) of a refused call."""
    answer = response.json()
    assert set(answer) == {"code", "msg"}, answer
    assert answer["msg"]
    return response.status_code, answer["code"]


def answer(response: requests.Response) -> Any:
    """The JSON of a success."""
    assert response.status_code == 200, response.text
    return response.json()
