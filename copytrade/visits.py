"""When a person was here: so that the first page can say what is new to them.

A visit begins with the first page after a pause. It is read from the row of the person that every page loads
anyway; a page in the middle of a visit writes at most once a minute.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from .models import User

PAUSE = timedelta(minutes=30)
WRITTEN_EVERY = timedelta(minutes=1)


def note(user: User, now: datetime) -> bool:
    """A page of this person at `now`; whether something was written. `user` then says what the row says.

    Two pages at the same moment begin one visit: the row is changed only as it was read.
    """
    last = user.last_here_at
    if last is not None and now - last < WRITTEN_EVERY:
        return False
    values = {"last_here_at": now}
    if last is None or now - last >= PAUSE:
        values |= {"here_since": now, "was_here_at": last}
    written = User.objects.filter(pk=user.pk, last_here_at=last).update(**values)
    if not written:
        user.refresh_from_db(fields=["here_since", "last_here_at", "was_here_at"])
        return False
    for name, value in values.items():
        setattr(user, name, value)
    return True
