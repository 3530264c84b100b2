-- Store version 2: fan-out and incremental runs.
--
-- Tables
--   children     one row a value of a fan-out: which run drains it
--   marks        up to when incremental runs have everything

-- runs.since: of an incremental run the mark that it began with, kept over
-- resumes; NULL: none, or the run is not incremental.
ALTER TABLE runs ADD COLUMN since TEXT;

-- children: the values of a run that is a fan-out (for_each), in order, fixed
-- when it first had them.
--   n      the place in the list, from 1
--   value  what stands in the place of the placeholder
--   child  the id of the run that drains it; NULL: none has begun
CREATE TABLE children (
  run   TEXT NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
  n     INTEGER NOT NULL,
  value TEXT NOT NULL,
  child TEXT,
  PRIMARY KEY (run, n)
) STRICT, WITHOUT ROWID;

-- marks: up to when incremental runs have everything.
--   name         the pull's name
--   config_hash  of the config that it counts for; '': set by hand, for any
--                config of the name, and of the children of the name
--   mark         the start of the last COMPLETE run; NULL, by hand only: ask
--                for everything
--   run          which run that was; NULL: set by hand
--   at           when the row was written
CREATE TABLE marks (
  name        TEXT NOT NULL,
  config_hash TEXT NOT NULL,
  mark        TEXT,
  run         TEXT,
  at          TEXT NOT NULL,
  PRIMARY KEY (name, config_hash)
) STRICT, WITHOUT ROWID;
