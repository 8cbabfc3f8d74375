"""Whether an exported record is whole: from its lines to what is proven of them. Pure; needs nothing but the file."""

from collections.abc import Iterable

import msgspec
from msgspec import Struct

from termvisor.model.action.audit import BrokenChain
from termvisor.model.action.hash_chain import Chain, Link
from termvisor.ops.audit.audit_export import AuditLine

_LINE = msgspec.json.Decoder(AuditLine)


class Proof(Struct, frozen=True, kw_only=True):
    """``masked`` are the entries whose content cannot be proven, only their place."""

    entries: int
    hash: str
    masked: tuple[int, ...] = ()
    broken: BrokenChain | None = None


def proven(lines: Iterable[bytes], kept: str = "") -> Proof:
    """Reads the lines once, in their order, up to the first that does not fit."""
    chain, masked, is_ended = Chain(kept), [], False
    broken: BrokenChain | None = None
    for data in lines:
        line = _read(data)
        if line is None or is_ended:
            broken = BrokenChain(chain.last + 1, "something stands there that is no entry")
        elif line.entry is None:
            is_ended = True
            broken = _wrong_end(chain, line)
        else:
            link = Link(id=line.id, previous=line.previous, hash=line.hash, entry=line.entry)
            broken = chain.wrong(link, is_masked=line.is_masked)
            masked += [line.id] if line.is_masked else []
        if broken is not None:
            break
    if broken is None:
        broken = chain.wrong_at_end() if is_ended else BrokenChain(chain.last + 1, "the end of the file is missing")
    return Proof(entries=chain.last, hash=chain.hash, masked=tuple(masked), broken=broken)


def _read(data: bytes) -> AuditLine | None:
    try:
        return _LINE.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _wrong_end(chain: Chain, line: AuditLine) -> BrokenChain | None:
    """The last line tells how many entries there were; what is missing before it was cut off."""
    is_whole = (line.entries, line.hash) == (chain.last, chain.hash)
    return None if is_whole else BrokenChain(chain.last + 1, "it was removed")
