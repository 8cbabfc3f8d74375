from pathlib import Path

import pytest

from termvisor.detection.packs.crash_test import save_crashing_rules
from termvisor.regex.relax import relax_pattern
from termvisor.settings import Paths, Settings
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import run_command
from tests.unit.detection.packs.rule_factory import VALID_RULE, write_pack


def world(folder: Path, settings: Settings | None = None) -> FakeServices:
    found = FakeServices(paths=Paths(str(folder), str(folder), str(folder)))
    found.settings = settings or Settings()
    return found


async def test_rules_are_listed_with_what_could_not_be_loaded(tmp_path: Path) -> None:
    write_pack(tmp_path, good=VALID_RULE, bad=VALID_RULE.replace("line", "row"))
    answered = await run_command(world(tmp_path), "rules", "list", "--pack", "org.local")
    assert "tool.limit.reached" in answered.out
    assert "bad.toml:4: scope" in answered.out
    assert "1 rule of 1 pack, 0 switched off" in answered.out


async def test_they_are_filtered(tmp_path: Path) -> None:
    answered = await run_command(world(tmp_path), "rules", "list", "--agent", "codex", "--scope", "line")
    assert "codex.compaction" in answered.out
    assert "claude." not in answered.out


async def test_what_is_switched_off_says_so(tmp_path: Path) -> None:
    off = Settings(patterns_disabled=("core.tmux",))
    answered = await run_command(world(tmp_path, off), "rules", "list", "--pack", "core.tmux")
    assert "6 rules of 1 pack, 6 switched off" in answered.out


async def test_a_rule_that_crashes_the_engine_is_not_listed_as_in_force(tmp_path: Path) -> None:
    write_pack(tmp_path, good=VALID_RULE)
    places = Paths(str(tmp_path), str(tmp_path), str(tmp_path))
    (tmp_path / "cache").mkdir()
    save_crashing_rules(
        places.cache_dir, {relax_pattern(r"^tool: limit reached, (?P<left>\d+) left$"): "cannot be used: it crashes"}
    )
    answered = await run_command(world(tmp_path), "rules", "list", "--pack", "org.local")
    assert "good.toml:6: pattern: cannot be used: it crashes" in answered.out
    assert "0 rules" in answered.out


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("list", "--agent", "claude"), "Did you mean claude_code?"),
        (("list", "--pack", "core.shel"), "Did you mean core.shell?"),
        (("test", "--agent", "claude", "Conversation compacted"), "Did you mean claude_code?"),
    ],
)
async def test_a_name_that_nobody_has_is_told_instead_of_nothing(
    tmp_path: Path, words: tuple[str, ...], hint: str
) -> None:
    answered = await run_command(world(tmp_path), "rules", *words)
    assert (answered.status, hint in answered.err) == (2, True)
