from pathlib import Path

from termvisor.settings import Places, Settings
from termvisor.testing.asking import ask
from termvisor.testing.world import MemoryWorld
from tests.unit.packs.making import GOOD, pack


def world(folder: Path, settings: Settings | None = None) -> MemoryWorld:
    found = MemoryWorld(places=Places(str(folder), str(folder), str(folder)))
    found.settings = settings or Settings()
    return found


async def test_rules_are_listed_with_what_could_not_be_loaded(tmp_path: Path) -> None:
    pack(tmp_path, good=GOOD, bad=GOOD.replace("line", "row"))
    answered = await ask(world(tmp_path), "rules", "list", "--pack", "org.local")
    assert "tool.limit.reached" in answered.out
    assert "bad.toml:4: scope" in answered.out
    assert "1 rule of 1 pack, 0 switched off" in answered.out


async def test_they_are_filtered(tmp_path: Path) -> None:
    answered = await ask(world(tmp_path), "rules", "list", "--agent", "codex", "--scope", "line")
    assert "codex.compaction" in answered.out
    assert "claude." not in answered.out


async def test_what_is_switched_off_says_so(tmp_path: Path) -> None:
    off = Settings(patterns_disabled=("core.tmux",))
    answered = await ask(world(tmp_path, off), "rules", "list", "--pack", "core.tmux")
    assert "5 rules of 1 pack, 5 switched off" in answered.out
