"""The patterns of redaction, compiled once and kept between runs: few tests are about a daemon's very first start.

That one compiles them in a process of its own; tests/unit/daemon/test_warm.py and the newcomer's way to `visor up`
are where nothing is lent.
"""

import fcntl
import shutil
from functools import cache
from pathlib import Path

from termvisor.redact import build
from termvisor.settings import Places, prepare

_KEPT = Path(__file__).parents[1] / ".pytest_cache" / "d" / "patterns"


def lend(where: Places) -> None:
    """Make a daemon's folders as they are at its second start."""
    prepare(where)
    shutil.copytree(kept(), where.cache_dir, dirs_exist_ok=True)


@cache
def kept() -> str:
    """The folder that holds them, and nothing older."""
    rules = build(cache=str(_KEPT))
    _KEPT.parent.mkdir(parents=True, exist_ok=True)
    with open(_KEPT.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the processes of one run come here at once
        if not rules.is_warm:
            shutil.rmtree(_KEPT, ignore_errors=True)
        _KEPT.mkdir(exist_ok=True)
        rules.scan("")
    return str(_KEPT)
