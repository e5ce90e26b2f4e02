"""An exchange that answers one thing, at once: the settings of 200 symbols. `python -m bench.exchange`.

The sandbox's world has 14 symbols; a page of 200 needs an answer of 200, and no time spent in making it.
"""

from __future__ import annotations

import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from copytrade import rules

from .samples import per_symbol, unified

ANSWERS = {
    b"1": rules.to_answer(per_symbol(), copy_enable=True),
    b"2": rules.to_answer(unified(), copy_enable=True),
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if "time" in self.path:
            answer: object = {"serverTime": int(time.time() * 1000)}
        elif "traderId=" not in self.path:
            answer = {"uid": 1, "balances": [], "permissions": []}
        else:
            answer = ANSWERS[self.path.rpartition("traderId=")[2].partition("&")[0].encode()]
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing: a log line costs more than the answer."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
