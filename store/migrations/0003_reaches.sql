-- Store version 3: the reach of sources, as runs met it.
--
-- Tables
--   reaches      one row an address: the most items that it hands out at once

-- reaches: what a run met is used by the next ones that are cut into slices.
--   origin  scheme, host and port
--   path    of the address, without its query
--   reach   the most items that one query hands out
--   run     which run met it last
--   at      when that run ended
CREATE TABLE reaches (
  origin TEXT NOT NULL,
  path   TEXT NOT NULL,
  reach  INTEGER NOT NULL,
  run    TEXT NOT NULL,
  at     TEXT NOT NULL,
  PRIMARY KEY (origin, path)
) STRICT, WITHOUT ROWID;
