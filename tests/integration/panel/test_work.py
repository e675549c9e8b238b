"""Consolidation, retention and replay in a browser, over fakes: outcomes, requested sweeps, long histories."""

from datetime import timedelta

import pytest
from msgspec.structs import replace
from playwright.async_api import Locator, expect

from agents.consolidation.requests import manual_run
from agents.replay.comparison import Difference
from agents.retention.sweeper import manual_sweep
from schemas.consolidation.retention import RetentionStatistics
from schemas.consolidation.runs import Finding, RunRequest, Scheduled
from schemas.policies.policies import Policies
from schemas.policies.triggers import Schedule
from schemas.replay.generations import Generation, Plan
from tests.api import NOON, a_memory
from tests.integration.panel.panel import Opened, Panel

OF_ALL = "?ns=app%2Fada"
IN_UTC = {"timezone_id": "UTC"}
KEPT = RetentionStatistics(policy="app", days=30, messages=50, held=2, pruned=7)
A_RUN = manual_run(RunRequest(namespace="app/ada"), ("app/ada",), "the operator", NOON)


def rows(tab: Opened, table: str) -> Locator:
    return tab.page.locator(f"[aria-label='{table}'] tbody tr")


async def test_counting_needs_no_confirmation_and_a_sweep_requires_one(panel: Panel):
    tab = await panel.signed_in(f"/operations/retention{OF_ALL}", admin="*")
    sweeps = panel.api.sweeps.by_id
    await tab.page.get_by_role("button", name="Count what would be deleted").click()
    await expect(tab.page.get_by_text("Counting starts within seconds")).to_be_visible()
    (counted,) = sweeps.values()
    assert counted.dry_run
    await expect(rows(tab, "Retention sweeps")).to_contain_text("Waiting only counted")
    sweeps[counted.sweep_id] = replace(counted, status="completed", policies=(KEPT,), usage=1, prunings=3)
    await tab.page.reload()
    counts = "app: 7 older than 30 days would be deleted, 2 held back, 50 in all"
    await expect(rows(tab, "Retention sweeps")).to_contain_text(counts)
    records = "1 record of model calls and 3 of prunings would be deleted"
    await expect(rows(tab, "Retention sweeps")).to_contain_text(records)

    panel.api.now += timedelta(minutes=1)
    await tab.page.get_by_role("button", name="Sweep now").click()
    dialog = tab.page.get_by_role("alertdialog")
    await dialog.get_by_role("button", name="Cancel").click()
    assert len(sweeps) == 1
    await tab.page.get_by_role("button", name="Sweep now").click()
    await dialog.get_by_role("button", name="Sweep now").click()
    await expect(tab.page.get_by_text("The sweep starts within seconds")).to_be_visible()
    (swept,) = [each for each in sweeps.values() if each.sweep_id != counted.sweep_id]
    assert not swept.dry_run
    sweeps[swept.sweep_id] = replace(swept, status="completed", policies=(KEPT,), usage=20)
    await tab.page.reload()
    await expect(rows(tab, "Retention sweeps").first).to_contain_text("app: 7 deleted, 2 held back, 50 in all")
    await expect(rows(tab, "Retention sweeps").first).not_to_contain_text("only counted")
    records = "20 records of model calls and 0 of prunings deleted"
    await expect(rows(tab, "Retention sweeps").first).to_contain_text(records)


async def test_a_completed_run_shows_its_outcome_cost_and_next_due_time(panel: Panel):
    outcome = {"conversations": 16, "processed": 14, "created": 9, "reinforced": 3, "superseded": 2}
    outcome |= {"merged": 4, "dropped": 5, "failed_requests": 1}
    panel.api.runs.put(replace(A_RUN, status="completed", tokens=41_250, cost_micros=1_230_000, **outcome))
    due = NOON + timedelta(hours=15)
    schedule = Schedule(at="03:00", weekdays=("mon", "thu"), time_zone="Europe/Lisbon")
    panel.api.runs.scheduled = [
        Scheduled(policy="app", schedule=schedule, next_due=due),
        Scheduled(policy="new", schedule=Schedule(at="04:00"), next_due=due),
    ]
    begun = {"policy": "app", "trigger": "schedule", "due_at": NOON - timedelta(days=1), "error": "no model answered"}
    panel.api.runs.put(
        replace(
            A_RUN,
            run_id="last",
            status="failed",
            created=4,
            merged=1,
            dropped=2,
            failed_requests=3,
            cost_micros=20_000,
            **begun,
        )
    )
    tab = await panel.signed_in(f"/operations/consolidation{OF_ALL}", context=IN_UTC, read="*")
    run = rows(tab, "Consolidation runs").filter(has_text="Completed")
    for column, value in {
        "By": "the operator",
        "State": "Completed",
        "Conversations": "14 / 16",
        "Created": "9",
        "Said again": "3",
        "Merged": "4",
        "Replaced": "2",
        "Dropped": "5",
        "Failed requests": "1",
        "Tokens": "41,250",
        "Cost": "US$1.23",
    }.items():
        await expect(run.locator(f"td[data-name='{column}']").last).to_have_text(value)
    known, new = rows(tab, "Schedules").nth(0), rows(tab, "Schedules").nth(1)
    await expect(known.locator("td[data-name=Policy]")).to_have_text("app")
    await expect(known.locator("td[data-name=Schedule]")).to_have_text("03:00, Mon, Thu (Europe/Lisbon)")
    await expect(known.locator("td[data-name=Next]")).to_contain_text("3 Mar 2026")
    await expect(known.locator("td[data-name=Next]")).to_contain_text("03:00")
    done = "4 created, 0 said again, 1 merged, 0 replaced, 2 dropped, US$0.02"
    for value in ("Failed", "1 Mar 2026", done, "3 requests failed.", "no model answered"):
        await expect(known.locator("td[data-name='Last run']")).to_contain_text(value)
    await expect(new.locator("td[data-name=Schedule]")).to_have_text("04:00, every day (UTC)")
    await expect(new.locator("td[data-name='Last run']")).to_have_text("none yet")


async def test_all_findings_of_a_dry_run_can_be_read(panel: Panel):
    dry = replace(A_RUN, run_id="dry", dry_run=True, status="completed")
    panel.api.runs.put(dry)
    panel.api.runs.found["dry"] = [
        Finding(
            namespace="app/ada", conversation_id="c", result="created", kind="fact", text=f"Finding {number}.",
            message_ids=(), number=number,
        )
        for number in range(1, 451)
    ]  # fmt: skip
    tab = await panel.signed_in(f"/operations/consolidation{OF_ALL}", read="*")
    await rows(tab, "Consolidation runs").get_by_role("button", name="Preview").click()
    preview = tab.page.get_by_role("region", name="Preview")
    for shown in (200, 400):
        await expect(preview.locator(".findings li")).to_have_count(shown)
        await expect(preview).to_contain_text(f"The first {shown} are shown.")
        await preview.get_by_role("button", name="Show more").click()
    await expect(preview.locator(".findings li")).to_have_count(450)
    await expect(preview.locator(".findings li").last).to_contain_text("Finding 450.")
    await expect(preview.get_by_role("button", name="Show more")).to_have_count(0)


@pytest.mark.parametrize(
    ("part", "table", "lengths"),
    [("consolidation", "Consolidation runs", (50, 100, 120)), ("retention", "Retention sweeps", (20, 40, 45))],
)
async def test_a_long_history_is_read_to_its_end(panel: Panel, part: str, table: str, lengths: tuple[int, ...]):
    for number in range(120):
        panel.api.runs.put(replace(A_RUN, run_id=f"r{number:03}", status="completed"))
    for number in range(45):
        panel.api.sweeps.by_id[f"s{number}"] = replace(manual_sweep(True, "ada", NOON), sweep_id=f"s{number:02}")
    tab = await panel.signed_in(f"/operations/{part}{OF_ALL}", read="*")
    more = tab.page.get_by_role("button", name="Show more")
    await expect(more).to_be_visible()
    assert await tab.serious_findings() == []
    for length in lengths:
        await expect(rows(tab, table)).to_have_count(length)
        if length < lengths[-1]:
            await more.click()
    await expect(more).to_have_count(0)


async def test_differences_not_yet_compared_are_announced_and_loaded_on_request(panel: Panel):
    """The first 500 are the same: without that, it would seem that nothing changes."""
    same = [Difference(fate="same", before=a_memory(f"m{n}"), after=a_memory(f"m{n}")) for n in range(500)]
    added = Difference(fate="added", after=a_memory("new", text="User keeps bees."))
    tab = await compared(panel, *same, added)
    await expect(tab.page.get_by_text("The first 500 memories are compared; there are more.")).to_be_visible()
    await expect(tab.page.get_by_text("Nothing would change here")).to_have_count(0)
    await tab.page.get_by_role("button", name="Show more").click()
    await expect(tab.page.locator(".sides ins")).to_have_text("User keeps bees.")
    await expect(tab.page.get_by_role("button", name="Show more")).to_have_count(0)


async def test_a_memory_changed_by_a_replay_is_shown_with_both_values(panel: Panel):
    before = a_memory("old", text="User lives in Ghent.", importance=0.5, tags=("home",), language="en")
    moved = replace(before, memory_id="new", text="User lives in Bruges.")
    weighed = replace(before, memory_id="weighed", importance=0.72, tags=("home", "city"), language="nl")
    tab = await compared(
        panel,
        Difference(fate="changed", before=before, after=moved, fields=("text",)),
        Difference(fate="changed", before=before, after=weighed, fields=("tags", "language", "importance")),
    )
    text, fields = tab.page.locator(".sides tbody tr").nth(0), tab.page.locator(".sides tbody tr").nth(1)
    await expect(text.locator("del")).to_have_text("Ghent")
    await expect(text.locator("ins")).to_have_text("Bruges")
    await expect(fields.locator("dl > div")).to_have_text(
        ["Tagshome → home, city", "Languageen → nl", "Importance5 → 7.2"]
    )
    assert await tab.serious_findings() == []


async def compared(panel: Panel, *differences: Difference) -> Opened:
    """The differences of a generation, opened."""
    plan = Plan(until=NOON, policies=Policies(), namespaces="*")
    generation = Generation(generation_id="g1", plan=plan, status="ready", created_at=NOON, changed_at=NOON)
    panel.api.replays.put(generation, app_ada=[*differences])
    tab = await panel.signed_in(f"/operations/replay{OF_ALL}", read="*")
    await tab.page.get_by_role("button", name="Compare").click()
    return tab
