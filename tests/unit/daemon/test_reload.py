"""Reloaded settings: safe ones apply at once, others need a restart, invalid ones change nothing."""

import asyncio
import logging
import os
from pathlib import Path

import pytest

from termvisor.daemon.assembly import open_services
from termvisor.errors import ConfigError
from termvisor.log import configure_log_file
from termvisor.model.maintenance import DescriptionsReloadResult, ReloadResult
from termvisor.model.terminal.target import LOCAL, ServerKey
from termvisor.redaction import build_rules, redact
from termvisor.redaction import use_rules as use_rules
from termvisor.settings import load_settings
from termvisor.testing.private_tmux import run_private_tmux
from tests.pattern_cache import install_pattern_cache
from tests.unit.fake_daemon import make_private_paths
from tests.unit.wait_until import wait_until


@pytest.fixture
def places(folder):
    paths = make_private_paths(folder)
    install_pattern_cache(paths)
    os.makedirs(paths.config_dir)
    yield paths
    use_rules(build_rules())
    for handler in list(logging.getLogger("visor").handlers):
        logging.getLogger("visor").removeHandler(handler)
        handler.close()
    logging.getLogger("visor").propagate = True


def write_config(places, **settings):
    Path(places.config_file).write_text("".join(f"{name} = {value}\n" for name, value in settings.items()))


async def test_safe_settings_are_applied_and_reported(folder, places):
    with run_private_tmux(folder, "one") as one, run_private_tmux(folder, "two") as two:
        here, there = one.start_session(command="cat"), two.start_session(command="cat")
        write_config(places, tmux_sockets=f'["{one.socket}"]')
        configure_log_file(places.log_file, load_settings(places, {}))
        async with open_services(places, load_settings(places, {})) as services:
            panes = {pane.instance.server.socket: pane.id for pane in await services.panes.list_panes()}
            assert list(panes) == [one.socket]
            write_config(
                places,
                tmux_sockets=f'["{one.socket}", "{two.socket}"]',
                redact_patterns='["ACME-[0-9]{4}"]',
                log_level='"debug"',
                flush_interval=0.02,
                baseline_lines=7,
                segment_bytes=65536,
            )
            result = await services.maintenance.reload_settings()
            assert result == ReloadResult(
                applied=("tmux_sockets", "baseline_lines", "flush_interval", "redact_patterns", "log_level"),
                needs_restart=("segment_bytes",),
            )
            assert services.configuration[1].segment_bytes == 8 << 20
            assert redact("the key is ACME-1234") == "the key is [redacted:custom_1]"
            assert logging.getLogger("visor").level == logging.DEBUG
            await wait_until(
                lambda: ServerKey(LOCAL.name, two.socket) in services._components.server_supervisor.watchers
            )
            one.type_line(here, "my ACME-9876 key")
            await wait_for_line(services, panes[one.socket], "my [redacted:custom_1] key")
            assert await count_events(services, "config_reloaded") == 1
            write_config(places, tmux_sockets=f'["{two.socket}"]')
            await services.maintenance.reload_settings()
            await wait_until(
                lambda: list(services._components.server_supervisor.watchers) == [ServerKey(LOCAL.name, two.socket)]
            )
            assert one.read_format(here, "#{pane_pipe}") == "0"
            assert await services.maintenance.reload_settings() == ReloadResult()
            assert there


async def test_invalid_settings_are_an_error_and_the_old_ones_stay(places):
    write_config(places, tmux_sockets="[]", thin_interval=2.0)
    async with open_services(places, load_settings(places, {})) as services:
        for wrong in ({"thin_interval": 0}, {"thin_intervall": 1}, {"thin_interval": "="}):
            write_config(places, tmux_sockets="[]", **wrong)
            with pytest.raises(ConfigError):
                await services.maintenance.reload_settings()
        assert services.configuration[1].thin_interval == 2.0
        assert await count_events(services, "config_reloaded") == 0


DESCRIPTION = 'about = "An agent of this company"\n[process]\nprograms = ["{}"]\n'


async def test_changed_descriptions_of_agents_are_reported(places):
    write_config(places, tmux_sockets="[]")
    folder = Path(places.config_dir, "agents")
    folder.mkdir()
    async with open_services(places, load_settings(places, {})) as services:
        reload = services.maintenance.reload_settings
        (folder / "our_agent.toml").write_text(DESCRIPTION.format("ours"))
        assert (await reload()).descriptions == DescriptionsReloadResult(changed=("our_agent",))
        assert await reload() == ReloadResult()
        (folder / "our_agent.toml").write_text(DESCRIPTION.format("theirs"))
        assert (await reload()).descriptions.changed == ("our_agent",)
        (folder / "our_agent.toml").write_text("about = 1\n")
        wrong = (await reload()).descriptions
        assert wrong.changed == ("our_agent",)
        assert "our_agent.toml" in wrong.troubles[0]
        (folder / "our_agent.toml").unlink()
        assert (await reload()) == ReloadResult()


async def count_events(services, kind):
    return sum(event.kind == kind for event in await services.history.list_events(limit=100))


async def wait_for_line(services, pane, text):
    async with asyncio.timeout(10):
        while text not in [line.text for line in await services.history.list_lines(pane)]:
            await services.panes.wait_until_stored()
            await asyncio.sleep(0.02)
