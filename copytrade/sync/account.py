"""Fee rates, flags, permissions and balances: one call of the account operation, on the spot root."""

from __future__ import annotations

from copytrade import own
from copytrade.clients import AnotherAccount, refuse

from .reading import Reading


def read(reading: Reading) -> None:
    """Store what the account says of itself now. Raises AnotherAccount when the key opens another one."""
    info = reading.client.account()
    reading.pages = 1
    account = reading.account
    if info.uid is not None and account.uid is not None and info.uid != account.uid:
        refuse(account)
        raise AnotherAccount(AnotherAccount.SENTENCE)
    with reading.fenced():
        done = own.store_account(account, info, reading.began)
    reading.seen = len(info.balances or ())
    reading.changed = done.added + done.changed
