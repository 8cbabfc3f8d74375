-- How far the files of an agent that lives are read, a row for each place; stored together with the facts that were
-- read there. It goes when the agent ends.
CREATE TABLE bookmark (
    runtime INTEGER NOT NULL,
    watch TEXT NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (runtime, watch)
) WITHOUT ROWID;
