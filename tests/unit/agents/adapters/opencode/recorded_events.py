"""Recorded events of the opencode 1.18.33 server: prompt, answer, denial, interrupt and compaction."""

import json
from collections.abc import Iterator
from pathlib import Path

from termvisor.agents.adapters.opencode.server_client.http import ServerSentEventParser

RECORDED_STREAM = (Path(__file__).parent / "events.sse").read_bytes()
NOW = 1_794_823_440 * 10**9
"""A time within a minute of all recorded events."""


def read_recorded_scenes() -> Iterator[tuple[str, list[dict]]]:
    """Yield the name and events of each scene, in order."""
    name, reader, events = "started", ServerSentEventParser(), []
    for line in RECORDED_STREAM.splitlines(keepends=True):
        if line.startswith(b": "):
            yield name, events
            name, events = line[2:].decode().strip(), []
        events += [json.loads(one) for one in reader.feed(line)]
    yield name, events
