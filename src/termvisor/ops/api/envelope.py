"""Encode results as JSON: choose their fields, and build the envelope of every machine-readable answer.

Callers pay for every byte, so a field is left out while it has its default: the declared one, else null, false or the
empty text, list or object, whichever its type allows. Left out therefore means exactly that value, and the JSON Schemas
declare it. The names in a struct's ``detail_fields`` are printed only with `--full` or `--fields`.
Additive changes keep `SCHEMA_VERSION`; a breaking one increments it. Encoding never fails on text: invalid Unicode is
replaced, and characters that a terminal would interpret are escaped.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, cast

import msgspec
from msgspec import Struct, inspect

from termvisor import __version__
from termvisor.clock import Clock, format_timestamp
from termvisor.errors import BadRequest, ErrorDetail, InternalError, VisorError
from termvisor.log import get_logger
from termvisor.model.did_you_mean import find_close_matches
from termvisor.redaction import redact

SCHEMA_VERSION = 1
_INVISIBLE_BYTES = re.compile(
    rb"\x7f|\xc2[\x80-\x9f]|\xd8\x9c|\xe2(?:\x80[\x8e\x8f\xa8-\xae]|\x81[\xa6-\xa9])|\xef\xbb\xbf"
)
"""UTF-8 of DEL, C1 controls, direction marks, line separators and the byte order mark."""


class ErrorBody(Struct, frozen=True, kw_only=True):
    """``code`` is stable, for programs; ``message`` is for users."""

    code: str
    message: str
    details: dict[str, ErrorDetail] = {}


class Envelope(Struct, frozen=True, kw_only=True):
    """The answer: ``data`` if ``ok``, else ``error``. ``hint`` says what to do next: about an error always."""

    ok: bool
    data: Any = None
    error: ErrorBody | None = None
    hint: str | None = None
    elapsed_ms: float
    version: str = __version__
    schema_version: int = SCHEMA_VERSION
    now: str


def build_success(data: Any, clock: Clock, started_at: float, hint: str | None = None) -> Envelope:
    elapsed_ms = _compute_elapsed_ms(clock, started_at)
    return Envelope(ok=True, data=data, hint=hint, elapsed_ms=elapsed_ms, now=format_timestamp(clock.now()))


def build_failure(error: VisorError, clock: Clock, started_at: float) -> Envelope:
    return Envelope(
        ok=False,
        error=ErrorBody(code=error.code, message=error.message, details=error.details),
        hint=error.hint,
        elapsed_ms=_compute_elapsed_ms(clock, started_at),
        now=format_timestamp(clock.now()),
    )


def _compute_elapsed_ms(clock: Clock, started_at: float) -> float:
    return round((clock.monotonic() - started_at) * 1000, 3)


def encode_json_line(value: Any) -> bytes:
    """Encode a value as one compact JSON line that is safe to print in a terminal."""
    try:
        return _escape_invisible(msgspec.json.encode(value)) + b"\n"
    except UnicodeEncodeError:  # lone surrogates, for example from file names that are not UTF-8
        return _escape_invisible(msgspec.json.encode(_replace_invalid_unicode(msgspec.to_builtins(value)))) + b"\n"


def _escape_invisible(data: bytes) -> bytes:
    """Escape DEL, C1 controls and invisible direction marks; JSON itself only requires C0 controls to be escaped."""
    # Most answers are ASCII, and this check spares them the search.
    if data.isascii() and b"\x7f" not in data:
        return data
    return _INVISIBLE_BYTES.sub(lambda match: b"\\u%04x" % ord(match[0].decode()), data)


def _replace_invalid_unicode(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_replace_invalid_unicode(key): _replace_invalid_unicode(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_replace_invalid_unicode(item) for item in value]
    return value


def convert_exception(error: Exception) -> VisorError:
    """Return a VisorError for any exception; log an unexpected one with its traceback."""
    if isinstance(error, VisorError):
        return error
    get_logger("ops").error("unexpected %s", type(error).__name__, exc_info=error)
    # The text of an unknown exception may quote terminal output, so it is redacted before a client sees it.
    return InternalError(f"internal error: {type(error).__name__}: {redact(str(error))}")


NO_DEFAULT: Any = msgspec.NODEFAULT
_EMPTY_VALUES: tuple[tuple[type[inspect.Type], Any], ...] = (
    (inspect.BoolType, False),
    (inspect.StrType, ""),
    (inspect.VarTupleType, ()),
    (inspect.ListType, []),
    (inspect.DictType, {}),
)
_SCALARS = frozenset({str, int, float, bool, type(None)})

FieldTree = dict[str, "FieldTree"]
"""Names of fields, each with those chosen inside it; an empty tree chooses the whole value."""


class ResultField(Struct, frozen=True):
    """One field of a result. ``default`` is what a missing field means, NO_DEFAULT if it is always printed."""

    name: str
    default: Any
    is_detail: bool


@cache
def list_result_fields(struct_type: type[Struct]) -> tuple[ResultField, ...]:
    """Return the fields of a result type, in order."""
    details = {name for base in struct_type.__mro__ for name in vars(base).get("detail_fields", ())}
    described = cast(inspect.StructType, inspect.type_info(struct_type))
    return tuple(ResultField(field.name, _find_default(field), field.name in details) for field in described.fields)


def _find_default(field: inspect.Field) -> Any:
    if field.default is not NO_DEFAULT:
        return field.default
    if field.default_factory is not NO_DEFAULT:
        return field.default_factory()
    kind = field.type.type if isinstance(field.type, inspect.Metadata) else field.type
    if isinstance(kind, inspect.UnionType):
        return None if kind.includes_none else NO_DEFAULT
    return next((value for known, value in _EMPTY_VALUES if isinstance(kind, known)), NO_DEFAULT)


def build_sparse_value(value: Any) -> Any:
    """Return a value for the JSON encoder without details and without fields that have their default."""
    if type(value) in _SCALARS:
        return value
    if isinstance(value, Struct):
        sparse: dict[str, Any] = {}
        for field in list_result_fields(type(value)):
            item = getattr(value, field.name)
            if not field.is_detail and item != field.default:
                sparse[field.name] = build_sparse_value(item)
        return sparse
    if isinstance(value, (tuple, list)):
        return [build_sparse_value(item) for item in value]
    if isinstance(value, dict):
        return {key: build_sparse_value(item) for key, item in value.items()}
    return value


def select_fields(value: Any, tree: FieldTree, *, is_full: bool) -> Any:
    """Return a value with the chosen fields only; these are printed even if they have their default."""
    if not tree:
        return value if is_full else build_sparse_value(value)
    if isinstance(value, Struct):
        return {
            name: select_fields(getattr(value, name), inner, is_full=is_full)
            for name, inner in tree.items()
            if name in value.__struct_fields__
        }
    if isinstance(value, (tuple, list)):
        return [select_fields(item, tree, is_full=is_full) for item in value]
    if isinstance(value, dict):
        return {
            name: select_fields(value[name], inner, is_full=is_full) for name, inner in tree.items() if name in value
        }
    return value


def parse_field_paths(paths: Sequence[str], result_type: type[Struct]) -> FieldTree:
    """Parse `state,identity.id` into a tree; a path may begin inside the items of a listing. Raises BadRequest."""
    tree: FieldTree = {}
    described = inspect.type_info(result_type)
    of_items = _find_inner(described, "items")
    for path in paths:
        words = path.split(".")
        _check_path(path, words, (described, *of_items))
        if words[0] not in _list_names(described):
            words.insert(0, "items")
        branch = tree
        for word in words:
            branch = branch.setdefault(word, {})
    return tree


def _check_path(path: str, words: Sequence[str], kinds: tuple[inspect.Type, ...]) -> None:
    """Raise BadRequest if a path names no field of these types."""
    for word in words:
        if any(isinstance(kind, inspect.DictType | inspect.AnyType) for kind in _iterate_inner(*kinds)):
            return  # its keys depend on the call
        names = _list_names(*kinds)
        if word not in names:
            near = find_close_matches(word, names) or names
            hint = f"Fields here: {', '.join(near)}." if near else f"`{path.rpartition('.')[0]}` has no fields inside."
            raise BadRequest(f"--fields: no field {path!r}", hint=hint, details={"fields": names})
        kinds = tuple(inner for kind in kinds for inner in _find_inner(kind, word))


def _list_names(*kinds: inspect.Type) -> list[str]:
    structs = (kind for kind in _iterate_inner(*kinds) if isinstance(kind, inspect.StructType))
    return list(dict.fromkeys(field.name for struct in structs for field in struct.fields))


def _find_inner(kind: inspect.Type, name: str) -> tuple[inspect.Type, ...]:
    structs = (inner for inner in _iterate_inner(kind) if isinstance(inner, inspect.StructType))
    return tuple(field.type for struct in structs for field in struct.fields if field.name == name)


def _iterate_inner(*kinds: inspect.Type) -> Iterator[inspect.Type]:
    """Yield types without their metadata, unions and lists around them."""
    for kind in kinds:
        if isinstance(kind, inspect.Metadata):
            yield from _iterate_inner(kind.type)
        elif isinstance(kind, inspect.UnionType):
            yield from _iterate_inner(*kind.types)
        elif isinstance(kind, inspect.CollectionType):
            yield from _iterate_inner(kind.item_type)
        else:
            yield kind


def collect_structs(result_types: Sequence[type[Struct]]) -> dict[str, type[Struct]]:
    """Return the struct types of results by name, at any depth."""
    found: dict[str, type[Struct]] = {}
    queue = list(inspect.multi_type_info(result_types))
    while queue:
        for kind in _iterate_inner(queue.pop()):
            if isinstance(kind, inspect.DictType):
                queue.append(kind.value_type)
            elif isinstance(kind, inspect.StructType) and kind.cls.__name__ not in found:
                found[kind.cls.__name__] = kind.cls
                queue += [field.type for field in kind.fields]
    return found
