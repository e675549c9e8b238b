-- How often a namespace was asked for context blocks, searches and reads, day by day, and how often that found something.
-- depends: 041_conversation_list

-- migrate: apply
CREATE TABLE retrieval_counts (
    namespace text   NOT NULL,
    day       date   NOT NULL,
    operation text   NOT NULL CHECK (operation IN ('context', 'search', 'read')),
    asked     bigint NOT NULL,
    found     bigint NOT NULL,
    PRIMARY KEY (namespace, day, operation)
);

-- migrate: rollback
DROP TABLE retrieval_counts;
