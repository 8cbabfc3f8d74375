"""List the keys of the policy file with their types, defaults and descriptions, for the reference and for errors."""

from collections.abc import Iterator
from typing import Annotated, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from termvisor.model.action.policy import Policy


class PolicyKey(Struct, frozen=True, kw_only=True):
    """A key of the policy file, for the reference. In ``path``, ``[]`` follows the names of repeatable tables."""

    path: str
    type: str
    default: str
    doc: str

    @property
    def is_table(self) -> bool:
        return self.type in ("table", "tables")

    @property
    def parent(self) -> str:
        return self.path.rpartition(".")[0]

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2].removesuffix("[]")


def list_policy_keys() -> tuple[PolicyKey, ...]:
    """Return all keys in declaration order, each table before its keys."""
    return tuple(_iterate_keys(Policy, ""))


def _iterate_keys(table: type[Struct], prefix: str) -> Iterator[PolicyKey]:
    hints = get_type_hints(table, include_extras=True)
    for field in msgspec.structs.fields(table):
        hint = hints[field.name]
        inner, is_many = _find_table_type(hint)
        path = prefix + field.encode_name + ("[]" if is_many else "")
        if inner is None:
            default = "required" if field.required else _format_default(_get_default(field))
            yield PolicyKey(path=path, type=_describe_type(hint), default=default, doc=_get_description(hint))
        else:
            yield PolicyKey(
                path=path,
                type="tables" if is_many else "table",
                default="",
                doc=_get_description(hint) or " ".join((inner.__doc__ or "").split()),
            )
            yield from _iterate_keys(inner, f"{path}.")


def _get_default(field: msgspec.structs.FieldInfo) -> object:
    value: object = field.default
    return field.default_factory() if value is msgspec.NODEFAULT else value


def _find_table_type(hint: object) -> tuple[type[Struct] | None, bool]:
    """Return the struct type of a type hint, and whether the hint is a list of tables."""
    plain = _unwrap_annotated(hint)
    many = get_args(plain)[:1] if get_origin(plain) is tuple else ()
    inner = many[0] if many else plain
    if isinstance(inner, type) and issubclass(inner, Struct):
        return inner, bool(many)
    return None, False


def _unwrap_annotated(hint: object) -> object:
    return _unwrap_annotated(get_args(hint)[0]) if get_origin(hint) is Annotated else hint


def _get_description(hint: object) -> str:
    metas = [item for item in get_args(hint)[1:] if isinstance(item, Meta)] if get_origin(hint) is Annotated else []
    return (metas[-1].description or "") if metas else ""


def _describe_type(hint: object) -> str:
    plain = _unwrap_annotated(hint)
    if get_origin(plain) is Literal:
        return " | ".join(str(value) for value in get_args(plain))
    if get_origin(plain) is tuple:
        return f"list of {_describe_type(get_args(plain)[0])}"
    if get_origin(plain) is dict:
        return f"table of {_describe_type(get_args(plain)[1])}"
    if isinstance(plain, type):
        return {"str": "text", "int": "number", "float": "number", "bool": "true | false"}.get(plain.__name__, "")
    return " | ".join(_describe_type(part) for part in get_args(plain) if part is not type(None))


def _format_default(value: object) -> str:
    return "unset" if value is None else msgspec.json.encode(value).decode()
