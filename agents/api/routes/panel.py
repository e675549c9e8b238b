"""The web panel at `/`: a page, scripts and styles that are the same for everybody. What it shows it asks `/v1` for."""

from typing import Annotated, Final

from fastapi import APIRouter, Header, Response

from agents.api.http.problems import not_found
from agents.api.panel.files import File, files

router = APIRouter(include_in_schema=False)

# Nothing inline, nothing from another host, and in no frame of another page.
POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "Vary": "Accept-Encoding",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
FOREVER: Final = "public, max-age=31536000, immutable"  # names of scripts and styles change with what is in them
ASK_AGAIN: Final = "no-cache"

Accepted = Annotated[str, Header(alias="accept-encoding")]
Known = Annotated[str, Header(alias="if-none-match")]


@router.api_route("/", methods=["GET", "HEAD"])
async def get_panel(accepted: Accepted = "", known: Known = "") -> Response:
    """The page. Views of the panel lie behind `#`, so that no address of one reaches a server or its log."""
    return served(files()["index.html"], ASK_AGAIN, accepted, known)


@router.api_route("/panel/{path:path}", methods=["GET", "HEAD"])
async def get_panel_file(path: str, accepted: Accepted = "", known: Known = "") -> Response:
    """A script, a style or a picture of the page."""
    found = files().get(f"panel/{path}")
    if found is None:
        raise not_found("the panel has no such file")
    return served(found, FOREVER if "-" in path else ASK_AGAIN, accepted, known)


def served(file: File, caching: str, accepted: str, known: str) -> Response:
    headers = HEADERS | {"Cache-Control": caching, "ETag": file.tag}
    if known == file.tag:
        return Response(status_code=304, headers=headers)
    if "gzip" not in accepted:
        return Response(file.plain, headers=headers, media_type=file.media_type)
    return Response(file.packed, headers=headers | {"Content-Encoding": "gzip"}, media_type=file.media_type)
