"""Every command fits the terminal: no line is wider, and no sentence is cut inside a word."""

import re
from pathlib import Path

import msgspec
import pytest

from termvisor.ops.api.arguments import parse_arguments
from termvisor.ops.api.catalog import load_operation
from termvisor.ops.api.dispatch import find_operation, render_wrapped, stream_operation
from termvisor.ops.render.text import RenderOptions, measure_width
from termvisor.settings import Paths
from termvisor.testing.operation_calls import OPERATION_CALLS
from termvisor.testing.sample_services import build_sample_services

WIDTHS = (60, 80, 120, 200)
FOLDED = [name for name in OPERATION_CALLS if not load_operation(name).is_verbatim]
UNLIMITED = 10_000
"""A terminal that is wide enough for everything: what a narrower one may show."""


@pytest.mark.parametrize("name", FOLDED)
async def test_every_command_fits_the_terminal(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    services = await build_sample_services(Paths(*(str(tmp_path / folder) for folder in "cdr")), name)
    op, words = find_operation(OPERATION_CALLS[name], is_robot=True)
    params = msgspec.to_builtins(parse_arguments(op.args_type, words))
    results = [result async for result in stream_operation(services, op.name, params)]
    texts = {}
    for width in (UNLIMITED, *WIDTHS):
        options = RenderOptions(width=width, is_terminal=True, now=services.clock.now(), home=str(tmp_path))
        texts[width] = "\n".join(str(render_wrapped(op, result, options)) for result in results)
    known_words = {*texts[UNLIMITED].split(), "more", "column:", "columns:", "--wide)"}
    for width in WIDTHS:
        # Only a word that is wider than the terminal, such as a path, may exceed it.
        wide = [line for line in texts[width].splitlines() if measure_width(line) > width]
        assert [line for line in wide if " " in line.strip()] == []
        unknown = {word for word in texts[width].split() if word not in known_words and "…" not in word}
        assert {word for word in unknown if not re.fullmatch(r"\(\d+", word)} == set()
