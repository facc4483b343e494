"""The lease of one worker ID: rules R1 to R4, and the part of R9 that uniqueness needs.

The record of the registry is a log of writes: `log(v)` is the write that made version v. A write is sent once and may
be applied at any later time, or never; its outcome may stay unknown. A holder is one acquisition by one process; it
reads any version of the log, so an answer may be late. Clocks do not occur: every time is arbitrary.
"""

import z3

from induction import Action, Holder, Int, System, Write

Phase, (NEW, HELD, ENDED) = z3.EnumSort('Phase', ['NEW', 'HELD', 'ENDED'])
Kind, (FIRST, ACQUIRE, EXTEND, RELEASE, RECLAIM) = z3.EnumSort(
    'Kind', ['FIRST', 'ACQUIRE', 'EXTEND', 'RELEASE', 'RECLAIM']
)

# What a write contains. It never changes, so it is no part of the state.
of = z3.Function('of', Write, Holder)
kind = z3.Function('kind', Write, Kind)
read = z3.Function('read', Write, Int)  # the version that it replaces
ceil = z3.Function('ceil', Write, Int)
floor = z3.Function('floor', Write, Int)  # of the holder; its IDs are later
base = z3.Function('base', Write, Int)  # an acquisition: the ceiling that it starts after
first = z3.Const('first', Write)  # the record before all of them

RULES = {
    'R1': 'issues above the recorded ceiling',
    'R1-unknown': 'counts an extension whose outcome is unknown',
    'R2': 'starts below the ceiling that it has read',
    'R3-compare': 'the registry does not compare the version',
    'R3-another': 'goes on from the record of another holder after a failed compare',
    'R3-late': 'takes a late answer to an earlier request',
    'R4': 'a release leaves a ceiling below what was issued',
    'R9-first': 'a lower ceiling counts only when it is recorded',
}

FIELDS = {
    'last': ((), Int),
    'log': ((Int,), Write),
    'sent': ((Write,), z3.BoolSort()),
    'phase': ((Holder,), Phase),
    'held': ((Holder,), z3.BoolSort()),  # has held it, or holds it
    'acquired': ((Holder,), Write),  # the acquisition, once confirmed
    'waits': ((Holder,), z3.BoolSort()),  # for the answer to `latest`
    'latest': ((Holder,), Write),
    'ceiling': ((Holder,), Int),  # in memory
    'newest': ((Holder,), Int),  # timestamp issued, the floor before the first
    'uses': ((Holder, Int), Int),  # how often it has begun to use a timestamp
}

INITIAL = {
    'last': lambda: z3.IntVal(0),
    'log': lambda v: first,
    'sent': lambda w: z3.BoolVal(False),
    'phase': lambda h: NEW,
    'held': lambda h: z3.BoolVal(False),
    'acquired': lambda h: first,
    'waits': lambda h: z3.BoolVal(False),
    'latest': lambda h: first,
    'ceiling': lambda h: z3.IntVal(0),
    'newest': lambda h: z3.IntVal(0),
    'uses': lambda h, t: z3.IntVal(0),
}


def applied(s, w):
    return z3.And(read(w) + 1 >= 0, read(w) + 1 <= s.last(), s.log(read(w) + 1) == w)


def _known(s, v):
    return z3.And(v >= 0, v <= s.last())


def _base_of(s, h, v):
    """The ceiling to start after: that of the record; of an own acquisition without an answer, the one it replaced."""
    own = z3.And(of(s.log(v)) == h, kind(s.log(v)) == ACQUIRE)
    return z3.If(own, base(s.log(v)), ceil(s.log(v)))


def _send(s, h, w):
    return s.set('sent', (w,), z3.BoolVal(True)).set('latest', (h,), w).set('waits', (h,), z3.BoolVal(True))


def _is_new(s, w, h, a_kind, v):
    return z3.And(z3.Not(s.sent(w)), w != first, of(w) == h, kind(w) == a_kind, read(w) == v, _known(s, v))


def actions(without=None):
    """`without`: the rule to leave out."""

    def rule(name, condition):
        return z3.BoolVal(True) if name == without else condition

    def can_acquire(s, h, w, v):
        starts_after = rule('R2', floor(w) >= base(w))
        return z3.And(
            s.phase(h) == NEW, _is_new(s, w, h, ACQUIRE, v), base(w) == _base_of(s, h, v),
            starts_after, ceil(w) >= floor(w),
        )

    def can_extend(s, h, w, v):
        return z3.And(
            s.phase(h) == HELD, _is_new(s, w, h, EXTEND, v), rule('R3-another', of(s.log(v)) == h),
            floor(w) == floor(s.acquired(h)), ceil(w) >= s.newest(h), ceil(w) >= floor(w),
        )

    def extend(s, h, w, v):
        low = z3.If(ceil(w) < s.ceiling(h), ceil(w), s.ceiling(h))
        return _send(s, h, w) if without == 'R9-first' else _send(s, h, w).set('ceiling', (h,), low)

    def can_apply(s, w):
        compared = rule('R3-compare', read(w) == s.last())
        return z3.And(s.sent(w), compared, z3.Not(applied(s, w)))

    def apply(s, w):
        return s.set('log', (s.last() + 1,), w).set('last', (), s.last() + 1)

    def can_confirm(s, h, w):
        known = z3.And(s.sent(w), of(w) == h, applied(s, w)) if without == 'R3-late' else w == s.latest(h)
        told = rule('R1-unknown', applied(s, w)) if without == 'R1-unknown' else applied(s, w)
        fits = z3.Or(z3.And(s.phase(h) == NEW, kind(w) == ACQUIRE, applied(s, w)),
                     z3.And(s.phase(h) == HELD, kind(w) == EXTEND, told))
        return z3.And(s.waits(h), known, fits)

    def confirm(s, h, w):
        is_first = s.phase(h) == NEW
        begun = (s.set('phase', (h,), HELD).set('held', (h,), z3.BoolVal(True))
                 .set('acquired', (h,), z3.If(is_first, w, s.acquired(h)))
                 .set('newest', (h,), z3.If(is_first, floor(w), s.newest(h))))
        return begun.set('ceiling', (h,), ceil(w)).set('waits', (h,), z3.BoolVal(False))

    def can_issue(s, h, t):
        within = rule('R1', t <= s.ceiling(h))
        return z3.And(s.phase(h) == HELD, t > s.newest(h), t > floor(s.acquired(h)), within)

    def issue(s, h, t):
        return s.set('newest', (h,), t).set('uses', (h, t), s.uses(h, t) + 1)

    def can_release(s, h, w, v):
        left = floor(w) if without == 'R4' else s.newest(h)
        return z3.And(s.held(h), _is_new(s, w, h, RELEASE, v), of(s.log(v)) == h,
                      floor(w) == floor(s.acquired(h)), ceil(w) == left)

    def release(s, h, w, v):
        return _end(s, h).set('sent', (w,), z3.BoolVal(True))

    def can_reclaim(s, w, v):
        found = s.log(v)
        return z3.And(_is_new(s, w, of(found), RECLAIM, v), ceil(w) == ceil(found), floor(w) == floor(found))

    return [
        Action('SendAcquire', (Holder, Write, Int), can_acquire, lambda s, h, w, v: _send(s, h, w)),
        Action('SendExtend', (Holder, Write, Int), can_extend, extend),
        Action('SendRelease', (Holder, Write, Int), can_release, release),
        Action('SendReclaim', (Write, Int), can_reclaim, lambda s, w, v: s.set('sent', (w,), z3.BoolVal(True))),
        Action('Apply', (Write,), can_apply, apply),
        Action('Confirm', (Holder, Write), can_confirm, confirm),
        Action('GiveUp', (Holder,), lambda s, h: s.waits(h), lambda s, h: s.set('waits', (h,), z3.BoolVal(False))),
        Action('Issue', (Holder, Int), can_issue, issue),
        Action('Crash', (Holder,), lambda s, h: s.phase(h) != ENDED, _end),
    ]


def _end(s, h):
    return s.set('phase', (h,), ENDED).set('waits', (h,), z3.BoolVal(False))


def _derive(s, terms):
    """The record, what each write replaces, and the writes of each holder."""
    now = s.log(s.last())
    found = [now, *(s.log(read(w)) for w in terms[Write])]
    holders = [*terms[Holder], of(now), *(of(w) for w in terms[Write])]
    yield from (s.last(), first, *found, *holders)
    for h in holders:
        yield from (s.latest(h), s.acquired(h))


def _axioms(terms):
    return [read(first) == -1, kind(first) == FIRST]


def system(without=None):
    from lease_invariant import INVARIANT, SAFETY

    contents = {'of': of, 'kind': kind, 'reads': read, 'ceiling': ceil, 'floor': floor}
    return System('lease', FIELDS, INITIAL, _axioms, actions(without), INVARIANT, SAFETY, _derive, contents)
