"""Why the lease is safe: the invariant of the rules in lease.py, and the property that follows."""

from z3 import And, If, Implies, Not, Or

from induction import Holder, Int, Part, Write
from lease import (
    ACQUIRE, ENDED, EXTEND, FIRST, HELD, NEW, RECLAIM, RELEASE, applied, base, ceil, first, floor, kind, of, read,
)


def _log(s, v):
    """Each version was made by a write that replaced the version before it."""
    inside = And(v > 0, v <= s.last())
    return And(
        s.last() >= 0, s.log(0) == first, Not(s.sent(first)),
        Implies(inside, And(s.sent(s.log(v)), read(s.log(v)) + 1 == v)),
    )


def _applied(s, w):
    return Implies(And(applied(s, w), w != first), s.sent(w))


def _write(s, w):
    """What was true when a write was sent, and stays true."""
    h, found = of(w), s.log(read(w))
    own = And(of(found) == h, kind(found) == ACQUIRE)
    return Implies(s.sent(w), And(
        read(w) >= 0, read(w) <= s.last(), kind(w) != FIRST,
        Implies(kind(w) != RECLAIM, ceil(w) >= floor(w)),
        Implies(kind(w) == ACQUIRE, And(floor(w) >= base(w), base(w) == If(own, base(found), ceil(found)))),
        Implies(Or(kind(w) == EXTEND, kind(w) == RELEASE),
                And(of(found) == h, s.held(h), floor(w) == floor(s.acquired(h)))),
        Implies(kind(w) == RELEASE, s.phase(h) == ENDED),
        Implies(kind(w) == RECLAIM, And(of(found) == h, ceil(w) == ceil(found), floor(w) == floor(found))),
    ))


def _holder(s, h):
    got, latest = s.acquired(h), s.latest(h)
    return And(
        Implies(s.phase(h) == HELD, And(s.held(h), s.newest(h) <= s.ceiling(h))),
        Implies(s.phase(h) == NEW, Not(s.held(h))),
        Implies(s.phase(h) == ENDED, Not(s.waits(h))),
        Implies(s.held(h), And(applied(s, got), s.sent(got), kind(got) == ACQUIRE, of(got) == h,
                               s.newest(h) >= floor(got))),
        Implies(s.waits(h), And(s.sent(latest), of(latest) == h,
                                kind(latest) == If(s.phase(h) == NEW, ACQUIRE, EXTEND))),
        Implies(And(s.waits(h), s.phase(h) == HELD), s.ceiling(h) <= ceil(latest)),
    )


def _latest(s, h, w):
    """When the awaited write is applied, every other write of its holder carries an older version."""
    mine = And(s.sent(w), of(w) == h)
    return And(
        Implies(And(mine, kind(w) == ACQUIRE, s.held(h)), read(w) <= read(s.acquired(h))),
        Implies(And(mine, kind(w) != RECLAIM, s.waits(h), applied(s, s.latest(h))), read(w) <= read(s.latest(h))),
    )


def _live(s, h, w):
    """A write that can still be applied leaves room for what its holder issues meanwhile."""
    live = And(s.sent(w), of(w) == h, read(w) == s.last())
    return And(
        Implies(And(live, kind(w) == EXTEND, s.phase(h) == HELD), s.ceiling(h) <= ceil(w)),
        Implies(And(live, Or(kind(w) == EXTEND, kind(w) == RELEASE)), s.newest(h) <= ceil(w)),
    )


def _got(s, h):
    """Whether an acquisition of `h` is recorded that it knows, or learns if the answer arrives."""
    return Or(s.held(h), And(s.phase(h) == NEW, s.waits(h), applied(s, s.latest(h))))


def _acquisition(s, h):
    return If(s.held(h), s.acquired(h), s.latest(h))


def _own(s, h, v):
    """The records of a holder keep its floor."""
    inside = And(v > read(_acquisition(s, h)), v <= s.last())
    return Implies(And(_got(s, h), inside, of(s.log(v)) == h), floor(s.log(v)) == floor(_acquisition(s, h)))


def reaches_at_most(s, h, t):
    """All that `h` has issued and may issue until its next write is applied lies at or below `t`."""
    return And(
        Implies(s.phase(h) == HELD, s.ceiling(h) <= t),
        Implies(s.held(h), s.newest(h) <= t),
        Implies(And(s.waits(h), applied(s, s.latest(h))), ceil(s.latest(h)) <= t),
    )


def _recorded(s, h):
    return reaches_at_most(s, h, ceil(s.log(s.last())))


def _replaced(s, h):
    """Nobody has taken the worker ID between an acquisition and the same holder's next one."""
    now = s.log(s.last())
    return Implies(And(kind(now) == ACQUIRE, of(now) != h), reaches_at_most(s, h, base(now)))


def _others(s, h):
    now = s.log(s.last())
    return Implies(of(now) != h, reaches_at_most(s, h, floor(now)))


def _record(s):
    """The ceiling of the record is at or above the floor of its holder, except before the first acquisition."""
    now = s.log(s.last())
    return Or(kind(now) == FIRST, kind(now) == RECLAIM, ceil(now) >= floor(now))


def _apart(s, g, h):
    """One of two holders has ended its reach where the other one begins."""
    ends = reaches_at_most(s, g, floor(_acquisition(s, h)))
    begins = reaches_at_most(s, h, floor(_acquisition(s, g)))
    return Implies(And(g != h, _got(s, g), _got(s, h)), Or(ends, begins))


def _uses(s, h, t):
    return And(
        s.uses(h, t) >= 0, s.uses(h, t) <= 1,
        Implies(s.uses(h, t) > 0, And(s.held(h), floor(s.acquired(h)) < t, t <= s.newest(h))),
    )


INVARIANT = [
    Part('log', (Int,), _log),
    Part('applied', (Write,), _applied),
    Part('write', (Write,), _write),
    Part('holder', (Holder,), _holder),
    Part('latest', (Holder, Write), _latest),
    Part('live', (Holder, Write), _live),
    Part('own', (Holder, Int), _own),
    Part('recorded', (Holder,), _recorded),
    Part('replaced', (Holder,), _replaced),
    Part('others', (Holder,), _others),
    Part('record', (), _record),
    Part('apart', (Holder, Holder), _apart),
    Part('uses', (Holder, Int), _uses),
]

SAFETY = [
    Part('two holders never use one timestamp', (Holder, Holder, Int),
         lambda s, g, h, t: Implies(g != h, Not(And(s.uses(g, t) > 0, s.uses(h, t) > 0)))),
    Part('no holder uses a timestamp twice', (Holder, Int), lambda s, h, t: s.uses(h, t) <= 1),
]

