"""Ctrl-C ends the step at work and keeps what was scored; pressed twice, it goes through."""

import signal
import threading

import pytest

from ecselm.search import interruptible
from ecselm.search.interrupts import current_interrupts, keeping_best, keeps_best


@pytest.fixture(autouse=True)
def default_handler():
    """Take Ctrl-C as an interactive Python does; jobs in the background are started deaf."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def press():
    signal.raise_signal(signal.SIGINT)


def test_an_interrupt_before_the_first_score_ends_the_fit():
    with pytest.raises(KeyboardInterrupt), keeping_best():
        press()


@keeping_best()
def pressed_after_a_score():
    current_interrupts().scored = True
    press()
    return "whole"


def test_an_interrupt_after_the_first_score_waits_for_the_end():
    with pytest.warns(UserWarning, match="nothing is missing"):
        assert pressed_after_a_score() == "whole"
    press_is_default()


def press_is_default():
    with pytest.raises(KeyboardInterrupt):
        press()


def test_a_second_interrupt_ends_the_fit():
    with pytest.raises(KeyboardInterrupt), keeping_best():  # noqa: PT012
        current_interrupts().scored = True
        press()
        press()


def test_an_interrupt_ends_a_step_that_allows_it_and_all_that_follow():
    with keeping_best():
        own = current_interrupts()
        own.scored = own.said = True
        with pytest.raises(KeyboardInterrupt), own.allowed():
            press()
        with pytest.raises(KeyboardInterrupt), own.allowed():
            pytest.fail("a step was begun")
        assert own.n_received == 1


def test_a_fit_within_the_steps_of_another_is_cut_with_it():
    with keeping_best():
        own = current_interrupts()
        own.begun = own.scored = own.said = True
        with keeping_best():
            assert current_interrupts() is None
            assert not keeps_best()
        assert current_interrupts() is own
        press()
        assert own.n_received == 1


def test_a_fit_that_has_not_begun_shares_its_interrupts():
    with keeping_best():
        own = current_interrupts()
        with keeping_best():
            assert current_interrupts() is own


def test_within_interruptible_every_interrupt_goes_through():
    with interruptible(), keeping_best():
        assert current_interrupts() is None
        press_is_default()


def test_another_handler_of_the_signal_is_left_in_charge():
    received = []
    signal.signal(signal.SIGINT, lambda *_: received.append(1))
    with keeping_best():
        press()
    assert received == [1]
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_other_threads_leave_the_signal_alone():
    handlers = []

    def fit():
        with keeping_best():
            handlers.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=fit)
    thread.start()
    thread.join()
    assert handlers == [signal.default_int_handler]
