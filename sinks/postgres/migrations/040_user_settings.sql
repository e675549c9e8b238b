-- What users choose for the contexts of their conversations. An empty tenant or app stands for any.
-- depends: 039_kinds

-- migrate: apply
CREATE TABLE user_settings (
    user_id   text        NOT NULL,
    tenant_id text        NOT NULL,
    app_id    text        NOT NULL,
    settings  jsonb       NOT NULL,
    at        timestamptz NOT NULL,
    PRIMARY KEY (user_id, tenant_id, app_id)
);

-- migrate: rollback
DROP TABLE user_settings;
