"""The worker windows of one worker ID: rules W1 to W5, with R1 and R2 as they apply to windows.

The record is a log of writes as in lease.py. Here any server writes for any window, several at the same time, and a
request may be executed late or more than once. A holder is one window: a lease of a client with its first timestamp. A
client accepts any answer for its window, in any order. The registry may lose its history at any time.
"""

import z3

from induction import Action, Holder, Int, System, Write

Phase, (NEW, HELD, ENDED) = z3.EnumSort('ClientPhase', ['NEW', 'HELD', 'ENDED'])
Fate, (OPEN, ANSWERED, UNDONE) = z3.EnumSort('Fate', ['OPEN', 'ANSWERED', 'UNDONE'])
Kind, (FIRST, ACQUIRE, EXTEND, RELEASE, FREE, UNDO, LOST, REGISTER) = z3.EnumSort(
    'WindowKind', ['FIRST', 'ACQUIRE', 'EXTEND', 'RELEASE', 'FREE', 'UNDO', 'LOST', 'REGISTER']
)

# What a window and a write contain. It never changes, so it is no part of the state.
start = z3.Function('start', Holder, Int)  # from - 1: the floor of the window
of = z3.Function('window', Write, Holder)
kind = z3.Function('window kind', Write, Kind)
read = z3.Function('window read', Write, Int)  # the version that it replaces
ceil = z3.Function('until', Write, Int)
told = z3.Function('told', Write, Int)  # from - 1 in the answer to the request that made the write
first = z3.Const('first window', Write)

RULES = {
    'R1': 'a client issues above the end of the newest answer',
    'R2': 'a window starts below the end that was read',
    'R3': 'the registry does not compare the version',
    'W1': 'the first timestamp of a window is not in its record',
    'W2': 'a repeated request is answered without a write',
    'W3': 'a server lowers the end that another one has recorded',
    'W4': 'windows are not registered again',
    'W5': 'a release leaves an end below what was used',
}

FIELDS = {
    'last': ((), Int),
    'log': ((Int,), Write),
    'sent': ((Write,), z3.BoolSort()),
    'fate': ((Write,), Fate),  # what the server that made it has decided
    'phase': ((Holder,), Phase),
    'held': ((Holder,), z3.BoolSort()),  # an answer has arrived, now or earlier
    'answer': ((Holder,), Write),  # the write whose answer arrived last
    'reached': ((Holder,), Write),  # the answer that allowed the newest timestamp
    'floor': ((Holder,), Int),  # from - 1 in the first answer
    'newest': ((Holder,), Int),  # timestamp used, the floor before the first
    'uses': ((Holder, Int), Int),
    'young': ((), z3.BoolSort()),  # the grace after a loss of history
    'least': ((), Int),  # newcomers start after it: the end of the last grace
}

INITIAL = {
    'last': lambda: z3.IntVal(0),
    'log': lambda v: first,
    'sent': lambda w: z3.BoolVal(False),
    'fate': lambda w: OPEN,
    'phase': lambda h: NEW,
    'held': lambda h: z3.BoolVal(False),
    'answer': lambda h: first,
    'reached': lambda h: first,
    'floor': lambda h: z3.IntVal(0),
    'newest': lambda h: z3.IntVal(0),
    'uses': lambda h, t: z3.IntVal(0),
    'young': lambda: z3.BoolVal(False),
    'least': lambda: z3.IntVal(0),
}


def applied(s, w):
    return z3.And(read(w) + 1 >= 0, read(w) + 1 <= s.last(), s.log(read(w) + 1) == w)


def is_window(w):
    """Whether a record is a window that is not free."""
    return z3.Or(kind(w) == ACQUIRE, kind(w) == EXTEND, kind(w) == REGISTER)


def counts(s, w):
    """Whether a client may hold an end that this write has recorded, now or when a late answer arrives."""
    answered = z3.Or(kind(w) == ACQUIRE, kind(w) == EXTEND)
    return z3.And(applied(s, w), answered, s.fate(w) != UNDONE, s.phase(of(w)) != ENDED)


def reserved(s):
    """Newcomers start at or above this."""
    recorded = ceil(s.log(s.last()))
    return z3.If(recorded > s.least(), recorded, s.least())


def _new(s, w, h, a_kind, v):
    made = z3.And(z3.Not(s.sent(w)), w != first, of(w) == h, kind(w) == a_kind, read(w) == v)
    return z3.And(made, v >= 0, v <= s.last())


def _sent(s, w):
    return s.set('sent', (w,), z3.BoolVal(True))


def _arrived(s, h, w, floor):
    is_first = s.phase(h) == NEW
    return (s.set('phase', (h,), HELD).set('held', (h,), z3.BoolVal(True)).set('answer', (h,), w)
            .set('reached', (h,), z3.If(is_first, w, s.reached(h)))
            .set('floor', (h,), z3.If(is_first, floor, s.floor(h)))
            .set('newest', (h,), z3.If(is_first, floor, s.newest(h))))


def actions(without=None):
    """`without`: the rule to leave out."""

    def rule(name, condition):
        return z3.BoolVal(True) if name == without else condition

    def can_acquire(s, h, w, v):
        after = z3.And(start(h) >= ceil(s.log(v)), start(h) >= s.least())
        return z3.And(_new(s, w, h, ACQUIRE, v), z3.Not(s.young()), rule('R2', after),
                      ceil(w) > start(h), told(w) == start(h))

    def can_extend(s, h, w, v):
        found = s.log(v)
        return z3.And(_new(s, w, h, EXTEND, v), of(found) == h, is_window(found), rule('W3', ceil(w) >= ceil(found)),
                      ceil(w) > start(h), told(w) == (z3.IntVal(0) if without == 'W1' else start(h)))

    def can_apply(s, w):
        return z3.And(s.sent(w), rule('R3', read(w) == s.last()), z3.Not(applied(s, w)))

    def can_answer(s, w):
        return z3.And(applied(s, w), z3.Or(kind(w) == ACQUIRE, kind(w) == EXTEND), s.fate(w) == OPEN)

    def can_arrive(s, h, w):
        return z3.And(s.fate(w) == ANSWERED, of(w) == h, s.phase(h) != ENDED)

    def can_arrive_found(s, h, v):
        found = s.log(v)
        return z3.And(v > 0, v <= s.last(), of(found) == h, z3.Or(kind(found) == ACQUIRE, kind(found) == EXTEND),
                      s.phase(h) != ENDED)

    def can_undo(s, w, undo):
        return z3.And(applied(s, w), kind(w) == ACQUIRE, s.fate(w) == OPEN,
                      _new(s, undo, of(w), UNDO, read(w) + 1), ceil(undo) == start(of(w)))

    def can_issue(s, h, t):
        return z3.And(s.phase(h) == HELD, t > s.newest(h), t > s.floor(h), rule('R1', t <= ceil(s.answer(h))))

    def can_release(s, h, w, v):
        used = z3.Implies(s.held(h), ceil(w) >= s.newest(h))
        return z3.And(_new(s, w, h, RELEASE, v), s.phase(h) == ENDED, of(s.log(v)) == h, is_window(s.log(v)),
                      ceil(w) >= start(h), ceil(w) == start(h) if without == 'W5' else used)

    def can_free(s, w, v):
        return z3.And(_new(s, w, of(s.log(v)), FREE, v), ceil(w) == ceil(s.log(v)))

    def can_lose(s, w):
        return _new(s, w, of(s.log(s.last())), LOST, s.last())

    def lose(s, w):
        return _applied(_sent(s, w), w).set('young', (), z3.BoolVal(True))

    def can_register(s, h, w, v):
        return z3.And(_new(s, w, h, REGISTER, v), s.young(), of(s.log(v)) == h, ceil(w) >= ceil(s.log(v)),
                      ceil(w) > start(h))

    def is_covered(s, least, h, w):
        top = z3.If(ceil(s.log(s.last())) > least, ceil(s.log(s.last())), least)
        registered = rule('W4', z3.Implies(counts(s, w), ceil(w) <= top))
        return z3.And(registered, z3.Implies(z3.And(s.held(h), s.phase(h) == ENDED), s.newest(h) <= top))

    made = [
        Action('SendAcquire', (Holder, Write, Int), can_acquire, lambda s, h, w, v: _sent(s, w)),
        Action('SendExtend', (Holder, Write, Int), can_extend, lambda s, h, w, v: _sent(s, w)),
        Action('SendRelease', (Holder, Write, Int), can_release, lambda s, h, w, v: _sent(s, w)),
        Action('SendFree', (Write, Int), can_free, lambda s, w, v: _sent(s, w)),
        Action('Undo', (Write, Write), can_undo, lambda s, w, undo: _sent(s, undo).set('fate', (w,), UNDONE)),
        Action('Apply', (Write,), can_apply, _applied),
        Action('Answer', (Write,), can_answer, lambda s, w: s.set('fate', (w,), ANSWERED)),
        Action('Arrive', (Holder, Write), can_arrive, lambda s, h, w: _arrived(s, h, w, told(w))),
        Action('Issue', (Holder, Int), can_issue,
               lambda s, h, t: s.set('newest', (h,), t).set('uses', (h, t), s.uses(h, t) + 1)
               .set('reached', (h,), s.answer(h))),
        Action('Close', (Holder,), lambda s, h: s.phase(h) != ENDED, lambda s, h: s.set('phase', (h,), ENDED)),
        Action('Lose', (Write,), can_lose, lose),
        Action('SendRegister', (Holder, Write, Int), can_register, lambda s, h, w, v: _sent(s, w)),
        Action('Settle', (Int,), lambda s, least: s.young(),
               lambda s, least: s.set('young', (), z3.BoolVal(False)).set('least', (), least),
               each=((Holder, Write), is_covered)),
    ]
    if without == 'W2':
        made.append(Action('ArriveWithoutWrite', (Holder, Int), can_arrive_found,
                           lambda s, h, v: _arrived(s, h, s.log(v), start(h))))
    return made


def _applied(s, w):
    return s.set('log', (s.last() + 1,), w).set('last', (), s.last() + 1)


def _derive(s, terms):
    """The record, what each write replaces, and the answers that the clients have."""
    now = s.log(s.last())
    found = [now, *(s.log(read(w)) for w in terms[Write])]
    holders = [*terms[Holder], of(now), *(of(w) for w in terms[Write])]
    yield from (s.last(), first, *found, *holders)
    yield from (s.log(v) for v in terms[Int])
    yield from (s.answer(h) for h in holders)
    yield from (s.reached(h) for h in holders)


def _axioms(terms):
    return [read(first) == -1, kind(first) == FIRST]


def system(without=None):
    from windows_invariant import INVARIANT, SAFETY

    contents = {'window': of, 'kind': kind, 'reads': read, 'until': ceil, 'told': told}
    return System('windows', FIELDS, INITIAL, _axioms, actions(without), INVARIANT, SAFETY, _derive, contents)
