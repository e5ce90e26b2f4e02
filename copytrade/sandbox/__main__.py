"""`python -m copytrade.sandbox`: serve the exchange in a box until SIGTERM or Ctrl-C."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading

from .exchange import Exchange
from .venue import Options
from .wire import Server


def arguments(given: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m copytrade.sandbox", description="An exchange in a box.")
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (default: this machine only)"
    )
    parser.add_argument("--port", type=int, default=9100, help="port; 0 picks a free one (default 9100)")
    parser.add_argument("--seed", type=int, default=Options.seed, help="the world grows from this number")
    parser.add_argument(
        "--speed", type=_at_least_zero_float, default=1.0, help="rate of events; 0 stands still"
    )
    parser.add_argument(
        "--limit", type=_at_least_zero, default=500, help="weight per 10 s and address; 0 for none"
    )
    parser.add_argument(
        "--order-limit", type=_at_least_zero, default=20, help="orders per 10 s and account; 0 for none"
    )
    parser.add_argument("--accounts", type=_accounts, default=0, help="load accounts, 2000 at most")
    parser.add_argument(
        "--history-by", choices=("close", "open"), default="close", help="the time history goes by"
    )
    parser.add_argument("--state", metavar="FILE", help="keep settings and spot orders in this file")
    return parser.parse_args(given)


def main(given: list[str]) -> int:
    flags = arguments(given)
    options = Options(
        flags.seed, flags.speed, flags.limit, flags.order_limit, flags.accounts, flags.history_by, flags.state
    )
    exchange = Exchange(options)
    try:
        server = Server(flags.host, flags.port, exchange.handle)
    except OSError as error:
        print(  # noqa: T201
            f"sandbox: cannot listen on {flags.host}:{flags.port} ({error.strerror}). "
            "Choose another port with --port, or stop what uses it.",
            file=sys.stderr,
        )
        return 1
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True).start()
    host = f"[{flags.host}]" if ":" in flags.host else flags.host
    print(f"sandbox ready at http://{host}:{server.server_address[1]}", flush=True)  # noqa: T201
    stop.wait()
    server.socket.close()
    with exchange.venue.lock:  # let a write to the state file finish
        sys.stdout.flush()
        os._exit(0)  # held calls and open connections need no farewell


def _at_least_zero(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError("must be 0 or more")
    return number


def _accounts(text: str) -> int:
    number = _at_least_zero(text)
    if number > 2_000:
        raise argparse.ArgumentTypeError("must be 2000 or less")
    return number


def _at_least_zero_float(text: str) -> float:
    number = float(text)
    if not 0 <= number <= 10_000:
        raise argparse.ArgumentTypeError("must be from 0 to 10000")
    return number


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
