"""All model values are frozen and can be encoded and decoded."""

import importlib
import pkgutil
from types import ModuleType

import msgspec
import pytest
from msgspec import Struct

import termvisor.model
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.output import Line
from termvisor.model.terminal.screen import Screen
from termvisor.model.terminal.search_query import SearchHit, SearchQuery, SearchResult

MODULES = [
    importlib.import_module(f"termvisor.model.{found.name}") for found in pkgutil.iter_modules(termvisor.model.__path__)
]


def list_structs(module: ModuleType) -> list[type[Struct]]:
    return [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Struct) and value.__module__ == module.__name__
    ]


def find_mutable_structs(module: ModuleType) -> list[str]:
    return [value.__name__ for value in list_structs(module) if not value.__struct_config__.frozen]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_every_value_is_frozen(module: ModuleType) -> None:
    assert find_mutable_structs(module) == []


def test_mutable_struct_is_found() -> None:
    module = ModuleType("sample")
    module.Loose = msgspec.defstruct("Loose", ["x"], module="sample")  # type: ignore[attr-defined]
    assert find_mutable_structs(module) == ["Loose"]


LINE = Line(pane=PaneId(7), number=3, at=5, text="make: *** Error 2", epoch=EpochId(1))


@pytest.mark.parametrize(
    "value",
    [
        LINE,
        SearchQuery(text='"usage limit" pane:7', pane=PaneId(7), rank="relevance"),
        SearchResult(hits=(SearchHit(line=LINE, spans=((10, 15),), before=("a",), after=()),), is_complete=False),
        Screen(pane=PaneId(7), rows=("$ ", ""), width=80, height=2, cursor_x=2),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_survives_encoding(value: Struct) -> None:
    assert msgspec.json.decode(msgspec.json.encode(value), type=type(value)) == value
