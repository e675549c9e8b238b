"""Patterns of keys and tokens for `scrub`. Order matters: more specific patterns come first.

Texts may have any length, so each pattern takes about linear time: quantifiers are possessive, no two optional runs of the
same characters are adjacent, and no pattern starts at every character of a run that it then reads to the end.
"""

import re

# Prefixes that their issuers document, each followed by `_`, `-` or `.`.
ISSUERS = (
    "hf|gsk|r8|npm|pypi|glpat|glptt|gldt|dop_v1|doo_v1|shpat|shpca|shppa|shpss|SG|key|lin_api|lin_oauth|ntn|xai|figd|NRAK|NRJS"
    "|sntrys|sntryu|hvs|hvb|hvr|s0q|sq0[a-z]{3}|pplx|HRKU|dckr_pat|rubygems|PMAK|sbp|tfp|xkeysib|GOCSPX|ya29|sl|pat-na1|pk_prod"
    "|nvapi|fw|tvly|rnd|ATCTT3x|phc|phx|whsec|cio|oauth|EAAA"
)
# Patterns without a word that each match has. A digit distinguishes a key from joined words ("key-to-happiness"); the search
# for it is bounded.
OF_ISSUER = ("API_KEY", re.compile(rf"\b(?:{ISSUERS})[_.-](?=[A-Za-z0-9_.-]{{0,60}}\d)[A-Za-z0-9_.-]{{16,}}"))
OF_TWILIO = ("API_KEY", re.compile(r"\bSK[0-9a-f]{32}\b"))
OF_DISCORD = ("TOKEN", re.compile(r"(?<![\w.-])[MNO][\w-]{22,30}+\.[\w-]{6}\.[\w-]{27,45}+(?![\w.-])", re.ASCII))
WORDLESS_SHAPES = (OF_ISSUER, OF_TWILIO, OF_DISCORD)
SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "PRIVATE_KEY",
        re.compile(
            r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY"
            r"(?: BLOCK)?-----|\Z)",
            re.DOTALL,
        ),
    ),
    ("PRIVATE_KEY", re.compile(r"\bAGE-SECRET-KEY-1[A-Z0-9]{20,}+")),
    (
        "PRIVATE_KEY",
        re.compile(
            r"(?P<keep>\bPrivate-Lines: \d{1,4}\r?\n)(?P<secret>[A-Za-z0-9+/=]{16,}+(?:\r?\n[A-Za-z0-9+/=]{16,}+)*+)"
        ),
    ),
    # Only the first `eyJ` of a run is tried: if it begins no token, later ones do not either.
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
    OF_ISSUER,
    ("API_KEY", re.compile(r"\b(?:ATATT3x|ATBB|dapi|AKCp)[A-Za-z0-9_=-]{24,}+")),
    ("TOKEN", re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})")),
    ("TOKEN", re.compile(r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bxapp-[A-Za-z0-9-]{10,}")),
    ("TOKEN", re.compile(r"\b\d{8,10}:AA[A-Za-z0-9_-]{30,}")),
    OF_TWILIO,
    (
        "TOKEN",
        re.compile(r"(?P<keep>\bhttps?://)(?P<secret>(?=[a-z0-9_]{0,40}\d)\w{20,100}+)(?P<rest>@)", re.IGNORECASE),
    ),
    ("TOKEN", re.compile(r"\b1//0[\w-]{20,}+")),
    OF_DISCORD,
    ("WEBHOOK", re.compile(r"\bhttps://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/]{10,}")),
    ("WEBHOOK", re.compile(r"\bhttps://(?:\w{1,9}\.)?discord(?:app)?\.com/api/webhooks/[\w/-]{10,}+")),
    ("WEBHOOK", re.compile(r"\bhttps://[\w-]{1,63}+\.webhook\.office\.com/[\w/@-]{10,}+")),
    (
        "TOKEN",
        re.compile(
            r"(?P<keep>\b(?:authorization|auth)\b[\"']?\]?\s*+[:=]\s*+[\"'`]?(?:bearer|basic|token|bot|apikey)\s++)"
            r"(?P<secret>[\w.~+/=-]{6,})",
            re.IGNORECASE,
        ),
    ),
    (
        "TOKEN",
        re.compile(
            r"(?P<keep>\bauthorization[\"']?\s*+:\s*+[\"']?)(?P<secret>(?=[\w.~+/=-]{0,60}\d)[\w.~+/=-]{16,}+)",
            re.IGNORECASE,
        ),
    ),
    ("TOKEN", re.compile(r"(?P<keep>\bbearer\s++)(?P<secret>(?=[\w.~+/=-]*\d)[\w.~+/=-]{16,})", re.IGNORECASE)),
    (
        "TOKEN",
        re.compile(
            r"(?P<keep>(?<![A-Za-z0-9])(?:[A-Za-z.]{0,20}+sess(?:ion)?(?:[_-]?id)?|\w?sessionid|sessid|phpsessid|connect\.sid|sid"
            r"|auth|csrf_?token)\s?=\s?)(?P<secret>(?=[\w%.-]{0,60}\d)[\w%.-]{16,}+)",
            re.IGNORECASE,
        ),
    ),
    # Signatures of shared links, keys in query strings, secrets of authenticator links.
    (
        "SECRET",
        re.compile(
            r"(?P<keep>[?&;](?:sig|signature|x-amz-signature|appid|app_?key|secret|key|token|code|AccountKey|SharedAccessKey)=)"
            r"(?P<secret>(?=[\w%+/.~-]{0,40}\d)[\w%+/.~-]{12,}+=*+)",
            re.IGNORECASE,
        ),
    ),
    (
        "SECRET",
        re.compile(
            r"(?P<keep>\b(?:aws_secret_access_key|aws secret(?: access)?(?: key)?|secretaccesskey)\b[\"']?\s*+(?:[:=]|is\b)"
            r"\s*+[\"'`]?)(?P<secret>[A-Za-z0-9/+=]{30,})",
            re.IGNORECASE,
        ),
    ),
    ("SECRET", re.compile(r"(?P<keep>\bclient-key-data[\"']?: ?[\"']?)(?P<secret>[A-Za-z0-9+/=]{30,}+)")),
)
# Each match of the other shapes has one of these in its casefolded text, which is much faster to search than the patterns are.
# None has an i where IGNORECASE applies: casefold does not equate all letters that IGNORECASE takes for it.
SHAPE_WORDS = (
    *("-----begin", "age-secret-key", "private-lines", "client-key-data", "eyj", "sk-", "k_live_", "k_test_"),
    *("whsec_", "akia", "asia", "aiza", "atatt3x", "atbb", "dapi", "akcp", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    *("github_pat_", "xox", "xapp-", ":aa", "1//0", "://", "auth", "bearer", "=", "secret"),
)

# A value assigned to a name for keys. "key" alone may be any key, so its value must look random.
KEYS = (
    r"(?:(?P<certain>api[ _-]?(?:key|token|secret|schlüssel)|clé (?:d['’])?api|secret(?:[ _-]?key)?"
    r"|(?:access|account|app|auth|license|signing|encryption|master|shared)[ _-]?(?:key|token)"
    r"|(?:auth|refresh|session|bot|id|bearer)[ _-]?token|private[ _-]?key|(?:client|app|api|webhook|jwt)[ _-]?secret)"
    r"|(?<![^\W_])(?:token|credentials?|key|schlüssel|clave|clé))(?![^\W_])"
)
# Each match of KEYS has one of these in its casefolded text, which is much faster to search than the pattern is.
KEY_WORDS = ("key", "token", "secret", "schlüssel", "clé", "clave", "credent")
ASSIGNED = re.compile(
    rf"(?P<keep>{KEYS}"
    r"(?:\s++for\s++[\w.-]{1,30}+)?[\"']?"
    r"(?:\s*+(?:[:=]>?|\b(?:is|ist|lautet|est|es|è|é)\b(?:\s*+:)?)\s*+|(?P<bare>\s++))[\"'`]?)"
    r"(?P<secret>[^\s\"'`,;<>(){}\[\]]{12,300}+)",
    re.IGNORECASE,
)
# Long but not random: UUIDs, joined words, versions, variables, URLs.
PLAIN = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[A-Za-z]+(?:[_./-][A-Za-z]+)*+|[\d.-]+|\$.*|%.*|your.*|https?://.*",
    re.IGNORECASE | re.DOTALL,
)
# Base64 keys also have slashes, but do not begin like a path or end like a file name.
PATH = re.compile(r"(?:[/.~][\w./-]*|(?:[\w.-]+/)+[\w-]*\.[a-z]\w{0,4})")
HEX = re.compile(r"[0-9a-f]+", re.IGNORECASE)
