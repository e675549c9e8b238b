"""The web panel at `/`: static files, the same for every user. The panel reads its data from `/v1`."""

from typing import Annotated, Final

from fastapi import APIRouter, Header, Response

from agents.api.http.problems import not_found
from agents.api.panel.files import File, files

router = APIRouter(include_in_schema=False)

# No inline code, no other hosts, no framing.
CONTENT_SECURITY_POLICY: Final = "; ".join(
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
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "Vary": "Accept-Encoding",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
IMMUTABLE: Final = "public, max-age=31536000, immutable"  # file names contain a hash of the content
REVALIDATE: Final = "no-cache"

AcceptEncoding = Annotated[str, Header(alias="accept-encoding")]
IfNoneMatch = Annotated[str, Header(alias="if-none-match")]


@router.api_route("/", methods=["GET", "HEAD"])
async def get_panel(accepted: AcceptEncoding = "", known: IfNoneMatch = "") -> Response:
    """The page. Views of the panel are URL fragments (`#...`), so their addresses never reach a server or its log."""
    return file_response(files()["index.html"], REVALIDATE, accepted, known)


@router.api_route("/panel/{path:path}", methods=["GET", "HEAD"])
async def get_panel_file(path: str, accepted: AcceptEncoding = "", known: IfNoneMatch = "") -> Response:
    """A script, a stylesheet or an image of the panel."""
    found = files().get(f"panel/{path}")
    if found is None:
        raise not_found("the panel has no file of this name")
    return file_response(found, IMMUTABLE, accepted, known)


def file_response(file: File, caching: str, accept_encoding: str, if_none_match: str) -> Response:
    headers = HEADERS | {"Cache-Control": caching, "ETag": file.tag}
    if if_none_match == file.tag:
        return Response(status_code=304, headers=headers)
    if "gzip" not in accept_encoding:
        return Response(file.plain, headers=headers, media_type=file.media_type)
    return Response(file.packed, headers=headers | {"Content-Encoding": "gzip"}, media_type=file.media_type)
