-- Consolidation runs, the schedules that they follow, what dry runs found, sweeps of the archive, and who of all workers leads.
-- depends: 018_rebuilds

-- migrate: apply
-- One row a role: who holds it until when. Whoever acts in the role locks its row, so that no two do at a time.
CREATE TABLE leaders (
    role  text        PRIMARY KEY,
    owner text        NOT NULL,
    until timestamptz NOT NULL
);

INSERT INTO leaders (role, owner, until) VALUES ('scheduler', '', '-infinity');

-- When each policy with a schedule is due next. A moment that passed while nobody led is still there.
CREATE TABLE consolidation_schedules (
    policy   text        PRIMARY KEY,
    schedule jsonb       NOT NULL,
    next_due timestamptz NOT NULL
);

-- At most one of policy, namespace and conversation_id; without any it is about everything. `namespaces` are those whose readers
-- may see it, empty for who may read all.
CREATE TABLE consolidation_runs (
    run_id          text        PRIMARY KEY,
    trigger         text        NOT NULL CHECK (trigger IN ('schedule', 'hand')),
    status          text        NOT NULL CHECK (status IN ('pending', 'running', 'completed', 'failed')),
    dry_run         boolean     NOT NULL,
    lane            text        NOT NULL CHECK (lane IN ('live', 'background')),
    policy          text,
    namespace       text,
    conversation_id text,
    namespaces      text[]      NOT NULL,
    most            integer,
    asked_by        text        NOT NULL,
    due_at          timestamptz NOT NULL,
    missed          integer     NOT NULL,
    created_at      timestamptz NOT NULL,
    started_at      timestamptz,
    finished_at     timestamptz,
    conversations   integer     NOT NULL DEFAULT 0,
    processed       integer     NOT NULL DEFAULT 0,
    requests        integer     NOT NULL DEFAULT 0,
    failed_requests integer     NOT NULL DEFAULT 0,
    created         integer     NOT NULL DEFAULT 0,
    reinforced      integer     NOT NULL DEFAULT 0,
    merged          integer     NOT NULL DEFAULT 0,
    superseded      integer     NOT NULL DEFAULT 0,
    dropped         integer     NOT NULL DEFAULT 0,
    tokens          bigint      NOT NULL DEFAULT 0,
    cost_micros     bigint      NOT NULL DEFAULT 0,
    providers       text[]      NOT NULL DEFAULT '{}',
    models          text[]      NOT NULL DEFAULT '{}',
    error           text,
    lease_owner     text,
    lease_until     timestamptz
);

CREATE UNIQUE INDEX consolidation_runs_by_moment ON consolidation_runs (policy, due_at) WHERE trigger = 'schedule';
CREATE INDEX consolidation_runs_by_time ON consolidation_runs (created_at, run_id);
CREATE INDEX consolidation_runs_by_namespace ON consolidation_runs USING gin (namespaces);
CREATE INDEX consolidation_runs_open ON consolidation_runs (created_at) WHERE status IN ('pending', 'running');

-- What of each conversation a run is about: what waited, from one position to another, when it began. No words of anybody.
CREATE TABLE consolidation_conversations (
    run_id          text        NOT NULL REFERENCES consolidation_runs ON DELETE CASCADE,
    conversation_id text        NOT NULL,
    partition       integer     NOT NULL,
    first_position  bigint      NOT NULL,
    last_position   bigint      NOT NULL,
    asked_at        timestamptz,
    done_at         timestamptz,
    requests        integer     NOT NULL DEFAULT 0,
    failed_requests integer     NOT NULL DEFAULT 0,
    created         integer     NOT NULL DEFAULT 0,
    reinforced      integer     NOT NULL DEFAULT 0,
    merged          integer     NOT NULL DEFAULT 0,
    superseded      integer     NOT NULL DEFAULT 0,
    dropped         integer     NOT NULL DEFAULT 0,
    tokens          bigint      NOT NULL DEFAULT 0,
    cost_micros     bigint      NOT NULL DEFAULT 0,
    providers       text[]      NOT NULL DEFAULT '{}',
    models          text[]      NOT NULL DEFAULT '{}',
    PRIMARY KEY (run_id, conversation_id, partition)
);

CREATE INDEX consolidation_conversations_open ON consolidation_conversations (conversation_id, partition)
    WHERE done_at IS NULL;
CREATE INDEX consolidation_conversations_unasked ON consolidation_conversations (run_id)
    WHERE done_at IS NULL AND asked_at IS NULL;

-- What a dry run says would become of memories. These are users' words: erasing a namespace takes its own.
CREATE TABLE consolidation_findings (
    run_id          text    NOT NULL REFERENCES consolidation_runs ON DELETE CASCADE,
    number          bigint  GENERATED ALWAYS AS IDENTITY,
    namespace       text    NOT NULL,
    conversation_id text    NOT NULL,
    result          text    NOT NULL,
    kind            text    NOT NULL,
    text            text    NOT NULL,
    memory_id       text,
    known           text,
    reason          text,
    message_ids     text[]  NOT NULL,
    PRIMARY KEY (run_id, number)
);

CREATE INDEX consolidation_findings_by_namespace ON consolidation_findings (namespace);

-- Sweeps of the archive: by policy, what was there, what was old enough, and what left. A page of conversations at a time, behind
-- the one at `conversation_id` and `partition`; whoever takes a page locks the row.
CREATE TABLE retention_sweeps (
    sweep_id    text        PRIMARY KEY,
    trigger     text        NOT NULL CHECK (trigger IN ('schedule', 'hand')),
    status      text        NOT NULL CHECK (status IN ('pending', 'running', 'completed', 'failed')),
    dry_run     boolean     NOT NULL,
    asked_by    text        NOT NULL,
    created_at  timestamptz NOT NULL,
    finished_at timestamptz,
    policies    jsonb       NOT NULL DEFAULT '[]',
    usage       bigint      NOT NULL DEFAULT 0,
    prunings    bigint      NOT NULL DEFAULT 0,
    conversation_id text,
    partition       integer
);

CREATE INDEX retention_sweeps_by_time ON retention_sweeps (created_at, sweep_id);

CREATE INDEX windows_kept ON windows (conversation_id, partition) WHERE phase <> 'forgotten';
CREATE INDEX window_prunings_by_time ON window_prunings (at);
CREATE INDEX model_usage_by_request ON model_usage (request_id) WHERE request_id IS NOT NULL;

-- migrate: rollback
DROP INDEX model_usage_by_request;
DROP INDEX window_prunings_by_time;
DROP INDEX windows_kept;
DROP TABLE retention_sweeps;
DROP TABLE consolidation_findings;
DROP TABLE consolidation_conversations;
DROP TABLE consolidation_runs;
DROP TABLE consolidation_schedules;
DROP TABLE leaders;
