"""Strategies for terminal output: complete, partial, nested and malformed sequences between text."""

from itertools import pairwise

from hypothesis import strategies as st

INTRODUCERS = [b"\x1b]", b"\x1bP", b"\x1b_", b"\x1b^", b"\x1bX", b"\x1bk", b"\x9d", b"\x90", b"\x9f", b"\x1bPtmux;"]
ENDS = [b"\x07", b"\x1b\\", b"\x9c", b"\x18", b"\x1a", b"\x1b", b"\x1b[", b"", b"\xc2\x9c"]
QUERIES = [
    *(b"\x1b[c", b"\x1b[>c", b"\x1b[=c", b"\x1b[5n", b"\x1b[6n", b"\x1b[?6n", b"\x1b[>q", b"\x1b[?1$p", b"\x1b[21t"),
    *(
        b"\x1b]10;?\x07",
        b"\x1b]11;?\x1b\\",
        b"\x1b]4;1;?\x07",
        b"\x1bP$qm\x1b\\",
        b"\x1bP+q544e\x1b\\",
        b"\x1bZ",
        b"\x05",
    ),
    *(b"\x1b]52;c;?\x07", b"\x1b[?u", b"\x1b_Gi=1,a=q;AAAA\x1b\\"),
]
SHELL_MARKS = [b"133;A", b"133;D;0", b"133;C;cmdline=x", b"633;E;ls;nonce", b"7;file:///tmp", b"7770;end;0", b"0;title"]

payloads = st.binary(max_size=24) | st.sampled_from(SHELL_MARKS) | st.text(max_size=8).map(lambda text: text.encode())
parameters = st.text("0123456789;:?!>=$ ", max_size=8).map(str.encode)
csi = st.builds(
    lambda head, middle, last: head + middle + last,
    st.sampled_from([b"\x1b[", b"\x9b"]),
    parameters,
    st.binary(min_size=1, max_size=1),
)
strings = st.builds(
    lambda head, middle, last: head + middle + last, st.sampled_from(INTRODUCERS), payloads, st.sampled_from(ENDS)
)
escapes = st.builds(lambda byte: b"\x1b" + byte, st.binary(min_size=1, max_size=2))
floods = st.builds(
    lambda byte, count: byte * count, st.binary(min_size=1, max_size=2), st.sampled_from([3, 9, 70, 300])
)
texts = st.text(max_size=12).map(lambda text: text.encode("utf-8", "surrogatepass"))
pieces = st.one_of(
    texts, st.binary(max_size=6), st.sampled_from([b"\r\n", b"\n", b"\r"]), csi, strings, escapes, floods,
    st.sampled_from(QUERIES),
)  # fmt: skip
streams = st.lists(pieces, max_size=20).map(b"".join)
cuts = st.lists(st.floats(0, 1), max_size=12)


def split_chunks(data: bytes, cut_fractions: list[float]) -> list[bytes]:
    """Return the same bytes in chunks, some of them empty."""
    places = [0, *sorted(int(cut * len(data)) for cut in cut_fractions), len(data)]
    return [data[start:end] for start, end in pairwise(places)]
