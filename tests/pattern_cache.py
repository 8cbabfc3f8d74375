"""The patterns of redaction and of our rules, compiled once and kept between runs.

Few tests are about a daemon's very first start. That one compiles them in processes of their own;
tests/unit/daemon/rules/test_precompile.py and the newcomer's way to `visor up` are where nothing is lent.
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
    """Make a daemon's folders as they are at its second start."""
    make_instance_folders(paths)
    shutil.copytree(get_pattern_cache_dir(), paths.cache_dir, dirs_exist_ok=True)


@cache
def get_pattern_cache_dir() -> str:
    """The folder that holds them, and nothing older."""
    rules = build_rules(cache=str(_CACHE_DIR))
    scan = RuleScanner([rule for rule in load_packs().rules if rule.scope in ("line", "stream")], cache=str(_CACHE_DIR))
    _CACHE_DIR.parent.mkdir(parents=True, exist_ok=True)
    with open(_CACHE_DIR.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the processes of one run come here at once
        if not (rules.is_compiled and is_cached(scan.patterns, str(_CACHE_DIR))):
            shutil.rmtree(_CACHE_DIR, ignore_errors=True)
        _CACHE_DIR.mkdir(exist_ok=True)
        rules.scan("")
        scan.compile_now()
    return str(_CACHE_DIR)
