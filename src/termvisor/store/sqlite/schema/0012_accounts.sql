-- What is known of accounts that the config file declares. Who they are and how they log in is never in here.
CREATE TABLE account (
    service TEXT NOT NULL,
    name TEXT NOT NULL,
    last_used_at INTEGER,
    in_use INTEGER NOT NULL DEFAULT 0,
    checked_at INTEGER,
    trouble TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (service, name)
) WITHOUT ROWID;
-- New agents of a service run under one account.
CREATE UNIQUE INDEX account_in_use ON account (service) WHERE in_use = 1;

-- One allowance of an account: a window of hours that refills (rate) or an amount that does not (credits).
CREATE TABLE account_usage (
    service TEXT NOT NULL,
    name TEXT NOT NULL,
    span TEXT NOT NULL,
    usage_type TEXT NOT NULL,
    most REAL,
    current REAL,
    percent_remaining REAL,
    resets_at INTEGER,
    checked_at INTEGER NOT NULL,
    source TEXT NOT NULL,
    PRIMARY KEY (service, name, span)
) WITHOUT ROWID;
