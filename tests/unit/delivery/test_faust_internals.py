"""The internals of faust-streaming and aiokafka that streams/delivery replaces or relies on.

An upgrade that changes one of them fails here, and the message names the file of streams/delivery to look at. When what
changed does not matter to us, put the new hash or signature down; the failure prints it.
"""

import hashlib
import inspect
import re
from functools import cached_property as stdlib_cached_property
from importlib import import_module
from importlib.metadata import version
from typing import Any

import pytest

# Ours stand in for these, or were written against their very text: hashes of their source.
READ = (
    (
        "consumer_thread.py",
        "faust.transport.drivers.aiokafka:AIOKafkaConsumerThread._create_worker_consumer",
        "c2701bfc3e6f6cad",
    ),
    ("consumer.py", "faust.transport.consumer:Consumer._drain_messages", "44a2500309e83c63"),
    ("consumer.py", "faust.transport.consumer:Consumer.verify_all_partitions_active", "4e0e46f5c297305d"),
    ("consumer.py", "faust.transport.consumer:Consumer._filter_tps_with_pending_acks", "f6f9239774234e7e"),
    ("consumer.py", "faust.transport.consumer:Consumer._new_offset", "1d2c7ea89a7ad4f1"),
    ("consumer.py", "faust.transport.consumer:Consumer.on_partitions_revoked", "d04b7ae72c6fc206"),
    ("consumer.py", "faust.transport.drivers.aiokafka:Consumer._new_consumer_thread", "0870ec53dea75083"),
    ("consumer.py", "faust.transport.consumer:Consumer.force_commit", "cc094614d22c70fb"),
    ("consumer.py", "faust.transport.consumer:Consumer._commit_tps", "a20e230b05ae8b15"),
    ("consumer_thread.py", "mode.threads:QueueServiceThread.call_thread", "479edda75b54734b"),
    ("consumer_thread.py", "aiokafka.consumer.fetcher:Fetcher.fetched_records", "be4348896b9b66af"),
    ("consumer_thread.py", "aiokafka.consumer.subscription_state:SubscriptionState.fetch_context", "ff2a654dca239cfe"),
    ("consumer_thread.py", "aiokafka.consumer.group_coordinator:GroupCoordinator.check_errors", "ba6ca51ad34838d9"),
    (
        "consumer_thread.py",
        "aiokafka.consumer.group_coordinator:GroupCoordinator._push_error_to_user",
        "743ff515bd7e2e38",
    ),
    (
        "consumer_thread.py",
        "aiokafka.consumer.subscription_state:TopicPartitionState.has_valid_position",
        "ebe7c39d949a1f18",
    ),
    ("consumer_thread.py", "aiokafka.consumer.subscription_state:TopicPartitionState.consumed_to", "c7b8f0f99ce9185e"),
    ("consumer_thread.py", "aiokafka.consumer.subscription_state:TopicPartitionState.seek", "c20b56d7ba7b2872"),
    ("consumer_thread.py", "aiokafka.consumer.fetcher:FetchResult.getall", "3e717e30de5068d5"),
    ("consumer_thread.py", "aiokafka.consumer.fetcher:FetchResult.check_assignment", "b5340df67e3f330f"),
    ("lenient_parser.py", "aiokafka.consumer.fetcher:Fetcher._proc_fetch_request", "59bf948fff47eed5"),
    ("lenient_parser.py", "aiokafka.consumer.fetcher:PartitionRecords._unpack_records", "b803e6d46480732c"),
    ("lenient_parser.py", "aiokafka.record.default_records:_DefaultRecordBatchPy._read_msg", "0997ab7a58505c93"),
    ("lenient_parser.py", "aiokafka.record.default_records:_DefaultRecordBatchPy.__next__", "d05784bae3cbcfb9"),
    (
        "lenient_parser.py",
        "aiokafka.record.default_records:_DefaultRecordBatchPy._maybe_uncompress",
        "c9d0dc2bed50cc86",
    ),
    ("lenient_parser.py", "aiokafka.record.memory_records:_MemoryRecordsPy.next_batch", "f1779ecb6d0d344c"),
    ("recovery.py", "faust.tables.recovery:Recovery._restart_recovery", "6bd8a8558a2dffe4"),
    ("recovery.py", "faust.tables.recovery:Recovery._slurp_changelogs", "7825c7e50f766d5a"),
    ("recovery.py", "faust.tables.recovery:Recovery._publish_stats", "48939a846a9af3a6"),
    ("recovery.py", "faust.tables.recovery:Recovery._resume_streams", "d986a6710c1aca98"),
    ("recovery.py", "faust.tables.recovery:Recovery.on_recovery_completed", "6ef567acf072e46d"),
    ("recovery.py", "faust.tables.manager:TableManager.recovery", "f0bf5de78b4c3d23"),
    ("recovery.py", "faust.tables.manager:TableManager.on_start", "365dd25fbc0e0684"),
    ("recovery.py", "faust.tables.recovery:Recovery.on_rebalance", "aa4d997a1795ceae"),
    ("recovery.py", "faust.tables.manager:TableManager._update_channels", "88e3941facc934d6"),
    ("app.py", "faust.app.base:App._stop_consumer", "55854a5de12c3f52"),
    ("app.py", "faust.app.base:App._on_rebalance_when_stopped", "1b172d9af8ff4eb6"),
    ("app.py", "faust.app.base:App._on_partitions_revoked", "d5c895bbe57dc73a"),
    ("app.py", "faust.app.base:App._on_partitions_assigned", "de932b7927db85b3"),
    ("consumer_thread.py", "faust.transport.drivers.aiokafka:AIOKafkaConsumerThread._commit", "932852ce7a23f658"),
    (
        "consumer_thread.py",
        "faust.transport.drivers.aiokafka:AIOKafkaConsumerThread.on_thread_stop",
        "8dfc004e258b6c25",
    ),
    ("batch.py", "faust.serializers.schemas:Schema.loads_key", "9adc30303f20915c"),
    ("batch.py", "faust.serializers.schemas:Schema.loads_value", "61a4628b4e0966e6"),
    ("changelog.py", "aiokafka:AIOKafkaProducer.send_batch", "bf42b0f0c5c0646d"),
    ("changelog.py", "aiokafka:AIOKafkaProducer.commit_transaction", "c7f9677c89413f97"),
)

# These are called or overridden: names and defaults of their parameters.
CALLED = (
    (
        "consumer_thread.py",
        "faust.transport.drivers.aiokafka:AIOKafkaConsumerThread._create_worker_consumer",
        "self, transport",
    ),
    ("consumer_thread.py", "faust.transport.drivers.aiokafka:AIOKafkaConsumerThread._commit", "self, offsets"),
    ("app.py", "faust.app.base:App._on_rebalance_when_stopped", "self"),
    ("consumer.py", "faust.transport.consumer:Consumer._drain_messages", "self, fetcher"),
    ("consumer.py", "faust.transport.consumer:Consumer._filter_tps_with_pending_acks", "self, topics=None"),
    ("consumer.py", "faust.transport.consumer:Consumer._new_offset", "self, tp"),
    ("consumer.py", "faust.transport.consumer:Consumer.on_partitions_revoked", "self, revoked"),
    ("consumer.py", "faust.transport.drivers.aiokafka:Consumer._new_consumer_thread", "self"),
    ("consumer.py", "faust.transport.consumer:Consumer.force_commit", "self, topics=None, start_new_transaction=True"),
    ("consumer.py", "faust.transport.consumer:Consumer._commit_tps", "self, tps, start_new_transaction"),
    ("consumer_thread.py", "mode.threads:QueueServiceThread.call_thread", "self, fun, *args, **kwargs"),
    (
        "consumer_thread.py",
        "aiokafka.consumer.fetcher:Fetcher.fetched_records",
        "self, partitions, timeout=0, max_records=None",
    ),
    ("consumer_thread.py", "aiokafka.consumer.fetcher:Fetcher.end_offsets", "self, partitions, timeout_ms"),
    ("consumer_thread.py", "aiokafka.consumer.subscription_state:SubscriptionState.fetch_context", "self"),
    ("lenient_parser.py", "aiokafka.consumer.subscription_state:TopicPartitionState.has_valid_position", "self"),
    ("consumer_thread.py", "aiokafka.consumer.subscription_state:TopicPartitionState.consumed_to", "self, position"),
    ("consumer_thread.py", "aiokafka.consumer.subscription_state:TopicPartitionState.seek", "self, position"),
    ("consumer.py", "faust.transport.consumer:Consumer._commit_offsets", "self, offsets, start_new_transaction=True"),
    ("consumer.py", "faust.transport.consumer:Consumer._get_active_partitions", "self"),
    ("consumer.py", "faust.transport.consumer:ThreadDelegateConsumer.earliest_offsets", "self, *partitions"),
    ("consumer.py", "faust.transport.consumer:ConsumerThread.on_partitions_revoked", "self, revoked"),
    ("consumer.py", "faust.transport.consumer:Consumer.resume_flow", "self"),
    ("consumer.py", "faust.transport.consumer:Consumer.stop_flow", "self"),
    ("consumer.py", "faust.transport.consumer:Fetcher._fetcher", "self"),
    ("consumer_thread.py", "faust.transport.drivers.aiokafka:AIOKafkaConsumerThread._ensure_consumer", "self"),
    ("consumer_thread.py", "faust.transport.drivers.aiokafka:server_list", "urls, default_port"),
    (
        "consumer_thread.py",
        "faust.transport.drivers.aiokafka:credentials_to_aiokafka_auth",
        "credentials=None, ssl_context=None",
    ),
    ("consumer.py", "mode.services:Service.wait_first", "self, *coros, timeout=None"),
    ("consumer.py", "mode.services:Service.sleep", "self, n"),
    ("consumer_thread.py", "aiokafka.consumer.subscription_state:Assignment.state_value", "self, tp"),
    ("consumer.py", "aiokafka:AIOKafkaConsumer.seek", "self, partition, offset"),
    ("consumer.py", "aiokafka:AIOKafkaConsumer.pause", "self, *partitions"),
    ("consumer.py", "aiokafka:AIOKafkaConsumer.committed", "self, partition"),
    (
        "consumer_thread.py",
        "aiokafka.client:AIOKafkaClient.send",
        "self, node_id, request, group=<ConnectionGroup.DEFAULT: 0>",
    ),
    ("consumer_thread.py", "aiokafka.client:AIOKafkaClient.force_metadata_update", "self"),
    ("consumer_thread.py", "aiokafka.cluster:ClusterMetadata.leader_for_partition", "self, partition"),
    (
        "consumer_thread.py",
        "aiokafka.protocol.offset:OffsetRequest",
        "replica_id, isolation_level, topics",
    ),
    (
        "lenient_parser.py",
        "aiokafka.consumer.fetcher:PartitionRecords",
        "tp, records, aborted_transactions, fetch_offset, key_deserializer, value_deserializer, check_crcs, isolation_level",
    ),
    (
        "lenient_parser.py",
        "aiokafka.protocol.fetch:FetchRequest",
        "max_wait_time, min_bytes, max_bytes, isolation_level, topics, rack_id=''",
    ),
    (
        "lenient_parser.py",
        "aiokafka.record.default_records:_DefaultRecordPy",
        "offset, timestamp, timestamp_type, key, value, headers",
    ),
    ("lenient_parser.py", "aiokafka.record.memory_records:_MemoryRecordsPy", "bytes_data"),
    ("lenient_parser.py", "aiokafka.record.util:decode_varint", "buffer, pos=0"),
    ("recovery.py", "faust.tables.recovery:Recovery._restart_recovery", "self"),
    ("recovery.py", "faust.tables.recovery:Recovery._slurp_changelogs", "self"),
    ("recovery.py", "faust.tables.recovery:Recovery._publish_stats", "self"),
    ("recovery.py", "faust.tables.manager:TableManager.recovery", "self"),
    ("recovery.py", "faust.tables.manager:TableManager.on_start", "self"),
    (
        "recovery.py",
        "faust.tables.recovery:Recovery.on_rebalance",
        "self, assigned, revoked, newly_assigned, generation_id=0",
    ),
    ("recovery.py", "faust.tables.manager:TableManager._update_channels", "self"),
    ("recovery.py", "faust.tables.recovery:Recovery.signal_recovery_start", "self"),
    ("recovery.py", "faust.tables.recovery:Recovery._set_recovery_started", "self"),
    ("recovery.py", "faust.tables.recovery:Recovery._set_recovery_ended", "self"),
    ("recovery.py", "faust.tables.recovery:Recovery._is_changelog_tp", "self, tp"),
    ("recovery.py", "faust.tables.manager:TableManager.on_actives_ready", "self"),
    ("recovery.py", "faust.tables.manager:TableManager.on_standbys_ready", "self"),
    ("recovery.py", "faust.app.base:App.on_rebalance_end", "self"),
    ("recovery.py", "faust.transport.consumer:ThreadDelegateConsumer.assignment", "self"),
    ("recovery.py", "faust.transport.consumer:Consumer.resume_partitions", "self, tps"),
    ("recovery.py", "mode.services:Service.wait_for_stopped", "self, *coros, timeout=None"),
    ("recovery.py", "mode.services:Service.maybe_start", "self"),
    ("app.py", "faust.app.base:App._stop_consumer", "self"),
    ("app.py", "faust.app.base:App.crash", "self, reason"),
    ("app.py", "faust.app.base:App.on_stop", "self"),
    ("app.py", "faust.app.base:App._on_partitions_revoked", "self, revoked"),
    ("app.py", "faust.app.base:App.on_rebalance_start", "self"),
    ("batch.py", "faust.serializers.schemas:Schema.loads_key", "self, app, message, loads=None, serializer=None"),
    ("batch.py", "faust.serializers.schemas:Schema.loads_value", "self, app, message, loads=None, serializer=None"),
    ("changelog.py", "aiokafka:AIOKafkaProducer.send_batch", "self, batch, topic, partition"),
    ("changelog.py", "aiokafka:AIOKafkaProducer.commit_transaction", "self"),
    ("changelog.py", "aiokafka:AIOKafkaProducer.create_batch", "self"),
    ("changelog.py", "aiokafka:AIOKafkaProducer.send_offsets_to_transaction", "self, offsets, group_id"),
    ("changelog.py", "aiokafka:AIOKafkaProducer.begin_transaction", "self"),
)

# These are read or set on instances.
ATTRIBUTES = {
    ("consumer.py", "faust.transport.drivers.aiokafka:Consumer"): (
        "flow_active",
        "can_resume_flow",
        "suspend_flow",
        "callback",
        "app",
        "_buffered_partitions",
        "_committed_offset",
        "_thread",
        "consumer_stopped_errors",
    ),
    ("consumer.py", "aiokafka:AIOKafkaConsumer"): ("_closed", "_fetcher", "_subscription", "_max_poll_records"),
    ("consumer_thread.py", "aiokafka.consumer.fetcher:Fetcher"): ("_closed",),
    ("publisher.py", "aiokafka.producer.message_accumulator:MessageAccumulator"): ("_exception",),
    ("producers.py", "aiokafka.producer.message_accumulator:MessageAccumulator"): ("fail_all",),
    ("producers.py", "aiokafka.client:AIOKafkaClient"): ("_md_update_fut",),
    ("lenient_parser.py", "aiokafka.consumer.fetcher:Fetcher"): (
        "_check_crcs",
        "_fetch_max_bytes",
        "_fetch_max_wait_ms",
        "_fetch_min_bytes",
        "_isolation_level",
        "_max_partition_fetch_bytes",
        "_records",
    ),
    ("lenient_parser.py", "aiokafka:AIOKafkaConsumer"): ("_client", "_fetcher", "_max_poll_records", "_subscription"),
    ("lenient_parser.py", "aiokafka.consumer.fetcher:PartitionRecords"): ("next_fetch_offset",),
    ("lenient_parser.py", "aiokafka.record.default_records:_DefaultRecordBatchPy"): ("_buffer", "_pos"),
    ("lenient_parser.py", "aiokafka.record.memory_records:_MemoryRecordsPy"): ("_next_slice",),
    ("lenient_parser.py", "aiokafka.consumer.subscription_state:TopicPartitionState"): ("_position",),
    ("recovery.py", "faust.tables.recovery:Recovery"): ("completed", "tables", "_generation_id"),
    ("recovery.py", "faust.tables.manager:TableManager"): ("_recovery",),
    ("app.py", "faust.app.base:App"): (
        "_consumer",
        "_fetcher",
        "assignor",
        "consumer_generation_id",
        "flow_control",
        "in_recovery",
        "on_rebalance_complete",
        "rebalancing",
    ),
}


def found(path: str) -> Any:
    """The function behind a dotted name: `module:Class.method`."""
    module, _, name = path.partition(":")
    value: Any = import_module(module)
    for part in name.split("."):
        value = inspect.getattr_static(value, part)
    return unwrapped(value)


def unwrapped(value: Any) -> Any:
    """Without the property, service task or transition around it."""
    for inner in ("fget", "fun", "__func__", "__wrapped__"):
        if not isinstance(value, stdlib_cached_property) and callable(getattr(value, inner, None)):
            return unwrapped(getattr(value, inner))
    return value


def source_hash(path: str) -> str:
    return hashlib.sha256(inspect.getsource(found(path)).encode()).hexdigest()[:16]


def parameters(path: str) -> str:
    """Without annotations, which each Python version prints in its own way."""
    bare = inspect.Parameter.empty
    listed = inspect.signature(found(path)).parameters.values()
    return ", ".join(str(parameter.replace(annotation=bare)) for parameter in listed)


def source_of(owner: type) -> str:
    try:
        return inspect.getsource(owner)
    except TypeError:  # written in C
        return ""


def look_at(ours: str, what: str) -> str:
    return f"{what}: read what changed, and check {ours} in streams/delivery or streams/kafka, which depends on it"


def test_the_pinned_versions_are_installed():
    assert version("faust-streaming") == "0.15.3", look_at("README.md", "another faust-streaming")
    assert version("aiokafka").startswith("0.14."), look_at("README.md", "another aiokafka")


@pytest.mark.parametrize(("ours", "path", "known"), READ)
def test_the_source_of_replaced_library_functions_is_unchanged(ours, path, known):
    assert source_hash(path) == known, look_at(ours, f"the source of {path} is {source_hash(path)} now")


@pytest.mark.parametrize(("ours", "path", "known"), CALLED)
def test_the_parameters_of_called_library_functions_are_unchanged(ours, path, known):
    assert parameters(path) == known, look_at(ours, f"{path} takes ({parameters(path)}) now")


@pytest.mark.parametrize(
    ("ours", "path", "name"), [(ours, path, name) for (ours, path), names in ATTRIBUTES.items() for name in names]
)
def test_attributes_used_on_library_instances_exist(ours, path, name):
    module, _, owner = path.partition(":")
    classes = getattr(import_module(module), owner).__mro__[:-1]
    there = any(hasattr(each, name) or re.search(rf"self\.{name}\b", source_of(each)) for each in classes)
    assert there, look_at(ours, f"{path} has no {name}")
