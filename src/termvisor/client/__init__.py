"""The Python API: every operation by name, async with `connect`, blocking with `Visor`.

    async with connect() as visor:
        print(await visor.list_panes(session="work"))
        async for event in visor.watch_events():
            ...

    with Visor() as visor:
        print(visor.get_text(pane="7", tail=20))

Results are plain data (dicts, lists, strings, numbers). Errors are defined in `termvisor.errors`.
"""

from termvisor.client.visor import AsyncVisor, Visor, connect

__all__ = ["AsyncVisor", "Visor", "connect"]
