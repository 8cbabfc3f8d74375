"""Events as they happen, with the async client. After a break, begin again with the last cursor: nothing is lost."""

import asyncio
import sys

from termvisor.client import connect


async def follow(cursor: str | None) -> None:
    async with connect() as visor:
        start = {} if cursor is None else {"since_cursor": cursor}
        async for event in visor.watch_events(**start):
            print(event["cursor"], event["at"], event["kind"], event["pane"], event["data"], flush=True)


if __name__ == "__main__":
    try:
        asyncio.run(follow(sys.argv[1] if len(sys.argv) > 1 else None))
    except KeyboardInterrupt:
        sys.exit(0)
