"""What an address says of where it leads."""

from ipaddress import ip_address
from urllib.parse import urlsplit


def is_loopback(url: str) -> bool:
    """Whether the address is this machine's own; one that cannot be read is not.

    Names other than localhost are not looked up: what they mean may change between the question and the call.
    """
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or host.endswith(".localhost") or ip_address(host).is_loopback
    except ValueError:
        return False
