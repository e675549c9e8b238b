"""The administration views in a browser, over fakes: message trails, consolidation, retention, replay, policies, keys,
audit."""

import re

from msgspec.structs import replace
from playwright.async_api import expect

from agents.consolidation.requests import manual_run
from agents.replay.comparison import Difference
from agents.retention.sweeper import manual_sweep
from schemas.codec import encode
from schemas.consolidation.retention import RetentionStatistics
from schemas.consolidation.runs import RunRequest
from schemas.conversations.messages import Scope
from schemas.kafka.records import Outgoing
from schemas.policies.policies import Policies, Policy
from schemas.replay.generations import Generation, Plan
from sinks.access.audit import Audited
from tests.api import NOON, Api, a_memory
from tests.builders.trails import SAID, a_change, a_trail, an_extraction
from tests.fakes.letter_topic import LetterRecord
from tests.fakes.windows import a_state
from tests.integration.panel.panel import Panel

OF_ALL = "?ns=app%2Fada"
ATTACK = "<img src=x onerror='window.attacked = 1'>"
GENERATION = Generation(
    generation_id="0a1b2c3d",
    plan=Plan(until=NOON, policies=Policies(), namespaces="*"),
    status="ready",
    created_at=NOON,
    changed_at=NOON,
)


def a_message(api: Api, text: str = SAID) -> None:
    api.archive.say("talk", *[("user", f"Turn {n}.") for n in range(1, 5)], app_id="app", user_id="ada")
    api.trails.known["talk", "talk-3"] = a_trail(an_extraction(), changes=(a_change(text=text),))


async def much_done(api: Api) -> None:
    """Something in every part."""
    a_message(api)
    dry = manual_run(RunRequest(namespace="app/ada", dry_run=True), ("app/ada",), "the operator", NOON)
    api.runs.put(replace(dry, run_id="r1", status="completed", error=ATTACK))
    kept = RetentionStatistics(policy="app", days=30, messages=50, pruned=7)
    api.sweeps.by_id["s1"] = replace(manual_sweep(True, ATTACK, NOON), policies=(kept,), status="completed")
    old, new = a_memory("old", text="User lives in Ghent."), a_memory("new", text=ATTACK)
    api.replays.put(GENERATION, app_ada=[Difference(fate="lost", before=old), Difference(fate="added", after=new)])
    done = Audited(at=NOON, actor=ATTACK, action="policy.put", subject="app", details={"policy": {"name": "app"}})
    await api.audit.record(done)


async def test_a_reader_of_a_conversation_sees_the_timeline_of_a_message(panel: Panel):
    a_message(panel.api)
    tab = await panel.signed_in(f"/follow{OF_ALL}", read="app/*")
    await tab.page.get_by_label("Id of the conversation").fill("talk")
    await tab.page.get_by_label("Id of the message").fill("talk-3")
    await tab.page.keyboard.press("Enter")
    steps = tab.page.locator(".trail > li")
    await expect(steps.first).to_contain_text("Archived")
    await expect(tab.page.locator(".trail")).to_contain_text("claude / claude-haiku")
    await expect(tab.page.locator(".trail")).to_contain_text("+2.8 s")
    await expect(steps.filter(has_text=SAID)).to_contain_text("published")
    await expect(steps.filter(has_text="confidence below 0.3")).to_contain_text("Dropped")
    assert "message=talk-3" in tab.page.url
    assert await tab.serious_findings() == []


async def test_the_timeline_shows_the_time_of_each_step_and_the_trace_of_the_first(panel: Panel):
    a_message(panel.api)
    trace = "0af7651916cd43dd8448eb211c80319c"
    headers = (("traceparent", f"00-{trace}-b7ad6b7169203331-01".encode()),)
    millis = int(NOON.timestamp() * 1_000)
    panel.api.letter_topic.others.append(
        LetterRecord(
            topic="chat.messages", partition=0, offset=3, key=b"talk", value=b"{}", headers=headers, timestamp=millis
        )
    )
    address = f"/follow{OF_ALL}&conversation=talk&message=talk-3"
    tab = await panel.signed_in(address, context={"timezone_id": "UTC"}, read="app/*")
    steps = tab.page.locator(".trail > li")
    await expect(steps.first.locator(".step-facts > div")).to_have_text(["Recordchat.messages[0]@3", f"Trace{trace}"])
    await expect(steps.first.locator("time")).to_have_text(re.compile("2 Mar 2026.*12:00"))
    offsets = (0, 0.4, 1, 3, 3.1, 3.2, 4)
    await expect(tab.page.locator(".offset")).to_have_text([re.compile(rf"^\+{each} s") for each in offsets])
    times = await steps.locator("time").evaluate_all("(all) => all.map((each) => Date.parse(each.dateTime))")
    assert times == [millis + each * 1_000 for each in offsets]


async def test_a_dry_run_is_requested_and_its_preview_shown(panel: Panel):
    tab = await panel.signed_in(f"/operations/consolidation{OF_ALL}", admin="*")
    await tab.page.get_by_role("button", name="Dry run").click()
    await expect(tab.page.get_by_text("No results yet.")).to_be_visible()
    (run,) = panel.api.runs.by_id.values()
    assert (run.dry_run, run.namespaces) == (True, ())
    await tab.page.get_by_role("button", name="Run", exact=True).press("Enter")
    await (await tab.dialog()).get_by_role("button", name="Run").press("Enter")
    await expect(tab.page.get_by_text("The run starts within seconds")).to_be_visible()
    assert len(panel.api.runs.by_id) == 2


async def test_a_generation_is_compared_side_by_side_cut_over_and_undone(panel: Panel):
    await much_done(panel.api)
    tab = await panel.signed_in(f"/operations/replay{OF_ALL}", admin="*")
    await expect(tab.page.locator(".operations")).to_contain_text("0a1b2c3d")
    await tab.page.get_by_role("button", name="Compare").click()
    sides = tab.page.locator(".sides")
    await expect(sides.locator("del")).to_have_text("User lives in Ghent.")
    await expect(sides.locator("ins")).to_have_text(ATTACK)
    assert await tab.serious_findings() == []
    await tab.page.get_by_role("button", name="Cut over").click()
    await tab.page.get_by_role("alertdialog").get_by_role("button", name="Cut over").click()
    await expect(tab.page.get_by_role("button", name="Undo the cutover")).to_be_visible()
    await tab.page.get_by_role("button", name="Undo the cutover").click()
    await tab.page.get_by_role("alertdialog").get_by_role("button", name="Undo the cutover").click()
    await expect(tab.page.get_by_text("Undone")).to_be_visible()


async def test_a_key_is_made_shown_once_and_revoked(panel: Panel):
    tab = await panel.signed_in(f"/operations/access{OF_ALL}", admin="*")
    await tab.page.get_by_label("Name", exact=True).fill("reader")
    await tab.page.get_by_label("Namespaces, * for any characters").fill("app/*")
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.locator(".token")).to_have_text("EXAMPLE-2")
    await tab.page.get_by_role("button", name="I have stored it").click()
    assert "EXAMPLE-2" not in await tab.page.content()
    row = tab.page.get_by_role("row").filter(has_text="reader")
    await row.get_by_role("button", name="Revoke").click()
    await tab.page.get_by_role("alertdialog").get_by_role("button", name="Revoke").click()
    await expect(row).to_contain_text("Revoked")
    await expect(tab.page.get_by_role("heading", name="Keys", exact=True)).to_be_focused()
    assert [(key.name, key.revoked_at is None) for key in panel.api.keys.by_token.values()] == [
        ("key 1", True),
        ("reader", False),
    ]


async def test_a_policy_is_edited_in_a_form_checked_and_saved(panel: Panel):
    scope = Scope(conversation_id="c", app_id="kitchen", user_id="ada")
    await panel.api.windows.project([a_state("c", scope=scope)])
    tab = await panel.signed_in(f"/operations/policies{OF_ALL}", admin="*")
    await tab.page.get_by_role("button", name="New, based on").click()
    await tab.page.get_by_role("menuitem", name="app-notes").click()
    await tab.page.get_by_label("Name", exact=True).fill("kitchen")
    form = tab.page.locator(".detail-card")
    await form.get_by_label("app_id").fill("kitchen")
    await form.get_by_label("max_memories").first.fill("0")
    await form.get_by_label("max_memories").first.press("Tab")
    await tab.page.get_by_role("button", name="Check").click()
    await expect(form.get_by_role("alert")).to_contain_text("max_memories")
    await form.get_by_label("max_memories").first.fill("25")
    await form.get_by_label("max_memories").first.press("Tab")
    await expect(form).to_contain_text("Live memories per namespace; beyond it two are merged or one is deleted")
    await tab.page.get_by_role("button", name="Check").click()
    await expect(form.get_by_role("status").last).to_contain_text("1 from default to kitchen")
    assert await tab.serious_findings() == []
    await tab.page.get_by_role("button", name="Save", exact=True).click()
    await tab.page.get_by_role("alertdialog").get_by_role("button", name="Save").click()
    await expect(form).to_contain_text("key 1")
    (put,) = [each for each in (await panel.api.policy_service.listed()).policies if each.policy.name == "kitchen"]
    assert (put.policy.max_memories, put.policy.match.app_id, put.origin) == (25, "kitchen", "topic")


async def test_records_that_are_no_valid_policy_are_listed_with_their_reason_and_can_be_removed(panel: Panel):
    broken = [Outgoing(topic="memory.policies", key=key, value=b"{") for key in (b"caf\xe9", b"kitchen")]
    kitchen = Outgoing(topic="memory.policies", key=b"kitchen", value=encode(Policy(name="kitchen")))
    await panel.api.policy_records.publish([kitchen, *broken])
    tab = await panel.signed_in(f"/operations/policies{OF_ALL}", admin="*")
    invalid = tab.page.get_by_role("region", name="Records that are no valid policy and are ignored")
    await expect(invalid.get_by_role("listitem")).to_have_count(2)
    await expect(invalid).to_contain_text(r"a record of 'caf\xe9' at offset 1 is ignored")
    assert await tab.serious_findings() == []
    await invalid.get_by_role(
        "button", name="Remove"
    ).click()  # one: the other would remove the policy that applies, too
    await tab.page.get_by_role("alertdialog").get_by_role("button", name="Remove").click()
    await expect(invalid.get_by_role("listitem")).to_have_count(1)
    assert panel.api.policy_records.records[-1][-2:] == (b"caf\xe9", None)
    await tab.sign_in_anew(panel.api.keys.add(read="*"), f"/operations/policies{OF_ALL}")
    await expect(invalid.get_by_role("listitem")).to_have_count(1)
    await expect(invalid.get_by_role("button")).to_have_count(0)


async def test_a_read_only_key_sees_no_buttons_that_change_anything(panel: Panel):
    await much_done(panel.api)
    tab = await panel.signed_in(f"/operations/policies/app{OF_ALL}", read="*")
    await expect(tab.page.get_by_label("max_memories").first).to_be_disabled()
    await expect(tab.page.locator(".notice").first).to_contain_text("not from the topic")
    acts = re.compile(
        "^(Save|Remove|Run|Dry run|Sweep now|Cut over|Undo the cutover|Create|Revoke|Load into the form)$"
    )
    for section in ("policies/app", "consolidation", "retention", "replay", "access"):
        await tab.go(f"/operations/{section}", ns="app%2Fada")
        await expect(tab.page.locator(".section-nav")).to_be_visible()
        await expect(tab.page.get_by_role("button", name=acts)).to_have_count(0)
    await expect(tab.page.get_by_text("Only keys that may administer all namespaces")).to_be_visible()
    await expect(tab.page.get_by_role("link", name="Keys and audit")).to_have_count(0)


async def test_the_audit_filter_by_action_is_part_of_the_url(panel: Panel):
    await much_done(panel.api)
    made = Audited(at=NOON, actor="the operator", action="key.created", subject="k1", details={})
    await panel.api.audit.record(made)
    tab = await panel.signed_in(f"/operations/access{OF_ALL}", admin="*")
    entries = tab.page.locator("[aria-label=Audit] tbody tr")
    await expect(entries).to_have_count(2)
    await tab.page.get_by_label("Action", exact=True).fill("key.created")
    await tab.page.get_by_label("Action", exact=True).press("Enter")
    await expect(entries).to_have_count(1)
    assert "action=key.created" in tab.page.url
    await tab.page.reload()  # as whoever gets the address sees it
    await expect(entries).to_have_count(1)
    await expect(entries).to_contain_text("key.created")
