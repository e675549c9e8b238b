"""Malicious texts, and texts that are hard to lay out."""

AWKWARD = (
    "https://example.org/a/very/long/path/without/any/space/that/could/be/broken/at/all/0123456789abcdef0123456789abcdef",
    "ZERO" + "0" * 400,
    "تسكن المستخدمة في القاهرة وتعمل طبيبة.",
    "\u202ereversed\u202c 👩\u200d👧 ſ % %s {} \\u0000",
)

ATTACKS = (
    "<script>window.attacked = 1</script>",
    "<img src=x onerror='window.attacked = 1'>",
    "<svg onload=window.attacked=1><a href='javascript:window.attacked=1'>press</a></svg>",
    "</textarea><iframe srcdoc='<script>parent.attacked = 1</script>'></iframe>",
    "${window.attacked=1}{{constructor.constructor('window.attacked=1')()}}",
    "javascript:window.attacked=1//\"'><style>*{display:none}</style>",
)
