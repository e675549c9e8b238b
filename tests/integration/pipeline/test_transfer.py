"""Export and import by the API and the command line, with a running curator."""

import json
from pathlib import Path
from typing import Any

import httpx

from tests.chaos.workers import ApiProcess
from tests.deployment import eventually

LINES = 300
NDJSON = {"Content-Type": "application/x-ndjson"}


async def test_imported_memories_are_exported_completely_and_imported_again_unchanged(deploy: Any, tmp_path: Path):
    deployment = await deploy("transfer")
    await deployment.worker(stages=["curation"])
    api = ApiProcess("api", deployment.settings, tmp_path)
    api.start()
    try:
        await api.wait_ready()
        async with httpx.AsyncClient(base_url=api.ready_text, timeout=60) as client:

            async def live(namespace: str, count: int) -> bool:
                body = (await client.get("/v1/statistics", params={"namespace": namespace})).json()
                return body["live"] == count and await deployment.count("outbox") == 0

            said = [
                {"text": f"User owns thing number {number}", "kind": "fact", "tags": [f"t{number % 3}"]}
                for number in range(LINES)
            ]
            content = "".join(json.dumps(each) + "\n" for each in said) + "no memory\n"
            there = {"namespace": "app/ada"}
            report = (await client.post("/v1/import", params=there, content=content, headers=NDJSON)).json()
            assert (report["lines"], report["accepted"], report["rejected"]) == (LINES + 1, LINES, 1)
            await eventually(lambda: live("app/ada", LINES), "all lines are memories")
            first = (await client.get("/v1/export", params=there)).text
            assert len(first.splitlines()) == LINES
            both = NDJSON | {"Accept": "application/x-ndjson"}
            progress = (await client.post("/v1/import", params=there, content=first, headers=both)).text.splitlines()
            *_, done, again = [json.loads(line) for line in progress]
            assert (done["accepted"], done["carried_out"], again["accepted"]) == (LINES, LINES, LINES)
            where = f"/v1/commands/import:{again['import_id']}:{LINES}"
            assert (await client.get(where, params=there)).json()["status"] == "accepted"
            assert (await client.get("/v1/export", params=there)).text == first, "nothing changed"
            preset = (await client.get("/v1/presets/app-notes")).json() | {"name": "notes", "match": {"app_id": "app"}}
            assert (await client.put("/v1/policies/notes", json=preset)).status_code == 201

            async def governed() -> bool:
                settings = (await client.get("/v1/settings", params={"namespace": "app"})).json()
                return bool(settings["name"] == "notes")

            await eventually(governed, "the policy applies without a restart")
            assert (await client.get("/v1/usage")).json()["tokens"] == 0
    finally:
        await api.stop()
