"""The panel's files are served without a key, with their security policy, and nothing else of the disk."""

import gzip
import re

import pytest

from agents.api.panel.files import files
from tests.api import Api

SCRIPT = max((name for name in files() if name.endswith(".js")), key=lambda name: len(files()[name].plain))


@pytest.mark.parametrize("path", ["/", f"/{SCRIPT}"])
async def test_panel_files_are_served_without_a_key_and_with_a_content_security_policy(api: Api, path: str):
    answer = await api.client().get(path)
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_the_page_is_revalidated_by_etag_and_its_files_are_cached_as_immutable(api: Api):
    page = await api.client().get("/")
    assert page.headers["cache-control"] == "no-cache"
    linked = re.findall(r'(?:src|href)="\./(panel/[^"]+)"', page.text)
    assert {name.rsplit(".")[-1] for name in linked} == {"css", "js", "svg"}
    for name in linked:
        assert "immutable" in (await api.client().get(f"/{name}")).headers["cache-control"]
        assert re.search(r"-[\w-]{8}\.\w+$", name), "a name without a hash of the content would be kept for ever"
    again = await api.client().get("/", headers={"If-None-Match": page.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


async def test_panel_files_are_gzipped_for_clients_that_accept_it(api: Api):
    async with api.client().stream("GET", f"/{SCRIPT}", headers={"Accept-Encoding": "gzip"}) as answer:
        packed = b"".join([part async for part in answer.aiter_raw()])
    plain = await api.client().get(f"/{SCRIPT}", headers={"Accept-Encoding": "identity"})
    assert gzip.decompress(packed) == plain.content
    assert len(packed) < len(plain.content) / 2


@pytest.mark.parametrize(
    "path", ["/panel/none.js", "/panel/../files.py", "/panel/%2e%2e/files.py", "/panel/", "/panel"]
)
async def test_no_path_serves_a_file_outside_the_panel(api: Api, path: str):
    assert (await api.client().get(path)).status_code == 404


async def test_the_panel_page_allows_only_get_and_head_and_does_not_shadow_other_routes(api: Api):
    refused = await api.client().post("/")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")
    assert (await api.client().head("/")).status_code == 200
    assert (await api.client().get("/v1/memories")).status_code == 401
    assert (await api.client().get("/health/live")).json() == {"status": "ok"}
    assert (await api.client(read="*").get("/v1/nothing")).headers["content-type"] == "application/problem+json"
