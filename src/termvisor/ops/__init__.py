"""Operations: everything Termvisor can do, one module each, in `ops/<topic>/`.

A front end passes words or JSON to `api.dispatch`, which calls the operation with its services and renders the result.
Read `api/operation.py` first. Modules with a leading underscore are helpers.
"""
