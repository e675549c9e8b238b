"""The jar cache fetches, verifies, keeps and rejects files."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

import pytest

from deploy.embedded.errors import EmbeddedPartFailed
from deploy.embedded.jars import Jar, ensure
from deploy.embedded.kafka.jars import locked_jars


class Repository:
    """Hands out jars whose content is their coordinate, and counts."""

    def __init__(self) -> None:
        self.fetched: list[str] = []
        self._lock = Lock()

    def __call__(self, jar: Jar, staging: Path) -> Path:
        with self._lock:
            self.fetched.append(jar.coordinate)
        path = staging / jar.file_name
        path.write_text(jar.coordinate)
        return path


def jar(name: str, sha256: str | None = None) -> Jar:
    content = f"org.example:{name}:1.0".encode()
    return Jar("org.example", name, "1.0", "", sha256 or hashlib.sha256(content).hexdigest())


PART = "test"
JARS = [jar(name) for name in ("alpha", "beta", "gamma")]


def test_a_lock_line_is_read_with_and_without_a_classifier():
    assert Jar.parse("g:a:1.0 ff") == Jar("g", "a", "1.0", "", "ff")
    assert Jar.parse("g:a:1.0:natives ff").file_name == "a-1.0-natives.jar"


def test_the_shipped_lock_lists_kafka_and_its_tools_once_each():
    names = [f"{each.group}:{each.artifact}" for each in locked_jars()]
    assert len(names) == len(set(names))
    assert {"org.apache.kafka:kafka_2.13", "org.apache.kafka:kafka-tools"} <= set(names)
    assert {each.version for each in locked_jars() if each.group == "org.apache.kafka"} == {"4.1.1"}
    assert len({each.file_name for each in locked_jars()}) == len(names)


def test_missing_jars_are_fetched_and_their_files_keep_the_order_of_the_list(tmp_path: Path):
    seen = []
    files = ensure(PART, JARS, tmp_path, lambda *report: seen.append(report), Repository())
    assert files == [tmp_path / each.file_name for each in JARS]
    assert [done for done, _, _ in seen] == [1, 2, 3]
    assert {total for _, total, _ in seen} == {3}
    assert {name for _, _, name in seen} == {each.file_name for each in JARS}


def test_a_full_cache_needs_no_network(tmp_path: Path):
    ensure(PART, JARS, tmp_path, fetch=Repository())
    again = Repository()
    ensure(PART, JARS, tmp_path, fetch=again)
    assert again.fetched == []


def test_a_truncated_jar_in_the_cache_is_fetched_again(tmp_path: Path):
    ensure(PART, JARS, tmp_path, fetch=Repository())
    (tmp_path / JARS[1].file_name).write_text("org.ex")
    again = Repository()
    ensure(PART, JARS, tmp_path, fetch=again)
    assert again.fetched == [JARS[1].coordinate]
    assert (tmp_path / JARS[1].file_name).read_text() == JARS[1].coordinate


def test_a_jar_with_a_wrong_checksum_is_reported_with_both_checksums_and_not_kept(tmp_path: Path):
    wrong = jar("delta", sha256="0" * 64)
    with pytest.raises(EmbeddedPartFailed) as caught:
        ensure(PART, [*JARS, wrong], tmp_path, fetch=Repository())
    message = str(caught.value)
    assert "org.example:delta:1.0" in message
    assert "0" * 64 in message
    assert hashlib.sha256(b"org.example:delta:1.0").hexdigest() in message
    assert not (tmp_path / wrong.file_name).exists()


def test_a_failed_download_raises_a_single_line_with_the_jar_and_the_remedy(tmp_path: Path):
    def offline(_jar: Jar, _staging: Path) -> Path:
        raise ConnectionError("no route to host\nand much more")

    with pytest.raises(EmbeddedPartFailed) as caught:
        ensure(PART, JARS[:1], tmp_path, fetch=offline)
    message = str(caught.value)
    assert "org.example:alpha:1.0 could not be downloaded (no route to host)" in message
    assert str(tmp_path) in message
    assert "\n" not in message


def test_jars_downloaded_before_a_failure_are_kept(tmp_path: Path):
    with pytest.raises(EmbeddedPartFailed):
        ensure(PART, [JARS[0], jar("delta", sha256="0" * 64)], tmp_path, fetch=Repository())
    again = Repository()
    ensure(PART, JARS[:1], tmp_path, fetch=again)
    assert again.fetched == []


def test_concurrent_callers_download_each_jar_only_once(tmp_path: Path):
    repository = Repository()
    with ThreadPoolExecutor(4) as pool:
        paths = list(pool.map(lambda _: ensure(PART, JARS, tmp_path, fetch=repository), range(4)))
    assert all(each == paths[0] for each in paths)
    assert sorted(repository.fetched) == sorted(each.coordinate for each in JARS)


def test_no_temporary_download_files_remain_in_the_cache(tmp_path: Path):
    ensure(PART, JARS, tmp_path, fetch=Repository())
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {".lock"} | {name for each in JARS for name in (each.file_name, f"{each.file_name}.verified")}


def test_an_unwritable_cache_is_reported_with_a_remedy(tmp_path: Path):
    (tmp_path / "cache").write_text("a file where a directory belongs")
    with pytest.raises(EmbeddedPartFailed, match=r"test: the cache .*cache cannot be used .*Choose a directory"):
        ensure(PART, JARS, tmp_path / "cache", fetch=Repository())
