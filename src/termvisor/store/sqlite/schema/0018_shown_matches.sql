-- The rule matches that the last screen sample of an epoch showed, so that the next daemon knows which are new.
ALTER TABLE epoch ADD COLUMN shown_matches BLOB NOT NULL DEFAULT x'';
