"""One watch that fails is started again, and loses nothing."""

import asyncio

from termvisor.daemon.build import open_world
from termvisor.settings import Places, Settings, prepare


async def test_a_watch_that_fails_goes_on_with_its_epochs(folder, tmux):
    mux_id = tmux.start(command="sh")
    places = Places(f"{folder}/c", f"{folder}/d", f"{folder}/r")
    prepare(places)
    async with open_world(places, Settings(tmux_sockets=(tmux.socket,), thin_interval=0.1)) as world:
        lookout = world._parts.lookout
        pane = (await until(lambda: heard(world)))[0]
        watch = lookout.watches[tmux.socket]
        watch.ears.step = broken
        await until(lambda: restarted(lookout, watch))
        await until(lambda: heard(world))
        tmux.type(mux_id, "echo after''-the-failure")
        await until(lambda: said(world, pane.id, "after-the-failure"))
        assert await world.history.gaps() == []
        assert (await world.health()).restarts["watch"] == 1


async def broken():
    raise ZeroDivisionError("a bug of ours")


async def restarted(lookout, old):
    return any(watch is not old and watch.has_looked.is_set() for watch in lookout.watches.values())


async def heard(world):
    return [pane for pane in await world.fleet.panes() if pane.heard_by == "pipe"]


async def said(world, pane, text):
    return any(line.text == text for line in await world.history.lines(pane))


async def until(look):
    async with asyncio.timeout(20):
        while not (answer := await look()):
            await asyncio.sleep(0.02)
        return answer
