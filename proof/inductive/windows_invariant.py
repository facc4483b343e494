"""Why worker windows are safe: the invariant of the rules in windows.py, and the property that follows."""

from z3 import And, Implies, Not, Or

from induction import Holder, Int, Part, Write
from windows import (
    ACQUIRE, ANSWERED, ENDED, EXTEND, FIRST, FREE, HELD, LOST, NEW, OPEN, REGISTER, RELEASE, UNDO, UNDONE, applied,
    ceil, counts, first, kind, of, read, reserved, start, told,
)


def _log(s, v):
    """Each version was made by a write that replaced the version before it."""
    made = s.log(v)
    return And(
        s.last() >= 0, s.log(0) == first, Not(s.sent(first)),
        Implies(And(v > 0, v <= s.last()), And(s.sent(made), read(made) + 1 == v)),
    )


def _applied(s, w):
    return And(
        Implies(And(applied(s, w), w != first), s.sent(w)),
        Implies(s.fate(w) != OPEN, And(applied(s, w), w != first)),
        Implies(s.fate(w) == ANSWERED, Or(kind(w) == ACQUIRE, kind(w) == EXTEND)),
        Implies(s.fate(w) == UNDONE, kind(w) == ACQUIRE),
    )


def _write(s, w):
    """What was true when a write was sent, and stays true."""
    h, found = of(w), s.log(read(w))
    raises = Or(kind(w) == EXTEND, kind(w) == REGISTER)
    return Implies(s.sent(w), And(
        read(w) >= 0, read(w) <= s.last(), kind(w) != FIRST,
        Implies(Or(kind(w) == ACQUIRE, raises), ceil(w) > start(h)),
        Implies(kind(w) == ACQUIRE, And(start(h) >= ceil(found), told(w) == start(h))),
        Implies(kind(w) != ACQUIRE, of(found) == h),
        Implies(raises, ceil(w) >= ceil(found)),
        Implies(kind(w) == EXTEND, told(w) == start(h)),
        Implies(kind(w) == RELEASE, And(s.phase(h) == ENDED, ceil(w) >= start(h),
                                        Implies(s.held(h), ceil(w) >= s.newest(h)))),
        Implies(kind(w) == FREE, ceil(w) == ceil(found)),
        Implies(kind(w) == UNDO, And(kind(found) == ACQUIRE, s.fate(found) == UNDONE, ceil(w) == start(h))),
        Implies(And(kind(w) == ACQUIRE, read(w) == s.last()), And(Not(s.young()), start(h) >= s.least())),
        Implies(kind(w) == LOST, applied(s, w)),
    ))


def _client(s, h):
    answer, reached = s.answer(h), s.reached(h)
    return And(
        Implies(s.phase(h) == HELD, s.held(h)),
        Implies(s.phase(h) == NEW, Not(s.held(h))),
        Implies(s.held(h), And(s.fate(answer) == ANSWERED, of(answer) == h, s.floor(h) == start(h),
                               s.newest(h) >= s.floor(h))),
        # Answers arrive in any order: an earlier one than the newest may have reached further.
        Implies(s.held(h), And(s.fate(reached) == ANSWERED, of(reached) == h, s.newest(h) <= ceil(reached))),
    )


def _recorded(s, w):
    """No client holds an end above what newcomers start after."""
    return Implies(And(Not(s.young()), counts(s, w)), ceil(w) <= reserved(s))


def _recorded_use(s, h):
    return Implies(And(Not(s.young()), s.held(h)), s.newest(h) <= reserved(s))


def _others(s, w):
    """What other windows reach lies below the start of the one in the record."""
    owner = of(s.log(s.last()))
    return Implies(And(counts(s, w), of(w) != owner), ceil(w) <= start(owner))


def _others_use(s, h):
    owner = of(s.log(s.last()))
    return Implies(And(s.held(h), h != owner), s.newest(h) <= start(owner))


def _unanswered(s, w):
    """While the record is an acquisition, its window has no other end."""
    now = s.log(s.last())
    return Implies(And(counts(s, w), kind(now) == ACQUIRE, of(now) == of(w)), w == now)


def _unanswered_use(s, h):
    now = s.log(s.last())
    return Implies(
        And(s.held(h), kind(now) == ACQUIRE, of(now) == h, s.newest(h) > start(h)), s.fate(now) == ANSWERED
    )


def _apart(s, v, w):
    """Of two windows, one reaches at most the start of the other."""
    g, h = of(v), of(w)
    return Implies(And(counts(s, v), counts(s, w), g != h), Or(ceil(v) <= start(h), ceil(w) <= start(g)))


def _apart_use(s, w, h):
    g = of(w)
    return Implies(And(counts(s, w), s.held(h), g != h), Or(ceil(w) <= start(h), s.newest(h) <= start(g)))


def _apart_uses(s, g, h):
    return Implies(And(s.held(g), s.held(h), g != h), Or(s.newest(g) <= start(h), s.newest(h) <= start(g)))


def _uses(s, h, t):
    used = And(s.held(h), start(h) < t, t <= s.newest(h))
    return And(s.uses(h, t) >= 0, s.uses(h, t) <= 1, Implies(s.uses(h, t) > 0, used))


INVARIANT = [
    Part('log', (Int,), _log),
    Part('applied', (Write,), _applied),
    Part('write', (Write,), _write),
    Part('client', (Holder,), _client),
    Part('recorded', (Write,), _recorded),
    Part('recorded use', (Holder,), _recorded_use),
    Part('others', (Write,), _others),
    Part('use of others', (Holder,), _others_use),
    Part('unanswered', (Write,), _unanswered),
    Part('unanswered use', (Holder,), _unanswered_use),
    Part('apart', (Write, Write), _apart),
    Part('apart from use', (Write, Holder), _apart_use),
    Part('uses apart', (Holder, Holder), _apart_uses),
    Part('uses', (Holder, Int), _uses),
]

SAFETY = [
    Part('two windows never use one timestamp', (Holder, Holder, Int),
         lambda s, g, h, t: Implies(g != h, Not(And(s.uses(g, t) > 0, s.uses(h, t) > 0)))),
    Part('no window uses a timestamp twice', (Holder, Int), lambda s, h, t: s.uses(h, t) <= 1),
]

