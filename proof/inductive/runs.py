"""Runs from the first state, as lines of an action and its parameters.

`ALL` shows that the actions are possible: it has each of them, and every reachable state has the invariant. The others
end in a duplicate, of the last two holders that issue, if the rule is left out, and cannot if it is kept.
Holders are a, b, c; a parameter that begins with t is a time; numbers are versions; the others are writes.
"""

_A = 'SendAcquire a w1 0; Apply w1; Confirm a w1'
_WA = 'SendAcquire a w1 0; Apply w1; Answer w1; Arrive a w1'


def _b(version):
    return f'SendAcquire b x1 {version}; Apply x1; Confirm b x1'


def _wb(version, holder='b', write='x1'):
    return f'SendAcquire {holder} {write} {version}; Apply {write}; Answer {write}; Arrive {holder} {write}'


LEASE = {
    'ALL': f'{_A}; Issue a t1; SendExtend a w2 1; GiveUp a; SendExtend a w3 1; Apply w3; Confirm a w3; Issue a t2; '
    f'SendRelease a w4 2; Apply w4; SendReclaim r1 3; Apply r1; {_b(4)}; Issue b t3; Crash b',
    'R1': f'{_A}; {_b(1)}; Issue a t; Issue b t',
    'R1-unknown': f'{_A}; SendExtend a w2 1; Confirm a w2; {_b(1)}; Issue a t; Issue b t',
    'R2': f'{_A}; {_b(1)}; Issue a t; Issue b t',
    'R3-compare': f'{_A}; SendExtend a w2 1; {_b(1)}; Apply w2; SendAcquire c y1 3; Apply y1; Confirm c y1; '
    'Issue b t; Issue c t',
    'R3-another': f'{_A}; {_b(1)}; SendExtend a w2 2; Apply w2; Confirm a w2; Issue a t; Issue b t',
    'R3-late': f'{_A}; SendExtend a w2 1; Apply w2; GiveUp a; SendExtend a w3 2; Apply w3; Confirm a w2; {_b(3)}; '
    'Issue a t; Issue b t',
    'R4': f'{_A}; Issue a t; SendRelease a w2 1; Apply w2; {_b(2)}; Issue b t',
    'R9-first': f'{_A}; SendExtend a w2 1; Apply w2; {_b(2)}; Issue a t; Issue b t',
}

WINDOWS = {
    'ALL': f'{_WA}; Issue a t1; SendExtend a w2 1; Apply w2; Answer w2; Arrive a w2; Lose l1; SendRegister a w3 3; '
    'Apply w3; Settle t2; Issue a t3; Close a; SendRelease a w4 4; Apply w4; SendFree f1 5; Apply f1; '
    f'SendAcquire b x1 6; Apply x1; Undo x1 u1; Apply u1; {_wb(8, "c", "y1")}; Issue c t4',
    'R1': f'{_WA}; {_wb(1)}; Issue a t; Issue b t',
    'R2': f'{_WA}; {_wb(1)}; Issue a t; Issue b t',
    'R3': f'{_WA}; SendExtend a w2 1; {_wb(1)}; Apply w2; {_wb(3, "c", "y1")}; Issue b t; Issue c t',
    'W1': f'{_wb(0)}; Issue b t; SendAcquire a w1 1; Apply w1; SendExtend a w2 2; Apply w2; Answer w2; Arrive a w2; '
    'Issue a t',
    'W2': f'SendAcquire a w1 0; Apply w1; ArriveWithoutWrite a 1; Undo w1 u1; Apply u1; {_wb(2)}; Issue a t; Issue b t',
    'W3': f'{_WA}; SendExtend a w2 1; Apply w2; {_wb(2)}; Issue a t; Issue b t',
    'W4': f'{_WA}; Lose l1; Settle t1; {_wb(2)}; Issue a t; Issue b t',
    'W5': f'{_WA}; Issue a t; Close a; SendRelease a w2 1; Apply w2; {_wb(2)}; Issue b t',
}
