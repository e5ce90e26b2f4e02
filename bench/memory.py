"""The memory of one worker process over many pages: it reads open lists that change, again and again."""

from __future__ import annotations

import gc
from pathlib import Path
from statistics import median

from copytrade.models import SyncJob
from copytrade.sync import run

from . import backfill
from .ratios import Ratio

PAGES = 5_000
SAMPLES = 50


def memory(number: int = PAGES) -> list[Ratio]:
    """How the last tenth's memory stands to that of the second tenth: the first one fills caches."""
    owner = backfill.somebody()
    with backfill.canned_exchange("--moving"):
        accounts = [backfill.new_account(owner) for _ in range(5)]
        for account in accounts:
            run.ensure_jobs(account)
        jobs = list(
            SyncJob.objects.filter(account__in=accounts, kind=SyncJob.Kind.OPEN).values_list("pk", flat=True)
        )
        sizes = []
        for count in range(number):
            said = run.run_job(jobs[count % len(jobs)], force=True)
            assert said == run.DONE, said
            if count % (number // SAMPLES) == 0:
                gc.collect()
                sizes.append(resident())
    tenth = max(1, len(sizes) // 10)
    early, late = median(sizes[tenth : 2 * tenth]), median(sizes[-tenth:])
    per_page = (late - early) * 1e6 / (number * 0.8)
    told = (
        f"{early:.1f} MB and {late:.1f} MB: {per_page:.0f} bytes for each of {number:,} pages "
        "of 99 orders, one of them changed"
    )
    return [
        Ratio("memory of a worker, last tenth of the pages / second tenth", late / early, 1.02, "most", told)
    ]


def resident() -> float:
    """Megabytes of this process that are in memory."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1000
    raise AssertionError("Linux tells VmRSS of every process")
