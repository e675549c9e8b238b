-- What the pipeline does right now: how each worker finds the providers of models, and which calls to models are under way.
-- depends: 039_kinds

-- migrate: apply
CREATE TABLE provider_states (
    worker    text        NOT NULL,
    provider  text        NOT NULL,
    breaker   text,
    available boolean     NOT NULL,
    at        timestamptz NOT NULL,
    PRIMARY KEY (worker, provider)
);
CREATE INDEX extractions_under_way ON extractions (lease_until) WHERE answer IS NULL AND lease_until IS NOT NULL;

-- migrate: rollback
DROP INDEX extractions_under_way;
DROP TABLE provider_states;
