"""Whether an exported record is whole: from its lines to what is proven of them. Pure; needs nothing but the file."""

from collections.abc import Iterable

import msgspec
from msgspec import Struct

from termvisor.model.action.audit import ChainBreak
from termvisor.model.action.hash_chain import HashChainEntry, HashChainVerifier
from termvisor.ops.audit.audit_export import AuditLine

_LINE_DECODER = msgspec.json.Decoder(AuditLine)


class ChainProof(Struct, frozen=True, kw_only=True):
    """``masked`` are the entries whose content cannot be proven, only their place."""

    entries: int
    hash: str
    masked: tuple[int, ...] = ()
    broken: ChainBreak | None = None


def verify_lines(lines: Iterable[bytes], known_hash: str = "") -> ChainProof:
    """Reads the lines once, in their order, up to the first that does not fit."""
    chain, masked, is_ended = HashChainVerifier(known_hash), [], False
    broken: ChainBreak | None = None
    for data in lines:
        line = _decode_line(data)
        if line is None or is_ended:
            broken = ChainBreak(chain.last_id + 1, "something stands there that is no entry")
        elif line.entry is None:
            is_ended = True
            broken = _check_end(chain, line)
        else:
            link = HashChainEntry(id=line.id, previous=line.previous, hash=line.hash, entry=line.entry)
            broken = chain.check_entry(link, is_redacted=line.is_masked)
            masked += [line.id] if line.is_masked else []
        if broken is not None:
            break
    if broken is None:
        broken = chain.check_end() if is_ended else ChainBreak(chain.last_id + 1, "the end of the file is missing")
    return ChainProof(entries=chain.last_id, hash=chain.last_hash, masked=tuple(masked), broken=broken)


def _decode_line(data: bytes) -> AuditLine | None:
    try:
        return _LINE_DECODER.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _check_end(chain: HashChainVerifier, line: AuditLine) -> ChainBreak | None:
    """The last line tells how many entries there were; what is missing before it was cut off."""
    is_whole = (line.entries, line.hash) == (chain.last_id, chain.last_hash)
    return None if is_whole else ChainBreak(chain.last_id + 1, "it was removed")
