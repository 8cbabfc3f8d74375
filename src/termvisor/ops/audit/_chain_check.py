"""Verify the hash chain of an exported audit log. Pure; needs only the lines of the file."""

from collections.abc import Iterable

import msgspec
from msgspec import Struct

from termvisor.model.action.hash_chain import ChainBreak, HashChainEntry, HashChainVerifier
from termvisor.ops.audit.audit_export import AuditLine

_LINE_DECODER = msgspec.json.Decoder(AuditLine)


class ChainProof(Struct, frozen=True, kw_only=True):
    """``masked`` are the entries that were redacted: their position is proven, not their content."""

    entries: int
    hash: str
    masked: tuple[int, ...] = ()
    broken: ChainBreak | None = None


def verify_lines(lines: Iterable[bytes], known_hash: str = "") -> ChainProof:
    """Verify lines in order, up to the first one that breaks the chain."""
    chain, masked, is_ended = HashChainVerifier(known_hash), [], False
    broken: ChainBreak | None = None
    for data in lines:
        line = _decode_line(data)
        if line is None or is_ended:
            broken = ChainBreak(chain.last_id + 1, "not an audit entry")
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
    """Compare the count and hash of the last line with the chain: a difference means that entries were cut off."""
    is_intact = (line.entries, line.hash) == (chain.last_id, chain.last_hash)
    return None if is_intact else ChainBreak(chain.last_id + 1, "it was removed")
