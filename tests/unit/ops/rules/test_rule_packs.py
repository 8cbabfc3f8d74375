from pathlib import Path

import pytest

from termvisor.errors import NotFound
from termvisor.ops.rules._rule_packs import find_rule, load_all_packs
from termvisor.settings import Settings
from tests.unit.ops.rules.test_rules_list import build_services


async def test_disabled_rules_are_still_found(tmp_path: Path) -> None:
    packs, off = await load_all_packs(build_services(tmp_path, Settings(patterns_disabled=("tmux.nested",))))
    assert off == {"tmux.nested"}
    assert find_rule(packs, "tmux.nested").pack == "core.tmux"
    with pytest.raises(NotFound):
        find_rule(packs, "tmux.nesetd")
