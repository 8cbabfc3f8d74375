"""The daemon's patterns are compiled by another process, and only once."""

import os
from pathlib import Path

import pytest

from termvisor.daemon.rules import precompile as warm
from termvisor.detection.packs.crash_test import condemned
from termvisor.settings import Places, Settings, load, prepare
from termvisor.testing.tmux import short_folder
from tests.compiled import lend
from tests.unit.regex.test_isolated_compile import CRASHES


@pytest.fixture
def where(tmp_path):
    """Folders that the environment does not name."""
    return Places(f"{tmp_path}/c", f"{tmp_path}/d", f"{tmp_path}/r")


async def test_a_second_start_finds_what_the_first_compiled(where, tmp_path, monkeypatch):
    with short_folder() as runtime_dir:
        prepare(Places(where.config_dir, where.data_dir, runtime_dir))
    rules = await warm.warm_rules(where, Settings())
    assert rules.is_warm
    assert rules.scan("ghp_" + "a1B2" * 9)
    monkeypatch.setattr(warm, "ask", lambda *_, **__: pytest.fail("compiled again"))
    assert (await warm.warm_rules(where, Settings())).is_warm


async def test_without_the_other_process_the_rules_still_work(where, monkeypatch):
    monkeypatch.setattr(warm, "ask", lambda *_, **__: (1, b"", b"no memory"))
    rules = await warm.warm_rules(where, Settings())
    assert rules.scan("ghp_" + "a1B2" * 9)


async def test_a_pattern_that_kills_hyperscan_is_looked_for_by_the_other_engine(where, caplog):
    lend(where)
    os.makedirs(where.config_dir)
    Path(where.config_file).write_text(f"redact_patterns = ['{CRASHES}', 'ACME-[0-9]+']\n", encoding="utf-8")
    settings = load(where)
    rules = await warm.warm_rules(where, settings)
    assert not rules.is_warm
    assert "Hyperscan crashes on it" in caplog.text
    assert rules.scan("my ACME-12 " + "aéax 1\n" * 3000) == {"custom_2"}
    assert list(condemned(where.cache_dir)) == [CRASHES]
