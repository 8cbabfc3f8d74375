"""The patterns of redaction and of our rules, compiled once and kept between runs.

Few tests are about a daemon's very first start. That one compiles them in processes of their own;
tests/unit/daemon/rules/test_precompile.py and the newcomer's way to `visor up` are where nothing is lent.
"""

import fcntl
import shutil
from functools import cache
from pathlib import Path

from termvisor.detection.packs import load
from termvisor.detection.scanner import RuleScan
from termvisor.redaction import build
from termvisor.regex import is_cached
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
    scan = RuleScan([rule for rule in load().rules if rule.scope in ("line", "stream")], cache=str(_KEPT))
    _KEPT.parent.mkdir(parents=True, exist_ok=True)
    with open(_KEPT.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the processes of one run come here at once
        if not (rules.is_warm and is_cached(scan.patterns, str(_KEPT))):
            shutil.rmtree(_KEPT, ignore_errors=True)
        _KEPT.mkdir(exist_ok=True)
        rules.scan("")
        scan.warm()
    return str(_KEPT)
