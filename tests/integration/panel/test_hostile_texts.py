"""Whatever a chat user can write is shown as text: it runs nothing, loads nothing and leads nowhere."""

from urllib.parse import quote

import pytest
from playwright.async_api import expect

from schemas.extraction.candidates import Source
from tests.api import NOON, a_memory
from tests.integration.panel.panel import Panel

ATTACKS = (
    "<script>window.attacked = 1</script>",
    "<img src=x onerror='window.attacked = 1'>",
    "<svg onload=window.attacked=1><a href='javascript:window.attacked=1'>press</a></svg>",
    "</textarea><iframe srcdoc='<script>parent.attacked = 1</script>'></iframe>",
    "${window.attacked=1}{{constructor.constructor('window.attacked=1')()}}",
    "javascript:window.attacked=1//\"'><style>*{display:none}</style>",
)


@pytest.mark.parametrize("attack", ATTACKS, ids=range(len(ATTACKS)))
async def test_a_text_that_attacks_is_shown_as_it_was_written(panel: Panel, attack: str):
    source = Source(conversation_id=attack, message_id=f"{attack}-1", timestamp=NOON)
    panel.api.archive.say(attack, ("user", attack), app_id="app", user_id="ada", name=attack)
    fields = {"kind": attack, "tags": (attack,), "context": attack, "full_text": attack, "created_by": attack}
    panel.api.memories.put(a_memory("m1", text=attack, sources=(source,), **fields))
    panel.api.said.say(attack, at=NOON, speaker=attack)
    tab = await panel.signed_in("/memories?ns=app%2Fada", write="app/*")
    await expect(tab.rows.first).to_contain_text(attack)
    await tab.rows.first.click()
    await expect(tab.page.locator(".message.source")).to_contain_text(attack)
    await tab.page.get_by_role("button", name="Edit", exact=True).click()
    await expect(tab.page.get_by_label("What is to be remembered")).to_have_value(attack)
    await tab.page.keyboard.press("Escape")
    await tab.go(ns="app%2Fada", q=quote(attack, safe=""), **{"in": "said"})
    await expect(tab.page.locator(".row.said").first).to_contain_text(attack)
    await tab.go(ns=quote(attack, safe=""))
    await expect(tab.page.get_by_text("This key may not see that.").first).to_be_visible()
    assert await tab.page.evaluate("window.attacked") is None
    assert await tab.page.locator("a[href^='javascript:'], iframe, img").count() == 0
