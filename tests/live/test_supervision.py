"""One watch that fails is started again, and loses nothing."""

import asyncio
import os
import signal

from termvisor.daemon.assembly import open_services
from termvisor.settings import Paths, Settings, make_instance_folders


async def test_a_watch_that_fails_goes_on_with_its_epochs(folder, tmux):
    mux_id = tmux.start_session(command="sh")
    places = Paths(f"{folder}/c", f"{folder}/d", f"{folder}/r")
    make_instance_folders(places)
    async with open_services(places, Settings(tmux_sockets=(tmux.socket,), thin_interval=0.1)) as world:
        lookout = world._components.server_supervisor
        pane = (await until(lambda: heard(world)))[0]
        watch = lookout.watchers[tmux.socket]
        watch.captures.run_step = broken
        await until(lambda: restarted(lookout, watch))
        await until(lambda: heard(world))
        tmux.type_line(mux_id, "echo after''-the-failure")
        await until(lambda: said(world, pane.id, "after-the-failure"))
        assert await world.history.list_gaps() == []
        assert (await world.maintenance.get_health()).restarts["watch"] == 1


async def test_a_control_client_that_is_killed_again_and_again_is_an_alert_and_costs_no_byte(folder, tmux):
    mux_id = tmux.start_session(command="sh")
    places = Paths(f"{folder}/c", f"{folder}/d", f"{folder}/r")
    make_instance_folders(places)
    async with open_services(places, Settings(tmux_sockets=(tmux.socket,), thin_interval=0.1)) as world:
        pane = (await until(lambda: heard(world)))[0]
        for _ in range(5):
            await until(lambda: spoken_to_by(world, "control"))
            os.kill(int(tmux("list-clients", "-F", "#{client_pid}").split("\n")[0]), signal.SIGKILL)
            await until(lambda: spoken_to_by(world, "plain"))
        (alert,) = await until(lambda: alerts(world))
        assert f"the control client of {tmux.socket} keeps exiting" in alert
        tmux.type_line(mux_id, "echo heard''-all-the-same")
        await until(lambda: said(world, pane.id, "heard-all-the-same"))
        assert await world.history.list_gaps() == []
        assert (await world.maintenance.get_health()).restarts["control_client"] == 5


async def spoken_to_by(world, kind):
    (server,) = (await world.maintenance.get_health()).servers
    return server.client == kind


async def alerts(world):
    return (await world.maintenance.get_health()).alerts


async def broken():
    raise ZeroDivisionError("a bug of ours")


async def restarted(lookout, old):
    return any(watch is not old and watch.first_listing_done.is_set() for watch in lookout.watchers.values())


async def heard(world):
    return [pane for pane in await world.panes.list_panes() if pane.heard_by == "pipe"]


async def said(world, pane, text):
    return any(line.text == text for line in await world.history.list_lines(pane))


async def until(look):
    async with asyncio.timeout(20):
        while not (answer := await look()):
            await asyncio.sleep(0.02)
        return answer
