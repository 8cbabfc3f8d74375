"""Cache the compiled patterns of redaction and rules between test runs.

A daemon's first start compiles them in worker processes, which few tests are about. Only
tests/unit/daemon/rules/test_precompile.py and the test of the first `visor up` start without this cache.
"""

import fcntl
import shutil
from functools import cache
from pathlib import Path

from termvisor.detection.packs import load_packs
from termvisor.detection.scanner import RuleScanner
from termvisor.redaction import build_rules
from termvisor.regex import is_cached
from termvisor.settings import Paths, make_instance_folders

_CACHE_DIR = Path(__file__).parents[1] / ".pytest_cache" / "d" / "patterns"


def install_pattern_cache(paths: Paths) -> None:
    """Create a daemon's folders as they are at its second start."""
    make_instance_folders(paths)
    shutil.copytree(get_pattern_cache_dir(), paths.cache_dir, dirs_exist_ok=True)


@cache
def get_pattern_cache_dir() -> str:
    """Return the folder with the compiled patterns; outdated ones are deleted."""
    rules = build_rules(cache=str(_CACHE_DIR))
    scan = RuleScanner([rule for rule in load_packs().rules if rule.scope in ("line", "stream")], cache=str(_CACHE_DIR))
    _CACHE_DIR.parent.mkdir(parents=True, exist_ok=True)
    with open(_CACHE_DIR.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the xdist processes of one run arrive here at the same time
        if not (rules.is_compiled and is_cached(scan.patterns, str(_CACHE_DIR))):
            shutil.rmtree(_CACHE_DIR, ignore_errors=True)
        _CACHE_DIR.mkdir(exist_ok=True)
        rules.scan("")
        scan.compile_now()
    return str(_CACHE_DIR)
