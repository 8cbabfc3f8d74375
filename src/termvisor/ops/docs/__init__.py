"""Generate the reference pages, JSON Schemas, TypeScript types and shell completions from declarations."""
