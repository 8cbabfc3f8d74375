"""A failing server watcher or control client is restarted without losing output."""

import asyncio
import os
import signal

from termvisor.daemon.assembly import open_services
from termvisor.settings import Paths, Settings, make_instance_folders


async def test_a_failed_server_watcher_restarts_and_continues_its_epochs(folder, tmux):
    mux_id = tmux.start_session(command="sh")
    paths = Paths(f"{folder}/c", f"{folder}/d", f"{folder}/r")
    make_instance_folders(paths)
    async with open_services(paths, Settings(tmux_sockets=(tmux.socket,), thin_interval=0.1)) as services:
        supervisor = services._components.server_supervisor
        pane = (await wait_for(lambda: list_piped_panes(services)))[0]
        watcher = supervisor.watchers[tmux.socket]
        watcher.captures.run_step = raise_error
        await wait_for(lambda: is_watcher_replaced(supervisor, watcher))
        await wait_for(lambda: list_piped_panes(services))
        tmux.type_line(mux_id, "echo after''-the-failure")
        await wait_for(lambda: is_line_stored(services, pane.id, "after-the-failure"))
        assert await services.history.list_gaps() == []
        assert (await services.maintenance.get_health()).restarts["watch"] == 1


async def test_a_repeatedly_killed_control_client_raises_an_alert_and_loses_no_output(folder, tmux):
    mux_id = tmux.start_session(command="sh")
    paths = Paths(f"{folder}/c", f"{folder}/d", f"{folder}/r")
    make_instance_folders(paths)
    async with open_services(paths, Settings(tmux_sockets=(tmux.socket,), thin_interval=0.1)) as services:
        pane = (await wait_for(lambda: list_piped_panes(services)))[0]
        for _ in range(5):
            await wait_for(lambda: uses_client(services, "control"))
            os.kill(int(tmux("list-clients", "-F", "#{client_pid}").split("\n")[0]), signal.SIGKILL)
            await wait_for(lambda: uses_client(services, "plain"))
        (alert,) = await wait_for(lambda: read_alerts(services))
        assert f"the control client of {tmux.socket} keeps exiting" in alert
        tmux.type_line(mux_id, "echo heard''-all-the-same")
        await wait_for(lambda: is_line_stored(services, pane.id, "heard-all-the-same"))
        assert await services.history.list_gaps() == []
        assert (await services.maintenance.get_health()).restarts["control_client"] == 5


async def uses_client(services, kind):
    (server,) = (await services.maintenance.get_health()).servers
    return server.client == kind


async def read_alerts(services):
    return (await services.maintenance.get_health()).alerts


async def raise_error():
    raise ZeroDivisionError("a bug")


async def is_watcher_replaced(supervisor, old_watcher):
    return any(
        watcher is not old_watcher and watcher.first_listing_done.is_set() for watcher in supervisor.watchers.values()
    )


async def list_piped_panes(services):
    return [pane for pane in await services.panes.list_panes() if pane.heard_by == "pipe"]


async def is_line_stored(services, pane, text):
    return any(line.text == text for line in await services.history.list_lines(pane))


async def wait_for(check):
    async with asyncio.timeout(20):
        while not (result := await check()):
            await asyncio.sleep(0.02)
        return result
