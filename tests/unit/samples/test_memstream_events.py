"""memstream reads the events that the sample file for chat services builds."""

from deploy.samples.memstream_events import chat_message, conversation_ended
from schemas.codec import decode_untrusted
from schemas.conversations.messages import ConversationEnded, Message


def test_a_built_message_is_a_message_event_with_the_conversation_as_its_key() -> None:
    topic, value, key = chat_message("c1", "user", "I keep bees.", message_id="m1", app_id="kitchen", user_id="ada")
    message = decode_untrusted(value, Message)
    assert (topic, key) == ("chat.messages", b"c1")
    assert (message.conversation_id, message.message_id, message.role) == ("c1", "m1", "user")
    assert (message.content, message.app_id, message.user_id) == ("I keep bees.", "kitchen", "ada")


def test_messages_without_an_id_get_ids_of_their_own() -> None:
    built = [decode_untrusted(chat_message("c1", "user", "Hi.")[1], Message) for _ in range(2)]
    assert built[0].message_id != built[1].message_id


def test_a_built_end_is_an_end_event_with_the_number_of_messages() -> None:
    topic, value, key = conversation_ended("c1", message_count=2, timestamp="2026-03-02T09:00:00+00:00")
    ended = decode_untrusted(value, ConversationEnded)
    assert (topic, key) == ("chat.conversations.ended", b"c1")
    assert (ended.conversation_id, ended.message_count, ended.timestamp.year) == ("c1", 2, 2026)
