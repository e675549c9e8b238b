"""The shapes of credentials that `scrub` looks for. Order matters: the more particular shape comes first.

They see texts of any length, so each reads a text about once: runs are possessive, no two optional runs of the same
characters stand side by side, and no shape starts at every mark of a run that it then reads to its end.
"""

import re

SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "PRIVATE_KEY",
        re.compile(
            r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY"
            r"(?: BLOCK)?-----|\Z)",
            re.DOTALL,
        ),
    ),
    # Only the first `eyJ` of a run is tried: where it leads to no token, a later one does not either.
    (
        "JWT",
        re.compile(
            r"(?<![\w-])(?P<keep>(?:(?!\beyJ)[\w-])*+)(?P<secret>eyJ[\w-]{6,}+\.eyJ[\w-]{6,}+\.[\w-]{6,}+)",
        ),
    ),
    ("API_KEY", re.compile(r"\bsk-(?:ant-|proj-|or-|live-|test-|svcacct-)?[A-Za-z0-9_-]{16,}")),
    ("API_KEY", re.compile(r"\b(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}|\bwhsec_[A-Za-z0-9]{16,}")),
    ("API_KEY", re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    ("API_KEY", re.compile(r"\bAIza[0-9A-Za-z_-]{35}")),
    (
        "API_KEY",
        re.compile(r"\b(?:hf|gsk|r8|npm|pypi|glpat|dop_v1|shpat|SG|key|lin_api|ntn|xai)[_.-][A-Za-z0-9_.-]{20,}"),
    ),
    ("TOKEN", re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})")),
    ("TOKEN", re.compile(r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bxapp-[A-Za-z0-9-]{10,}")),
    ("TOKEN", re.compile(r"\b\d{8,10}:AA[A-Za-z0-9_-]{30,}")),
    ("WEBHOOK", re.compile(r"\bhttps://hooks\.slack\.com/services/[A-Za-z0-9/]{10,}")),
    (
        "PASSWORD",
        re.compile(
            r"(?P<keep>\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{0,60}+:)(?P<secret>[^\s/@]{1,200}+)(?P<rest>@)",
            re.IGNORECASE,
        ),
    ),
    (
        "TOKEN",
        re.compile(
            r"(?P<keep>\b(?:authorization|auth)\b[\"']?\s*+[:=]\s*+[\"']?(?:bearer|basic|token)\s++)"
            r"(?P<secret>[\w.~+/=-]{6,})",
            re.IGNORECASE,
        ),
    ),
    ("TOKEN", re.compile(r"(?P<keep>\bbearer\s++)(?P<secret>(?=[\w.~+/=-]*\d)[\w.~+/=-]{16,})", re.IGNORECASE)),
    # "password: x", "my password is x", in the languages of the offline provider; "the password is wrong" is not one.
    (
        "PASSWORD",
        re.compile(
            r"(?P<keep>\b(?:password|passwd|pwd|passphrase|passcode|passwort|kennwort|mot de passe"
            r"|contraseña|clave)\b[\"']?\s*+(?:for (?:the |my )?[\w.@-]++ )?(?:[:=]|\b(?:is|was|ist|lautet|est"
            r"|es)\b(?:\s*+:)?)\s*+[\"'`]?)"
            r"(?P<secret>(?!(?:not|too|wrong|incorrect|invalid|expired|required|missing|reset|weak|strong"
            r"|stored|managed|set|the|in|a|an|on|never|always|still|now|being|falsch|abgelaufen|incorrecta?"
            r"|expirée?|None|null|true|false)\b)"
            r"[^\s\"'`,;]{3,}[^\s\"'`,;.!?)\]])",
            re.IGNORECASE,
        ),
    ),
    (
        "PIN",
        re.compile(
            r"(?P<keep>\b(?:pin|cvv|cvc|otp|verification code|security code)\b(?: number| code)?\s*+(?:[:=]"
            r"|\bis\b|\bist\b)\s*+)(?P<secret>\d{3,8})\b",
            re.IGNORECASE,
        ),
    ),
    (
        "SECRET",
        re.compile(
            r"(?P<keep>\baws_secret_access_key\b[\"']?\s*+[:=]\s*+[\"']?)(?P<secret>[A-Za-z0-9/+=]{30,})", re.IGNORECASE
        ),
    ),
)

ASSIGNED = re.compile(
    r"(?P<keep>(?<![^\W_])(?:api[ _-]?key|secret(?:[ _-]?key)?|access[ _-]?(?:key|token)"
    r"|auth[ _-]?token|token|private[ _-]?key|client[ _-]?secret|credentials?|apikey|key)\b[\"']?"
    r"\s*+(?:[:=]>?|\b(?:is|ist|est|es)\b(?:\s*+:)?)\s*+[\"'`]?)"
    r"(?P<secret>[A-Za-z0-9_./+=~-]{16,}[A-Za-z0-9_/+=~-])",
    re.IGNORECASE,
)
# Not random although long: UUIDs, plain hashes in hexadecimal, plain words joined by marks, paths, versions.
PLAIN = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[A-Za-z]+(?:[_./-][A-Za-z]+)*|/?"
    r"(?:[\w.-]+/)+[\w.-]*|[\d.-]+",
    re.IGNORECASE,
)
CARD = re.compile(
    r"(?<![\w-])(?<!\d[ .])[2-6]\d{3}(?:[ -]?\d{4}){2}[ -]?\d{1,7}(?![\w-])"
    r"|(?<![\w-])3[47]\d{2}[ -]?\d{6}[ -]?\d{5}(?![\w-])"
)
