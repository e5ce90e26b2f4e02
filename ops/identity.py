"""As whom PostgreSQL runs. It refuses uid 0, so root starts it as somebody else."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
from dataclasses import dataclass, field

BECOME = (
    "import os, sys; uid, gid = int(sys.argv[1]), int(sys.argv[2]); "
    "os.setgroups([]); os.setgid(gid); os.setuid(uid); os.execv(sys.argv[3], sys.argv[3:])"
)


@dataclass(frozen=True)
class Identity:
    """`prefix` goes before the command. `owner` is the (uid, gid) that must own its files, None when we own them."""

    prefix: list[str] = field(default_factory=list)
    owner: tuple[int, int] | None = None


def identity() -> Identity:
    """Ourselves; as root, or without a name, a uid inside a user namespace; where those are refused, another user."""
    ordinary = os.geteuid() != 0
    if ordinary and os.geteuid() in _known_uids():
        return Identity()
    inside = _known_uid()
    unshare = [
        shutil.which("unshare") or "unshare",
        "--user",
        f"--map-user={inside}",
        f"--map-group={inside}",
    ]
    if _works([*unshare, "true"]):
        return Identity(unshare)
    if ordinary:
        return Identity()
    user = _unprivileged_user()
    become = [sys.executable, "-I", "-S", "-c", BECOME, str(user.pw_uid), str(user.pw_gid)]
    return Identity(become, (user.pw_uid, user.pw_gid))


def _known_uids() -> set[int]:
    """The uids that have a name: initdb looks its own up, and some containers run under one that has none."""
    return {user.pw_uid for user in pwd.getpwall()}


def _known_uid() -> int:
    """One of them, other than root's."""
    known = _known_uids() - {0}
    return 1000 if 1000 in known or not known else min(known)


def _unprivileged_user() -> pwd.struct_passwd:
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    return pwd.getpwuid(_known_uid())


def _works(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=10, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
