"""Valid and invalid policy files, and their error messages."""

from pathlib import Path

import pytest

from deploy.policies.files import preset, presets, read_files
from deploy.policies.yaml_text import documents, to_yaml
from schemas.errors import Misconfigured
from schemas.policies.matching import Match
from schemas.policies.policies import Policy


@pytest.fixture
def file(tmp_path: Path):
    def make(text: str, name: str = "p.yaml") -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return make


def test_a_policy_file_may_contain_one_policy_a_list_or_several_documents(file):
    one = file("name: one\nmatch: {app_id: notes}\ntriggers:\n  schedule: {at: 12:30}\n")
    (found,) = read_files([one])
    assert found.policy.match == Match(app_id="notes")
    assert found.policy.triggers.schedule is not None and found.policy.triggers.schedule.at == "12:30"
    listed = file('[{"name": "two"}, {"name": "three", "version": 4}]', "list.json")
    apart = file("# nothing\n---\nname: four\n---\nname: five\n", "apart.yaml")
    found = read_files([one, listed, apart])
    assert [each.policy.name for each in found] == ["one", "two", "three", "four", "five"]
    assert [each.version for each in found] == [None, None, 4, None, None]
    assert [Path(each.origin).name for each in found] == [
        *("p.yaml:1", "list.json:1", "list.json:1", "apart.yaml:3", "apart.yaml:5")
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: a\nmax_text_chars: 5\n", ":2: max_text_chars is 5: should be a whole number >= 20"),
        ("name: a\nmin_confidence: 1.5\n", ":2: min_confidence is 1.5: should be a number <= 1.0"),
        ("name: a\nshare_wait_s: 1.0e+12\n", ":2: share_wait_s is 1000000000000.0: should be a number <= 3600.0"),
        ("name: a\nextract: yes\n", ":2: extract is 'yes': should be true or false, got text"),
        (
            "name: a\nstyle: poem\n",
            ":2: style is 'poem': should be one of by_mode, neutral, support, coding, companion",
        ),
        ("name: a\ntriggers:\n  on_ended: true\n", ":3: triggers.on_ended: no such field, did you mean on_end?"),
        ("name: a\nmatch: {user: x}\n", ":2: match.user: no such field; there are tenant_id, app_id, agent_id, mode"),
        ("name: a\nkinds: [x, {name: y, descr: z}]\n", ":2: kinds[1].descr: no such field, did you mean description?"),
        ("name: a\nkinds: [3]\n", ":2: kinds[0] is 3: should be text or fields, got a whole number"),
        ("name: a\nkinds: [x, X]\n", ":1: kinds has 'x' more than once: name each kind once"),
        (
            "name: a\n\nnamespaces: ['{app}']\n",
            "namespaces[0] is '{app}' ('app'): name fields of a conversation: {conv",
        ),
        ("name: a\nwindow:\n  min_recent: 60\n", ":2: window: max_messages is 50 and must be at least min_recent (60)"),
        (
            "name: a\ntriggers:\n  schedule: {at: 02:00, time_zone: Mars}",
            "time_zone 'Mars' is not known: name one like",
        ),
        (
            "name: a\ntriggers:\n  schedule:\n    at: 25:00",
            ":4: triggers.schedule.at is '25:00': should be text matching",
        ),
        ("match: {}\n", ":1: object missing required field `name`: add it"),
        ("just words\n", ":1: 'just words' is no policy: write its fields, beginning with `name: ...`"),
        ("name: a\nname: b\n", ":2: not YAML: duplicate key name: mend the line"),
        ("name: a\n  b: [\n", ":2: not YAML: mapping values are not allowed here"),
        ("name: !!python/object/apply:os.getcwd []\n", ":1: not YAML: could not determine a constructor for the tag"),
        ("", ": holds no policy: write at least `name: ...`"),
    ],
)
def test_an_error_in_a_policy_file_is_one_line_with_place_value_and_remedy(file, text, said):
    path = file(text)
    with pytest.raises(Misconfigured) as raised:
        read_files([path])
    (line,) = str(raised.value).splitlines()
    assert line.startswith(str(path)) and said in line


def test_all_errors_in_several_files_are_reported_one_per_line(file):
    wrong = file("- name: a\n  extract: 1\n- name: b\n  nme: 2\n"), file("name: [", "broken.yaml")
    with pytest.raises(Misconfigured) as raised:
        read_files([*wrong, wrong[0].with_name("gone.yaml")])
    lines = str(raised.value).splitlines()
    assert [line.rpartition("/")[2].split(":")[0] for line in lines] == ["p.yaml", "p.yaml", "broken.yaml", "gone.yaml"]


def test_two_policies_of_one_name_are_refused(file):
    with pytest.raises(Misconfigured, match=r"b\.yaml:1: .*a\.yaml:1 has a policy 'same' too: rename one of them"):
        read_files([file("name: same", "a.yaml"), file("name: same", "b.yaml")])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("off", "off"),
        ("12:30", "12:30"),
        ("2026-01-01", "2026-01-01"),
        ("007", 7),
        ("1_000", "1_000"),
        ("0.5", 0.5),
        ("1e3", 1000.0),
        ("true", True),
        ("~", None),
    ],
)
def test_plain_yaml_scalars_follow_the_core_schema(text, value):
    (document,) = documents(f"[{text}]")
    assert document.value == [value] and type(document.value[0]) is type(value)


def test_values_survive_writing_and_reading_yaml():
    value = {
        "name": "no",
        "at": "12:30",
        "long": "word " * 60,
        "kinds": [{"icon": "🐕", "n": None}],
        "f": 1.0,
        "one": "1",
    }
    (document,) = documents(to_yaml(value))
    assert document.value == value


def test_every_preset_is_a_valid_policy_with_its_own_name():
    assert list(presets()) == ["agent-longterm", "app-notes", "chat-window", "companion", "session-insights"]
    assert [each.policy.name for each in read_files(presets().values())] == list(presets())
    with pytest.raises(Misconfigured, match="no preset is called 'none'; the presets are agent-longterm, app-notes"):
        preset("none")


def test_presets_match_every_conversation_by_default():
    assert {each.policy.match for each in read_files(presets().values())} == {Policy(name="p").match}


def test_three_presets_keep_statements_of_the_assistant_and_none_lets_models_delete():
    shipped = {each.policy.name: each.policy for each in read_files(presets().values())}
    assert {name for name, each in shipped.items() if each.attributed} == {
        "agent-longterm",
        "app-notes",
        "session-insights",
    }
    assert [name for name, each in shipped.items() if each.note] == ["app-notes"]
    assert "experience" in shipped["agent-longterm"].kinds
    assert not any(each.delete_tool for each in (Policy(name="default"), *shipped.values()))
