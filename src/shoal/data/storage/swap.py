"""One folder into the place of another: in a single step where the system can do that (Linux).

Elsewhere the old folder is renamed out of the way first, and a kill between the two renames is
mended by `put_back`.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
from pathlib import Path

from shoal.data.storage.hidden import hidden, leftovers

_EXCHANGE = 2  # RENAME_EXCHANGE of <linux/fs.h>
_HERE = -100  # AT_FDCWD


def swap(new: Path, target: Path) -> None:
    """Puts `new` into place. An old folder is then called `new`, or hidden under another name."""
    if not target.exists():
        new.rename(target)
        return
    shutil.copymode(target, new)
    if exchange(new, target):
        return
    old = hidden(target, "old")
    target.rename(old)
    try:
        new.rename(target)
    except BaseException:
        old.rename(target)
        raise


def put_back(target: Path) -> None:
    """Puts an old folder back that was renamed out of the way."""
    for old in leftovers(target, "old"):
        if not target.exists():
            old.rename(target)


def exchange(one: Path, other: Path) -> bool:
    """Exchanges two names in one step; False where the system cannot."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    if rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(number, os.strerror(number), str(other))
