"""How the pretend network moves."""

from itertools import pairwise

import pytest

from exporter.simulator.ledger.participant import Participant
from exporter.simulator.world.world import World
from tests.simulator.conftest import START, StandingClock

HOUR = 3600


@pytest.fixture
def participant(clock: StandingClock) -> Participant:
    return Participant(World(clock, seed=7, checkpoint_interval=15), "ledger")


def test_a_ledger_starts_with_a_history(participant: Participant) -> None:
    assert 183_990 <= participant.end().offset <= 184_000
    assert participant.pruned() == 90_000
    assert list(participant.between(90_000, 90_010))


def test_offsets_jump_by_one_to_four_and_times_go_up(participant: Participant, clock: StandingClock) -> None:
    clock.advance(HOUR)
    events = list(participant.between(180_000, participant.end().offset))
    steps = {later.offset - earlier.offset for earlier, later in pairwise(events)}
    assert steps == {1, 2, 3, 4}
    assert all(earlier.record_time < later.record_time for earlier, later in pairwise(events))


def test_the_end_is_the_same_however_often_it_is_asked(clock: StandingClock) -> None:
    world = World(clock, seed=7, checkpoint_interval=15)
    often, seldom = Participant(world, "ledger"), Participant(world, "ledger")
    for _ in range(1000):
        clock.advance(0.73)
        often.end()
    assert often.end() == seldom.end()
    assert list(often.between(184_000, often.end().offset))[-1] == seldom.end()


def test_the_end_is_indexed_shortly_after_its_record_time(participant: Participant, clock: StandingClock) -> None:
    for _ in range(100):
        clock.advance(0.37)
        assert 0.2 <= clock() - participant.end().record_time < 2


def test_offsets_are_each_participants_own(clock: StandingClock) -> None:
    world = World(clock, seed=7, checkpoint_interval=15)
    one, other = (list(Participant(world, name).between(184_000, 184_200)) for name in ("one", "other"))
    assert one != other


def test_pruning_follows_the_end_in_steps_and_then_keeps_its_distance(
    participant: Participant, clock: StandingClock
) -> None:
    clock.advance(299)
    assert participant.pruned() == 90_000
    clock.advance(1)
    assert participant.pruned() == 95_000
    clock.advance(24 * HOUR)
    assert 20_000 <= participant.end().offset - participant.pruned() <= 20_000 + 1_550


def test_a_year_later_it_still_answers_at_once(participant: Participant, clock: StandingClock) -> None:
    clock.advance(365 * 24 * HOUR)
    end = participant.end()
    assert clock() - end.record_time < 2
    assert len(list(participant.between(end.offset - 100, end.offset))) < 100


def test_a_checkpoint_is_cached_from_one_tick_to_the_next(participant: Participant, clock: StandingClock) -> None:
    first = participant.checkpoint()
    assert first == participant.end()
    clock.advance(14.9)
    assert participant.checkpoint() == first
    clock.advance(0.1)
    assert participant.checkpoint() == participant.end() != first


def test_after_a_restart_there_is_no_checkpoint_until_a_tick_after_the_first_event(
    participant: Participant, clock: StandingClock
) -> None:
    clock.advance(100)
    participant.restart()
    assert participant.checkpoint() is None
    clock.advance(14.9)
    assert participant.checkpoint() is None
    clock.advance(0.1)
    assert participant.checkpoint() == participant.end()


def test_a_ledger_frozen_since_its_restart_never_has_a_checkpoint(clock: StandingClock) -> None:
    world = World(clock, seed=7, checkpoint_interval=15)
    participant = Participant(world, "ledger", knows=lambda at: min(at, START))
    participant.restart()
    clock.advance(HOUR)
    assert participant.checkpoint() is None
