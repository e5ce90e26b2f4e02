"""The typed client: a method per operation of interface.md.

    client = ExchangeClient(Roots(spot, contract), Credentials(key, secret, passphrase))
    for page in client.iter_open_tracking_orders():
        ...

Every method raises the errors of errors.py and nothing else. See docs/client.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta

from .affiliate_methods import AffiliateMethods
from .calls import Caller, Clock, Observed, Roots
from .connections import Way
from .copy_methods import CopyMethods
from .kinds import EPOCH
from .limits import Limiter, LocalLimiter
from .operations import CONTRACT
from .signing import Credentials
from .spot_methods import SpotMethods

DEADLINE = 20.0
WAY = Way()


class ExchangeClient(CopyMethods, SpotMethods, AffiliateMethods):
    """One key at one venue.

    limiter: shared by all clients of an egress address (RedisLimiter); alone, a local one is made.
    clock: seconds since the epoch, for signatures. deadline: seconds for a whole call, waiting included.
    interactive: a person waits, so the reserved share of the limit may be used. clock_offset_ms: exchange
    minus ours, as last learned; read it again afterwards. allow_writes: without it TRADE operations are refused.
    way: the egress address to call from (a source address or a proxy). observer: told of every call as it went.
    """

    def __init__(
        self,
        roots: Roots,
        credentials: Credentials,
        *,
        limiter: Limiter | None = None,
        clock: Callable[[], float] = time.time,
        deadline: float = DEADLINE,
        interactive: bool = False,
        clock_offset_ms: int = 0,
        allow_writes: bool = False,
        way: Way = WAY,
        observer: Callable[[Observed], None] | None = None,
    ) -> None:
        self.allow_writes = allow_writes
        self._caller = Caller(
            roots,
            credentials,
            limiter or LocalLimiter(),
            Clock(clock, clock_offset_ms),
            deadline=deadline,
            interactive=interactive,
            way=way,
            observer=observer,
        )

    @property
    def clock_offset_ms(self) -> int:
        """Exchange clock minus ours, ms; changes when the exchange refused a timestamp."""
        return self._caller.clock.offset_ms

    @property
    def order_pool(self) -> str:
        """The name by which a limiter counts this key's orders."""
        return self._caller.order_pool()

    def server_time(self, *, root: str = CONTRACT) -> datetime:
        """The exchange's time. Public, weight 1; needs no permission."""
        return EPOCH + timedelta(milliseconds=self._caller.server_time_ms(root, self._caller.deadline))

    def close(self) -> None:
        """Close this process's idle connections to exchanges; seldom needed. The client may be used again."""
        self._caller.close()

    def __repr__(self) -> str:
        return f"<ExchangeClient {self._caller.roots.contract}>"
