"""Signals become states.

In go facts in the order in which they were stored (`model.runtime.Fact`), out come states with their evidence.

The way of a signal: `knowledge` takes it, `admission` says whether it may be heard, `binding` finds whose it is,
`ledger` drops what is doubled or late and keeps what its source last said.

The way of a question: `witness` says what each source is worth at an instant, `resolver` picks the one to believe,
`projection` publishes what changed, `explain` tells why. Who needs a person is `model.attention`.

Everything here is a function of values. The same facts and the same instant always give the same answer.
"""
