"""Changed settings in a daemon that runs: what is safe holds at once, the rest waits, and wrong ones change nothing."""

import asyncio
import logging
import os
from pathlib import Path

import pytest

from termvisor.daemon.assembly import open_world
from termvisor.errors import ConfigError
from termvisor.log import to_file
from termvisor.model.reload import Reloaded
from termvisor.redaction import build, redact
from termvisor.redaction import use as use_rules
from termvisor.settings import load
from termvisor.testing.tmux import private_tmux
from tests.compiled import lend
from tests.unit.memory import private_places
from tests.unit.waiting import until


@pytest.fixture
def places(folder):
    where = private_places(folder)
    lend(where)
    os.makedirs(where.config_dir)
    yield where
    use_rules(build())
    for handler in list(logging.getLogger("visor").handlers):
        logging.getLogger("visor").removeHandler(handler)
        handler.close()
    logging.getLogger("visor").propagate = True


def write(places, **settings):
    Path(places.config_file).write_text("".join(f"{name} = {value}\n" for name, value in settings.items()))


async def test_what_is_safe_is_taken_over_and_told(folder, places):
    with private_tmux(folder, "one") as one, private_tmux(folder, "two") as two:
        here, there = one.start(command="cat"), two.start(command="cat")
        write(places, tmux_sockets=f'["{one.socket}"]')
        to_file(places.log_file, load(places, {}))
        async with open_world(places, load(places, {})) as world:
            panes = {pane.instance.server.socket: pane.id for pane in await world.fleet.panes()}
            assert list(panes) == [one.socket]
            write(
                places,
                tmux_sockets=f'["{one.socket}", "{two.socket}"]',
                redact_patterns='["ACME-[0-9]{4}"]',
                log_level='"debug"',
                flush_interval=0.02,
                baseline_lines=7,
                segment_bytes=65536,
            )
            told = await world.upkeep.reload()
            assert told == Reloaded(
                applied=("tmux_sockets", "baseline_lines", "flush_interval", "redact_patterns", "log_level"),
                needs_restart=("segment_bytes",),
            )
            assert world.configuration[1].segment_bytes == 8 << 20
            assert redact("the key is ACME-1234") == "the key is [redacted:custom_1]"
            assert logging.getLogger("visor").level == logging.DEBUG
            await until(lambda: two.socket in world._parts.lookout.watches)
            one.type(here, "my ACME-9876 key")
            await said(world, panes[one.socket], "my [redacted:custom_1] key")
            assert await kinds(world, "config_reloaded") == 1
            write(places, tmux_sockets=f'["{two.socket}"]')
            await world.upkeep.reload()
            await until(lambda: list(world._parts.lookout.watches) == [two.socket])
            assert one.ask(here, "#{pane_pipe}") == "0"
            assert await world.upkeep.reload() == Reloaded()
            assert there


async def test_wrong_settings_are_an_error_and_the_old_ones_hold(places):
    write(places, tmux_sockets="[]", thin_interval=2.0)
    async with open_world(places, load(places, {})) as world:
        for wrong in ({"thin_interval": 0}, {"thin_intervall": 1}, {"thin_interval": "="}):
            write(places, tmux_sockets="[]", **wrong)
            with pytest.raises(ConfigError):
                await world.upkeep.reload()
        assert world.configuration[1].thin_interval == 2.0
        assert await kinds(world, "config_reloaded") == 0


async def kinds(world, kind):
    return sum(event.kind == kind for event in await world.history.events(limit=100))


async def said(world, pane, text):
    async with asyncio.timeout(10):
        while text not in [line.text for line in await world.history.lines(pane)]:
            await world.fleet.settle()
            await asyncio.sleep(0.02)
