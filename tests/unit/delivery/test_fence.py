"""The fence admits work of the open epoch only."""

from streams.delivery.fence import Fence, Phase


def test_a_new_fence_admits_no_epoch():
    fence = Fence()
    assert not fence.admits(0)
    assert not fence.holds(0)


def test_an_open_epoch_admits_and_holds_its_own_work_only():
    fence = Fence()
    first = fence.open()
    assert fence.admits(first)
    assert fence.holds(first)
    second = fence.open()
    assert second == first + 1
    assert not fence.admits(first)
    assert not fence.holds(first)
    assert fence.admits(second)


def test_a_closing_epoch_admits_no_new_work_and_holds_its_current_work():
    fence = Fence()
    epoch = fence.open()
    fence.close()
    assert not fence.admits(epoch)
    assert fence.holds(epoch)


def test_a_shut_epoch_neither_admits_nor_holds_work():
    fence = Fence()
    epoch = fence.open()
    fence.close()
    fence.shut()
    assert not fence.admits(epoch)
    assert not fence.holds(epoch)


def test_closing_does_not_open_a_fence_that_is_shut():
    fence = Fence()
    epoch = fence.open()
    fence.shut()
    fence.close()
    assert fence.phase is Phase.SHUT
    assert not fence.holds(epoch)
