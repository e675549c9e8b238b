"""Several providers in order, in virtual time: selection, fallback, and errors that do not fall back."""

import asyncio
import logging
from datetime import UTC, datetime

import pytest

from agents.models.auto import CHECK_INTERVAL_S, AutoProvider
from agents.models.calls.rate_limits import RateLimited
from agents.models.local_only import check_policies
from schemas.errors import Deferred, Misconfigured, Rejected, Retryable
from schemas.policies.policies import DEFAULT_POLICY, Policies, Policy
from tests.builders.slices import knowing, slice_of
from tests.fakes.provider import FakeProvider

SLICE = slice_of("I live in Turin.")
SECRET = Policy(name="secret", local_only=True)
THRIFTY = Policy(name="thrifty", on_spent_budget="stay_local")
SPENT = Deferred(datetime(2026, 3, 2, tzinfo=UTC), "budget")


class Named(FakeProvider):
    """A provider that says who answered, and counts how often it was looked at."""

    def __init__(self, name: str, leaves_machine: bool = False) -> None:
        super().__init__()
        self.name = name
        self.leaves_machine = leaves_machine
        self.looked = 0

    async def unavailable_reason(self) -> str | None:
        self.looked += 1
        return await super().unavailable_reason()


@pytest.fixture
def near() -> Named:
    return Named("near")


@pytest.fixture
def far() -> Named:
    return Named("far", leaves_machine=True)


@pytest.fixture
def auto(near: Named, far: Named) -> AutoProvider:
    return AutoProvider([near, far])


async def test_first_available_provider_answers_and_is_named_in_the_answer(auto: AutoProvider, far: Named) -> None:
    answer = await auto.extract(SLICE, knowing())
    assert answer.provider == "near"
    assert (await auto.summarise(SLICE, DEFAULT_POLICY)).provider == "near"
    assert not far.call_counts


async def test_an_unavailable_provider_is_skipped(auto: AutoProvider, near: Named) -> None:
    near.wrong = "not there"
    assert (await auto.extract(SLICE, knowing())).provider == "far"
    assert not near.call_counts


@pytest.mark.parametrize("failure", [Retryable("gone"), RateLimited("slow down")])
async def test_a_transient_failure_falls_back_to_the_next_provider(
    auto: AutoProvider, near: Named, failure: Exception
) -> None:
    near.failures.append(failure)
    assert (await auto.extract(SLICE, knowing())).provider == "far"
    assert (await auto.extract(SLICE, knowing())).provider == "near"


@pytest.mark.parametrize(
    "failure", [Rejected("refused", "declined"), Deferred(datetime(2026, 3, 2, tzinfo=UTC), "budget")]
)
async def test_a_rejection_or_deferral_does_not_fall_back_to_the_next_provider(
    auto: AutoProvider, near: Named, far: Named, failure: Exception
) -> None:
    near.failures.append(failure)
    with pytest.raises(type(failure)):
        await auto.extract(SLICE, knowing())
    assert not far.call_counts


async def test_a_spent_budget_falls_back_to_local_providers_if_the_policy_allows() -> None:
    far, farther, near = Named("far", leaves_machine=True), Named("farther", leaves_machine=True), Named("near")
    auto = AutoProvider([far, farther, near])
    far.failures.append(SPENT)
    assert (await auto.extract(SLICE, knowing(policy=THRIFTY))).provider == "near"
    assert not farther.call_counts
    assert (await auto.extract(SLICE, knowing(policy=THRIFTY))).provider == "far", "each request asks anew"


async def test_a_spent_budget_defers_the_request_if_no_local_provider_can_answer(
    auto: AutoProvider, near: Named, far: Named
) -> None:
    near.failures.append(SPENT)
    with pytest.raises(Deferred):
        await auto.extract(SLICE, knowing(policy=THRIFTY))
    assert not far.call_counts
    near.failures.append(Deferred(SPENT.until, "busy"))
    with pytest.raises(Deferred, match="busy"):
        await auto.extract(SLICE, knowing(policy=THRIFTY))


async def test_retryable_error_lists_all_reasons_if_no_provider_can_answer(
    auto: AutoProvider, near: Named, far: Named
) -> None:
    near.wrong = "not there"
    far.failures.append(Retryable("overloaded"))
    with pytest.raises(Retryable, match="no provider can answer: not there; overloaded"):
        await auto.extract(SLICE, knowing())


async def test_a_model_removed_since_its_availability_check_is_skipped(auto: AutoProvider, near: Named) -> None:
    await auto.extract(SLICE, knowing())
    near.wrong = "no such model any more"
    near.failures.append(Misconfigured("no such model"))
    assert (await auto.extract(SLICE, knowing())).provider == "far"


async def test_a_wrong_key_raises_misconfigured_instead_of_falling_back(
    auto: AutoProvider, near: Named, far: Named
) -> None:
    near.failures.append(Misconfigured("wrong key"))
    with pytest.raises(Misconfigured):
        await auto.extract(SLICE, knowing())
    assert not far.call_counts


async def test_availability_is_checked_once_per_interval(auto: AutoProvider, near: Named) -> None:
    await asyncio.gather(*(auto.extract(SLICE, knowing()) for _ in range(20)))
    assert near.looked == 1
    await asyncio.sleep(CHECK_INTERVAL_S + 1)
    await auto.extract(SLICE, knowing())
    assert near.looked == 2


async def test_log_reports_availability_changes_and_not_every_request(
    auto: AutoProvider, near: Named, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="agents.models.auto")
    for wrong in ("not there", "not there", None):
        near.wrong = wrong
        await auto.extract(SLICE, knowing())
        await auto.extract(SLICE, knowing())
        await asyncio.sleep(CHECK_INTERVAL_S + 1)
    assert [record.getMessage() for record in caplog.records] == [
        "skipping provider near until it is available: not there",
        "provider near is available again",
    ]


async def test_a_local_only_conversation_is_never_sent_to_a_remote_provider(near: Named, far: Named) -> None:
    auto = AutoProvider([far, near])
    assert (await auto.extract(SLICE, knowing(policy=SECRET))).provider == "near"
    assert (await auto.summarise(SLICE, SECRET)).provider == "near"
    near.wrong = "not there"
    await asyncio.sleep(CHECK_INTERVAL_S + 1)
    with pytest.raises(Retryable, match="not there"):
        await auto.extract(SLICE, knowing(policy=SECRET))
    assert not far.call_counts and far.looked == 0


async def test_a_local_only_conversation_is_rejected_if_there_is_no_local_provider(far: Named) -> None:
    with pytest.raises(Rejected) as caught:
        await AutoProvider([far]).extract(SLICE, knowing(policy=SECRET))
    assert caught.value.reason == "must_stay"
    assert not far.call_counts


def test_startup_fails_if_a_policy_is_local_only_and_no_provider_is_local(near: Named, far: Named) -> None:
    policies = Policies((Policy(name="open"), SECRET))
    with pytest.raises(Misconfigured, match=r"'secret' is local_only.*MEMSTREAM_PROVIDER"):
        check_policies(policies, AutoProvider([far]))
    check_policies(policies, AutoProvider([far, near]))
    check_policies(Policies((Policy(name="open"),)), far)


async def test_auto_provider_is_unavailable_only_if_all_its_providers_are(
    auto: AutoProvider, near: Named, far: Named
) -> None:
    near.wrong = "not there"
    assert await auto.unavailable_reason() is None
    await asyncio.sleep(CHECK_INTERVAL_S + 1)
    far.wrong = "no key"
    assert await auto.unavailable_reason() == "not there; no key"


async def test_closing_the_auto_provider_closes_all_its_providers(auto: AutoProvider, near: Named, far: Named) -> None:
    await auto.close()
    assert near.closed and far.closed


def test_an_empty_list_of_providers_is_misconfigured() -> None:
    with pytest.raises(Misconfigured, match="MEMSTREAM_PROVIDER_ORDER"):
        AutoProvider([])
