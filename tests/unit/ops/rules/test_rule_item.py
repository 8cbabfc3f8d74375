from pathlib import Path

import pytest

from termvisor.errors import NotFound
from termvisor.ops.rules._rule_item import one, packs_of
from termvisor.settings import Settings
from tests.unit.ops.rules.test_rules_list import world


async def test_what_is_switched_off_is_still_known(tmp_path: Path) -> None:
    packs, off = await packs_of(world(tmp_path, Settings(patterns_disabled=("tmux.nested",))))
    assert off == {"tmux.nested"}
    assert one(packs, "tmux.nested").pack == "core.tmux"
    with pytest.raises(NotFound):
        one(packs, "tmux.nesetd")
