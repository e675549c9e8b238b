"""Classification of network addresses."""

from ipaddress import ip_address
from urllib.parse import urlsplit


def is_loopback(url: str) -> bool:
    """Whether the address is this machine's own; False for one that cannot be parsed.

    Resolves no names except localhost: their meaning may change between this check and the call.
    """
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or host.endswith(".localhost") or ip_address(host).is_loopback
    except ValueError:
        return False
