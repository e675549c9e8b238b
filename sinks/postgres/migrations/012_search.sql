-- The words of memories, to be searched: what is erased of a memory is gone from the index with it, as nothing else holds it.
-- depends: 010_purges

-- migrate: apply
-- Without accents, with what joins words (v1.2, e-mail, a/b) taken as spaces, and each Chinese or Japanese character by itself.
CREATE FUNCTION search_words(said text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN
    regexp_replace(
        regexp_replace(
            normalize(regexp_replace(normalize(coalesce(said, ''), NFKD), '[\u0300-\u036f]', '', 'g'), NFC),
            '[\[\]._/@#:;&+=''’"<>~-]', ' ', 'g'),
        '([\u3040-\u30ff\u3400-\u9fff])', ' \1 ', 'g');

-- By which rules endings are taken off; English ones where the language is not said or has none.
CREATE FUNCTION search_language(language text) RETURNS regconfig
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN
    CASE split_part(lower(language), '-', 1)
        WHEN 'da' THEN 'pg_catalog.danish'::regconfig
        WHEN 'de' THEN 'pg_catalog.german'::regconfig
        WHEN 'es' THEN 'pg_catalog.spanish'::regconfig
        WHEN 'fi' THEN 'pg_catalog.finnish'::regconfig
        WHEN 'fr' THEN 'pg_catalog.french'::regconfig
        WHEN 'hu' THEN 'pg_catalog.hungarian'::regconfig
        WHEN 'it' THEN 'pg_catalog.italian'::regconfig
        WHEN 'nl' THEN 'pg_catalog.dutch'::regconfig
        WHEN 'no' THEN 'pg_catalog.norwegian'::regconfig
        WHEN 'pt' THEN 'pg_catalog.portuguese'::regconfig
        WHEN 'ro' THEN 'pg_catalog.romanian'::regconfig
        WHEN 'ru' THEN 'pg_catalog.russian'::regconfig
        WHEN 'sv' THEN 'pg_catalog.swedish'::regconfig
        WHEN 'tr' THEN 'pg_catalog.turkish'::regconfig
        ELSE 'pg_catalog.english'::regconfig
    END;

-- What a memory is found by: words of its text and tags, as they stand and without their endings; with a tilde those of what
-- stands beside it; its namespace behind a slash, so that one index holds both and no scan leaves the namespace. No word has a
-- tilde or a slash. At what it costs nobody should ever call it for every row: the index holds what it says.
CREATE FUNCTION searchable(namespace text, said text, tags text[], context text, full_text text, language text)
RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 10000 RETURN (
    SELECT CASE WHEN said = '' THEN ''::tsvector ELSE array_to_tsvector(
        ARRAY['/' || namespace]
        || tsvector_to_array(to_tsvector('pg_catalog.simple'::regconfig, strong) || to_tsvector(rules, strong))
        || CASE WHEN weak = '' THEN '{}' ELSE ARRAY(
            SELECT '~' || lexeme FROM unnest(tsvector_to_array(
                to_tsvector('pg_catalog.simple'::regconfig, weak) || to_tsvector(rules, weak)
            )) AS lexeme
        ) END
    ) END
    FROM (SELECT
        search_words(said || ' ' || coalesce(array_to_string(tags, ' '), '')) AS strong,
        CASE WHEN context IS NULL AND full_text IS NULL THEN '' ELSE search_words(concat_ws(' ', context, full_text)) END AS weak,
        search_language(language) AS rules
        OFFSET 0 -- otherwise each is made anew wherever it stands
    ) AS words
);

-- Written at once: words that wait in a list of their own are read whole by every search (100 ms of them at 100,000 memories).
CREATE INDEX memories_by_words ON memories
    USING gin (searchable(namespace, text, tags, context, full_text, language)) WITH (fastupdate = off);

-- migrate: rollback
DROP INDEX memories_by_words;
DROP FUNCTION searchable;
DROP FUNCTION search_language;
DROP FUNCTION search_words;
