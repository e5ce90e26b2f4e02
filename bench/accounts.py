"""Many load accounts at once: rows as a desk has them that has known these accounts for days, made in bulk."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random

from copytrade import egress, keys
from copytrade.clients import credential_context
from copytrade.exchange.decoding import decode_one
from copytrade.exchange.records import CopiedTrader
from copytrade.models import Account, Credential, SyncJob, Trader, TraderDay, User
from copytrade.sandbox.world import World, accounts
from copytrade.sandbox.world.prices import origin_of
from copytrade.scheduling import own
from copytrade.sync.traders import KEPT_DAILY, MONEY
from tests.support.sandbox_process import Sandbox

PER_OWNER = 10
SECRET, PASSPHRASE = "load-secret", "sandbox"
# Where a job stands that was read all the time: its last reading lies up to this far back (s), the next ahead. With
# 2,000 accounts on an address the planner puts the history's overlap off to where it may wait longest.
USUAL = {"open": 575.0, "history": 21_600.0, "traders": 7_000.0, "settings": 7_000.0}
# What they say of themselves: three times as far apart as with few accounts. Of these keys none is a lead trader's.
OWN = {"account": 1_400.0, "bills": 2_100.0, "funding": 4_200.0, "lead": 900.0}
DAY = 86_400_000


def load_accounts(
    number: int, *, seed: int = 1, spread: bool = True, world: World | None = None
) -> list[Account]:
    """Accounts load-000001 ... of the sandbox, ten to an owner, active, their past read, nobody's reading late.

    spread: due times lie evenly over the usual intervals; else everything is due now. world: what the sandbox serves
    (`world_of`), and the traders' balances are known as it tells them; without it no balance was ever read.
    """
    names = [accounts.load_name(one) for one in range(1, number + 1)]
    owners = _owners(-(-number // PER_OWNER))
    made = Account.objects.bulk_create(
        Account(
            owner=owners[index // PER_OWNER], label=name, venue="sandbox", state=Account.State.ACTIVE,
            key_hint=name[-4:], uid=accounts.uid(name),
        )
        for index, name in enumerate(names)
    )  # fmt: skip
    Credential.objects.bulk_create(_credential(account) for account in made)
    rng = Random(seed)
    traders, jobs = [], []
    for account in made:
        followed = _traders(account)
        its = _jobs(account, len(followed), rng, spread)
        if world:
            read_at = next(job.last_success_at for job in its if job.kind == SyncJob.Kind.TRADERS)
            assert read_at
            _as_told(account, followed, world, read_at)
        traders += followed
        jobs += its
    Trader.objects.bulk_create(traders)
    TraderDay.objects.bulk_create(_today(trader) for trader in traders if trader.balances_at)
    SyncJob.objects.bulk_create(jobs)
    return made


def world_of(sandbox: Sandbox, number: int) -> World:
    """The world of a running sandbox with so many load accounts, as it is now, once more in this process."""
    truth = sandbox.truth(accounts.load_name(1))
    world = World(truth["seed"], truth["start"], load_accounts=number, speed=truth["speed"])
    world.advance(truth["now"])
    return world


def _owners(number: int) -> list[User]:
    """People without a password; the data key of each is made here once, not at every credential."""
    made = User.objects.bulk_create(
        User(username=f"owner-{one:03}", email=f"owner-{one:03}@example.com", password="!")
        for one in range(number)
    )
    for owner in made:
        owner.held_key = keys.data_key(owner.pk)
    return made


def _credential(account: Account) -> Credential:
    held = account.owner.held_key

    def sealed(field: str, text: str) -> bytes:
        context = (*credential_context(account.pk, field), f"user:{account.owner_id}")
        return keys.vault().encrypt(bytes(held.wrapped), held.kek_id, text, context)

    return Credential(
        account=account, key=sealed("key", account.label), secret=sealed("secret", SECRET),
        passphrase=sealed("passphrase", PASSPHRASE),
    )  # fmt: skip


def _traders(account: Account) -> Sequence[Trader]:
    """Those that the sandbox lets this account follow."""
    now = datetime.now(UTC)
    followed = accounts.load_bonds(account.label, origin_of(int(now.timestamp() * 1000)))
    return [
        Trader(account=account, trader_id=one.trader_id, name=one.name, copied=True, settings_read_at=now)
        for one in followed
    ]


def _as_told(account: Account, followed: Sequence[Trader], world: World, read_at: datetime) -> None:
    """What a reading of my traders stores of them (sync/traders.py), each told as the sandbox tells it."""
    served = world.fresh()  # the books of 2,000 accounts are not kept in memory
    served.advance(world.now_ms)
    told = {row["traderId"]: decode_one(CopiedTrader, row) for row in served.my_traders(account.label)}
    for trader in followed:
        trader.balances_at = read_at
        for name in MONEY:
            setattr(trader, name, getattr(told[trader.trader_id], name))


def _today(trader: Trader) -> TraderDay:
    """The balances of the day of the last reading."""
    assert trader.balances_at
    return TraderDay(
        trader=trader,
        day=trader.balances_at.date(),
        **{name: getattr(trader, name) for name in KEPT_DAILY},
    )


def _jobs(account: Account, followed: int, rng: Random, spread: bool) -> Sequence[SyncJob]:
    now = datetime.now(UTC)
    read = now.isoformat()
    jobs = []
    for kind, usual in USUAL.items():
        ago = rng.uniform(0, usual)
        jobs.append(
            SyncJob(
                account=account, kind=kind, egress=egress.of(account.pk), interval=usual if spread else None,
                due_at=now + timedelta(seconds=usual - ago) if spread else now,
                last_success_at=now - timedelta(seconds=ago), changes=1.0, exposure=4 * 3600.0,
                weight=10.0 * (followed if kind == "settings" else 1),
                cursor={"until": read, "deep": read, "swept": read} if kind == "history" else {},
            )
        )  # fmt: skip
    ms = int(now.timestamp() * 1000)
    bills = {"mark": ms, "reach": ms - 400 * DAY, "swept": ms, "gaps": [], "ended": "empty"}
    for kind, usual in OWN.items():
        ago = rng.uniform(0, usual)
        jobs.append(
            SyncJob(
                account=account, kind=kind, egress=egress.of(account.pk), interval=usual if spread else None,
                priority=own.LAST, weight=own.WEIGHTS[kind], due_at=now + timedelta(seconds=usual - ago),
                last_success_at=now - timedelta(seconds=ago),
                cursor={"account": {}, "lead": {"not_lead": account.key_set_at.isoformat()}}.get(kind, bills),
            )
        )  # fmt: skip
    return jobs
