"""Many load accounts at once: rows as a desk has them that has known these accounts for days, made in bulk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random

from copytrade import egress, keys
from copytrade.clients import credential_context
from copytrade.models import Account, Credential, SyncJob, Trader, User
from copytrade.sandbox.world import accounts as world
from copytrade.sandbox.world.prices import origin_of
from copytrade.scheduling import own

PER_OWNER = 10
SECRET, PASSPHRASE = "load-secret", "sandbox"
# Where a job stands that was read all the time: its last reading lies up to this far back (s), the next ahead. With
# 2,000 accounts on an address the planner puts the history's overlap off to where it may wait longest.
USUAL = {"open": 575.0, "history": 21_600.0, "traders": 7_000.0, "settings": 7_000.0}
# What they say of themselves: three times as far apart as with few accounts. Of these keys none is a lead trader's.
OWN = {"account": 1_400.0, "bills": 2_100.0, "funding": 4_200.0, "lead": 900.0}
DAY = 86_400_000


def load_accounts(number: int, *, seed: int = 1, spread: bool = True) -> list[Account]:
    """Accounts load-000001 ... of the sandbox, ten to an owner, active, their past read, nobody's reading late.

    spread: due times lie evenly over the usual intervals; else everything is due now.
    """
    names = [world.load_name(one) for one in range(1, number + 1)]
    owners = _owners(-(-number // PER_OWNER))
    accounts = Account.objects.bulk_create(
        Account(
            owner=owners[index // PER_OWNER], label=name, venue="sandbox", state=Account.State.ACTIVE,
            key_hint=name[-4:], uid=world.uid(name),
        )
        for index, name in enumerate(names)
    )  # fmt: skip
    Credential.objects.bulk_create(_credential(account) for account in accounts)
    Trader.objects.bulk_create(trader for account in accounts for trader in _traders(account))
    rng = Random(seed)
    followed = Counter(Trader.objects.filter(account__in=accounts).values_list("account", flat=True))
    SyncJob.objects.bulk_create(
        job for account in accounts for job in _jobs(account, followed[account.pk], rng, spread)
    )
    return accounts


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
    followed = world.load_bonds(account.label, origin_of(int(now.timestamp() * 1000)))
    return [
        Trader(account=account, trader_id=one.trader_id, name=one.name, copied=True, settings_read_at=now)
        for one in followed
    ]


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
