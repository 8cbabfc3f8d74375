"""A failing server watcher is restarted without losing output."""

import asyncio

from termvisor.daemon.assembly import open_services
from termvisor.model.terminal.target import LOCAL, ServerKey
from termvisor.settings import Paths, Settings, make_instance_folders


async def test_a_failed_server_watcher_restarts_and_continues_its_epochs(folder, tmux):
    mux_id = tmux.start_session(command="sh")
    paths = Paths(f"{folder}/c", f"{folder}/d", f"{folder}/r")
    make_instance_folders(paths)
    async with open_services(paths, Settings(tmux_sockets=(tmux.socket,), thin_interval=0.1)) as services:
        supervisor = services._components.server_supervisor
        pane = (await wait_for(lambda: list_piped_panes(services)))[0]
        watcher = supervisor.watchers[ServerKey(LOCAL.name, tmux.socket)]
        watcher.captures.run_step = raise_error
        await wait_for(lambda: is_watcher_replaced(supervisor, watcher))
        await wait_for(lambda: list_piped_panes(services))
        tmux.type_line(mux_id, "echo after''-the-failure")
        await wait_for(lambda: is_line_stored(services, pane.id, "after-the-failure"))
        assert await services.history.list_gaps() == []
        assert (await services.maintenance.get_health()).restarts["watch"] == 1


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
