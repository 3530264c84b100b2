-- What the schedule and people have set of a pull. Times are microseconds since 1970.
CREATE TABLE pulls (
    pull   text PRIMARY KEY NOT NULL,
    paused integer NOT NULL DEFAULT 0,
    spec   text NOT NULL DEFAULT '', -- the schedule that since belongs to
    since  integer,                  -- fires up to here are settled, made or not
    last   integer                   -- the last fire
) STRICT;

-- The jobs, which are the truth. river is the job of River that deals one out; 0: none yet.
CREATE TABLE jobs (
    id       integer PRIMARY KEY AUTOINCREMENT,
    pull     text NOT NULL,
    why      text NOT NULL,
    fire     integer,
    start    integer NOT NULL,
    fresh    integer NOT NULL DEFAULT 0,
    low      text NOT NULL DEFAULT '',
    high     text NOT NULL DEFAULT '',
    state    text NOT NULL DEFAULT 'waiting',
    stopping integer NOT NULL DEFAULT 0, -- it is to be cancelled
    created  integer NOT NULL,
    started  integer,
    ended    integer,
    leases   integer NOT NULL DEFAULT 0,
    run      text NOT NULL DEFAULT '',
    error    text NOT NULL DEFAULT '',
    river    integer NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX jobs_of_pull ON jobs (pull, id);
CREATE INDEX jobs_in_state ON jobs (state, id);
CREATE INDEX jobs_open ON jobs (pull, id) WHERE ended IS NULL;
CREATE UNIQUE INDEX jobs_of_fire ON jobs (pull, fire) WHERE fire IS NOT NULL;
