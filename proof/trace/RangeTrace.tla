----------------------------- MODULE RangeTrace -----------------------------
(* Whether recorded ranges are a behaviour of the segments: no ID of a tag is in two ranges, unless it was returned in
   between. A trace has the steps of all processes with one tag:
     take   [from, to]   a process has got a range
     return [from, to]   a process gives a range back; the database may refuse it *)
EXTENDS Integers, Sequences, TLC, Recorded

VARIABLES
    t,        \* the trace
    i,        \* the next step
    owned     \* the IDs that were taken and not returned: disjoint intervals that do not adjoin

Steps == Traces[t].steps
Step == Steps[i]

Meets(a, b) == a[1] <= b[2] /\ b[1] <= a[2]

\* Joins a range with the intervals that adjoin it.
Join(range, all) ==
    LET beside == {other \in all : other[2] + 1 = range[1] \/ range[2] + 1 = other[1]}
        lowest == CHOOSE low \in {x[1] : x \in beside \cup {range}} : \A x \in beside \cup {range} : low <= x[1]
        last == CHOOSE high \in {x[2] : x \in beside \cup {range}} : \A x \in beside \cup {range} : high >= x[2]
    IN (all \ beside) \cup {<<lowest, last>>}

\* Takes a range out of the interval that contains it.
Without(range, all) ==
    UNION {IF Meets(x, range)
           THEN {y \in {<<x[1], range[1] - 1>>, <<range[2] + 1, x[2]>>} : y[1] <= y[2]}
           ELSE {x} : x \in all}

Take ==
    /\ Step.kind = "take"
    /\ Step.from <= Step.to
    /\ \A range \in owned : ~Meets(range, <<Step.from, Step.to>>)
    /\ owned' = Join(<<Step.from, Step.to>>, owned)

Return ==
    /\ Step.kind = "return"
    /\ \E range \in owned : range[1] <= Step.from /\ Step.to <= range[2]
    /\ owned' = Without(<<Step.from, Step.to>>, owned)

Init == t \in DOMAIN Traces /\ i = 1 /\ owned = {}
Next == i <= Len(Steps) /\ (Take \/ Return) /\ i' = i + 1 /\ UNCHANGED t

ASSUME \A k \in DOMAIN Traces : TLCSet(k, 0)
Reach == IF i > TLCGet(t) THEN TLCSet(t, i) /\ PrintT(<<"reached", t, i>>) ELSE TRUE
=============================================================================
