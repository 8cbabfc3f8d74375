"""Adapters: one package for each supported agent program. `adapter.py` is the contract, `loader.py` finds them."""
