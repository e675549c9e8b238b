"""Dead letters over HTTP."""

from agents.dead_letters.writer import MAX_COPIED_BYTES
from schemas.kafka import topics
from tests.api import Api

LETTERS = "/v1/dead-letters"
SECRET = b'{"content": "my key is sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"}'


async def test_dead_letters_are_listed_newest_first_with_counts_of_waiting_ones(api: Api):
    places = [api.letter_topic.add_letter(reason=reason) for reason in ("invalid", "undecodable", "invalid")]
    client = api.client(read="*")
    first = (await client.get(LETTERS, params={"limit": 2})).json()
    assert [each["letter"] for each in first["letters"]] == places[:0:-1]
    rest = (await client.get(LETTERS, params={"limit": 2, "cursor": first["next"]})).json()
    assert [each["letter"] for each in rest["letters"]] == places[:1]
    assert rest["waiting"] == [
        {"stage": "windows", "reason": "invalid", "letters": 2},
        {"stage": "windows", "reason": "undecodable", "letters": 1},
    ]
    only = (await client.get(LETTERS, params={"reason": "undecodable"})).json()
    assert [each["letter"] for each in only["letters"]] == [places[1]]


async def test_a_dead_letter_is_shown_with_credentials_scrubbed(api: Api):
    place = api.letter_topic.add_letter(SECRET)
    shown = (await api.client(read="*").get(f"{LETTERS}/{place}")).json()
    assert "sk-ant" not in shown["value"]
    assert (shown["scrubbed"], shown["source"]["topic"], shown["key"]) == (1, topics.MESSAGES, "c")
    assert (await api.client(read="*").get(f"{LETTERS}/0:99")).status_code == 404
    assert (await api.client(read="*").get(f"{LETTERS}/nonsense")).status_code == 422


async def test_replaying_a_dead_letter_publishes_the_original_record_and_is_audited(api: Api):
    place = api.letter_topic.add_letter(SECRET)
    for rights in ({"read": "*"}, {"write": "*"}, {"admin": "app/*"}):
        assert (await api.client(**rights).post(f"{LETTERS}/replay", json={"letters": [place]})).status_code == 403
    assert api.letter_topic.published == []
    client = api.client(admin="*")
    done = (await client.post(f"{LETTERS}/replay", json={"letters": [place]})).json()
    assert done["outcomes"] == [{"letter": place, "status": "replayed", "error": None}]
    assert [(record.topic, record.value) for record in api.letter_topic.published] == [(topics.MESSAGES, SECRET)]
    assert [(row.action, row.details) for row in api.audit.rows] == [("dead_letters.replayed", {"letters": [place]})]
    assert (await client.get(LETTERS)).json()["letters"] == []
    assert [each["status"] for each in (await client.get(LETTERS, params={"status": "any"})).json()["letters"]] == [
        "replayed"
    ]
    assert (await client.post(f"{LETTERS}/replay", json={"letters": [place]})).status_code == 409
    again = await client.post(f"{LETTERS}/replay", json={"letters": [place], "again": True})
    assert again.json()["outcomes"][0]["status"] == "replayed"


async def test_a_dead_letter_that_cannot_be_replayed_fails_without_stopping_the_others(api: Api):
    gone = api.letter_topic.add_letter(b"x" * (MAX_COPIED_BYTES + 1))
    odd = api.letter_topic.add_letter(topic="somebody.elses")
    good = api.letter_topic.add_letter()
    done = await api.client(admin="*").post(f"{LETTERS}/replay", json={"letters": [gone, odd, good]})
    assert [each["status"] for each in done.json()["outcomes"]] == ["failed", "failed", "replayed"]
    assert (await api.client(admin="*").post(f"{LETTERS}/replay", json={"letters": ["0:77"]})).status_code == 404


async def test_a_discarded_dead_letter_stays_in_the_topic_but_no_longer_waits(api: Api):
    place = api.letter_topic.add_letter()
    client = api.client(admin="*")
    assert (await client.post(f"{LETTERS}/discard", json={"letters": [place]})).json()["outcomes"][0][
        "status"
    ] == "discarded"
    assert api.letter_topic.published == []
    assert (await client.get(LETTERS)).json()["letters"] == []


async def test_replaying_is_refused_while_the_audit_log_is_down(api: Api):
    place = api.letter_topic.add_letter()
    api.audit.down = True
    assert (await api.client(admin="*").post(f"{LETTERS}/replay", json={"letters": [place]})).status_code == 503
    assert api.letter_topic.published == []


async def test_dead_letters_are_read_from_the_topic_once_and_dropped_when_the_topic_deletes_them(api: Api):
    api.letter_topic.add_letter()
    api.letter_topic.add_letter()
    client = api.client(read="*")
    for _ in range(3):
        await client.get(LETTERS)
    assert api.letter_topic.read == 2
    api.letter_topic.first = 1
    assert [each["letter"] for each in (await client.get(LETTERS)).json()["letters"]] == ["0:1"]
