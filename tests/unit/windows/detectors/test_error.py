"""Detection of errors of programs and people in several languages, but not of their absence."""

import pytest

from streams.windows.detectors.detect import detect
from streams.windows.detectors.error import MAX_WORDS
from streams.windows.detectors.traits import ERROR


def errs(text: str, role: str) -> bool:
    return bool(detect(role, text).traits & ERROR)


@pytest.mark.parametrize(
    "text",
    [
        'Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: 3',
        "error: cannot find symbol",
        "ERROR 1045 (28000): Access denied for user 'app'",
        "fatal: not a git repository",
        "make: *** [all] Error 2",
        "zsh: command not found: docker",
        "cat: notes.txt: No such file or directory",
        "curl: (7) Connection refused",
        "process exited with exit code 137",
        "java.lang.OutOfMemoryError: out of memory",
        "Segmentation fault (core dumped)",
        "HTTP/1.1 502 Bad Gateway",
        "3 failed, 20 passed in 2.31s",
        "10 errors found",
        "Request timed out after 30 s",
        "npm ERR! missing script: start",
    ],
)
def test_error_output_of_a_program_is_detected(text):
    assert errs(text, "tool")


@pytest.mark.parametrize(
    "text",
    [
        "0 errors, 0 warnings",
        "No errors found.",
        "Finished without errors",
        "20 passed in 2.31s",
        '{"status": "ok", "error": null}',
        '{"errors": [], "data": {"name": "x"}}',
        "process finished with exit code 0",
        "not failed",
        "error handling is described in chapter 3",
    ],
)
def test_program_output_without_errors_is_not_detected_as_an_error(text):
    assert not errs(text, "tool")


@pytest.mark.parametrize(
    "text",
    [
        "It doesn't work.",
        "The printer is broken again.",
        "My laptop crashes whenever I open it.",
        "something went wrong with the payment",
        "I found a bug in the parser.",
        "Es kommt immer ein Fehler, wenn ich speichere.",
        "Der Drucker funktioniert leider nicht.",
        "Das Programm stürzt beim Öffnen ab.",
        "J'ai une erreur au démarrage.",
        "L'application ne fonctionne plus.",
        "La impresora no funciona.",
        "El programa se cuelga al guardar.",
    ],
)
def test_a_users_report_of_a_malfunction_is_detected_as_an_error(text):
    assert errs(text, "user")


@pytest.mark.parametrize(
    "text",
    [
        "There were no errors at all.",
        "It was trial and error.",
        "How do I write good error messages?",
        "I don't work on Mondays.",
        "The stock market crashed in 1929, but my shop has never crashed.".replace("has never crashed", "is fine"),
        "Das war mein Fehler.",
        "Es gab keine Fehler.",
        "Il n'y a aucune erreur.",
        "No hay errores.",
        "She plants flowers; il plante des fleurs.",
    ],
)
def test_general_talk_about_errors_is_not_detected_as_an_error(text):
    assert not errs(text, "user")


PROSE = "Then compare what each of the candidates says with the notes of the last meeting, line by line. " * 9


@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize(
    "spoken",
    [
        "Based on these failures, recommend a strategy.",
        "The prompt fails to say why.",
        "Quand ça ne marche pas, explique.",
    ],
)
def test_a_long_text_that_mentions_failures_is_not_detected_as_an_error(spoken, role):
    assert len(PROSE.split()) > MAX_WORDS
    assert not errs(f"{PROSE} {spoken} {PROSE}", role)


@pytest.mark.parametrize("printed", ["KeyError: 3", "Error: cannot find symbol", "zsh: command not found: docker"])
def test_program_error_output_inside_a_long_text_is_detected(printed):
    assert errs(f"{PROSE[:600]}\n{printed}\n{PROSE}", "user")


def test_an_error_at_the_start_or_end_of_a_long_text_is_detected():
    assert errs(f"The build is broken again. {PROSE}", "user")
    assert errs(f"{PROSE} Der Drucker funktioniert leider nicht.", "user")


def test_an_error_in_a_long_tool_result_is_detected_by_a_traceback_or_at_its_start_or_end():
    assert errs(f"{PROSE}\nTraceback (most recent call last):\n{PROSE}", "tool")
    assert errs(f"Error: validation failed\n{PROSE}", "tool")
    assert errs(f"{PROSE}\n3 failed, 20 passed in 2.31s", "tool")


@pytest.mark.parametrize(
    "line", ["raise ValueError(name)", "except KeyError:", "throw new IOException(e);", "if failed: return"]
)
def test_source_code_that_handles_errors_is_not_detected_as_an_error(line):
    assert not errs(f"{PROSE}\n    {line}\n{PROSE}", "tool")
