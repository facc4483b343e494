----------------------------- MODULE LeaseTrace -----------------------------
(* Whether recorded steps are a behaviour of the lease: for each trace, TLC looks for an order of the registry's writes
   that explains every step under the rules of LeaseRules.tla. A trace has the steps that all processes took with one
   worker ID, in the order of a clock that they share (order.mjs). A write is executed at any moment between its sending
   and its answer; without an answer, at any later moment or never.

   Steps, with the key of their holder (a server, or the lease of a worker window):
     send   [id, key, before, after, at, floor, pool, young, unchanged, horizon, window]
     done   [id, key, stored]      stored is Absent if the store has refused the write
     read   [asked, rec]           asked: the first step after the request
     start  [key, ceiling, cap, state, at, leases]   a start from the worker file, which then has the ceiling cap
     file   [key, ceiling]         the file stands in for the registry
     window [key, from, until]     the answer of a server to the holder of a window
     issue  [key, from, to] *)
EXTENDS LeaseRules, Sequences, FiniteSets, TLC, Recorded

(* The module Recorded is written for each run. It defines Traces, a sequence of [initial, histories, steps]. *)

VARIABLES
    t,        \* the trace
    i,        \* the next step
    rec,      \* the record of the worker ID
    past,     \* the records since the oldest request under way: a sequence of [rec, until]
    flight,   \* the ids of writes that are neither executed nor refused
    term,     \* for each key: [floor, first, newest, recorded, limit, file], or none
    cap,      \* for each key: the ceiling that the holder knows
    ended,    \* the times that ended terms have used: a set of <<first, newest>>
    losses    \* how often the registry has lost its history

vars == <<t, i, rec, past, flight, term, cap, ended, losses>>

Steps == Traces[t].steps
Step == Steps[i]
Unused == -1
Endless == 2147483647

With(f, key, value) == [k \in DOMAIN f \cup {key} |-> IF k = key THEN value ELSE f[k]]
Has(key) == key \in DOMAIN term
Cap(key) == IF key \in DOMAIN cap THEN cap[key] ELSE Unused

\* The writes of the trace are found by their id.
Sent(id) == Steps[id]

\* In an action, TLC follows each side of a disjunction; a condition is a value.
Is(condition) == condition = TRUE

-----------------------------------------------------------------------------
(* The kind of a write. *)

IsReclaim(w) == w.before # Absent /\ w.after = [w.before EXCEPT !.free = TRUE]
IsSameLease(w) == w.before # Absent /\ w.before.lease = w.after.lease /\ ~w.before.free
IsRelease(w) == IsSameLease(w) /\ w.after.free /\ ~IsReclaim(w)
IsExtension(w) == IsSameLease(w) /\ ~w.after.free
\* A worker ID that a window had before the registry lost it stays reserved.
IsReservation(w) == w.before = Absent /\ w.after.free

\* The holder has the worker ID, and registers it in a registry that has lost its record or is behind; or it has
\* started from its file, and adopts the record of its earlier process.
IsRegistration(w) ==
    /\ Has(w.key) /\ ~w.after.free
    /\ w.after.ceiling >= Cap(w.key)
    /\ \/ /\ losses > 0
          /\ w.before = Absent \/ w.before.lease = w.after.lease
          /\ w.after.ceiling >= RegisteredCeiling(0, Cap(w.key), w.before)
       \/ /\ w.before # Absent
          /\ w.before.lease \in term[w.key].leases
          /\ w.after.ceiling >= w.before.ceiling

-----------------------------------------------------------------------------
(* The rules at the sending of a write. *)

Newest(key) == IF Has(key) THEN term[key].newest ELSE Unused
Floor(key) == IF Has(key) THEN term[key].floor ELSE Unused

\* R4, R9, W3, W5: a ceiling falls at most to the newest ID of its holder; that of a window only at its release.
MayExtend(w) ==
    /\ w.after.write > w.before.write
    /\ w.after.ceiling >= (IF w.window \/ w.foreign THEN w.before.ceiling
                                                    ELSE ReleasedCeiling(Floor(w.key), Newest(w.key)))
MayRelease(w) == w.after.ceiling >= Max({Floor(w.key), Newest(w.key)})

\* R2, R5, R10. A process takes a record in use only from its own address, or in a pool after its ceiling.
Margin == 60000
MayTake(w) ==
    /\ ~w.after.free
    /\ w.floor # NoFloor
    /\ w.before # Absent => w.after.ceiling >= w.before.ceiling
    /\ \/ w.before = Absent \/ w.before.free \/ ~w.pool
       \/ MayTakeExpired(w.before, w.at, Margin, TRUE)

MaySend(w) ==
    \/ IsReclaim(w) /\ w.pool /\ MayReclaim(w.before, w.unchanged, w.horizon)
    \/ IsRelease(w) /\ MayRelease(w)
    \/ IsExtension(w) /\ MayExtend(w)
    \/ IsReservation(w)
    \/ ~IsSameLease(w) /\ (IsRegistration(w) \/ MayTake(w))

-----------------------------------------------------------------------------
(* The execution of a write. *)

UsedBy(key) == IF Has(key) /\ term[key].newest # Unused THEN {<<term[key].first, term[key].newest>>} ELSE {}

NewTerm(floor, recorded, leases) ==
    [floor |-> floor, first |-> Unused, newest |-> Unused, recorded |-> recorded, limit |-> Endless, leases |-> leases]

Taken(w) ==
    /\ ended' = ended \cup UsedBy(w.key)
    /\ term' = With(term, w.key,
           NewTerm(FloorOf(IF w.before = Absent THEN 0 ELSE w.before.ceiling, 0, 0, 0, w.floor), w.after.ceiling, {}))

Kept(w, limit) ==
    /\ UNCHANGED ended
    /\ term' = IF ~Has(w.key) THEN term
               ELSE [term EXCEPT ![w.key].recorded = Max({@, w.after.ceiling}), ![w.key].limit = Min({@, limit})]

Became(value) == rec' = value /\ past' = Append(past, [rec |-> rec, until |-> i])

Apply ==
    \E id \in flight : LET w == Sent(id) IN
        /\ Compares(w.before, rec)
        /\ Became(w.after)
        /\ flight' = flight \ {id}
        /\ IF Is(IsRelease(w)) THEN Kept(w, w.after.ceiling)
           ELSE IF Is(IsReclaim(w) \/ IsExtension(w) \/ IsReservation(w)) THEN Kept(w, Endless)
           ELSE \/ Is(IsRegistration(w)) /\ Kept(w, Endless)
                \/ Is(MayTake(w)) /\ Taken(w)
        /\ UNCHANGED <<t, i, cap, losses>>

-----------------------------------------------------------------------------
(* The steps. *)

Done == i' = i + 1

\* What the record was at some moment since the step `from`.
WasSince(from, value) == rec = value \/ \E k \in DOMAIN past : past[k].until >= from /\ past[k].rec = value

\* Older records are forgotten when no request of the trace can have read them.
Forget == past' = SelectSeq(past, LAMBDA p : p.until >= Step.oldest)

Send ==
    /\ Step.kind = "send"
    /\ Is(MaySend(Step))
    /\ flight' = flight \cup {i}
    \* A lower ceiling holds from the moment at which it may be recorded.
    /\ cap' = IF Step.window \/ Step.key \notin DOMAIN cap \/ ~IsExtension(Step) THEN cap
              ELSE With(cap, Step.key, LoweredCeiling(Cap(Step.key), Step.after.ceiling))
    /\ UNCHANGED <<rec, term, ended, losses>>

WasSent == Step.id >= 1 /\ Step.id < i

Confirmed ==
    /\ Step.kind = "done" /\ Step.stored # Absent
    /\ WasSent
    /\ Step.id \notin flight
    /\ cap' = IF Step.window \/ Step.stored.free THEN cap ELSE With(cap, Step.key, Step.stored.ceiling)
    /\ UNCHANGED <<rec, flight, term, ended, losses>>

Refused ==
    /\ Step.kind = "done" /\ Step.stored = Absent
    /\ WasSent
    /\ Step.id \in flight
    /\ Is(\/ rec # Sent(Step.id).before
          \/ \E k \in DOMAIN past : past[k].until >= Step.id /\ past[k].rec # Sent(Step.id).before
          \/ Traces[t].histories > 1)
    /\ flight' = flight \ {Step.id}
    /\ UNCHANGED <<rec, term, cap, ended, losses>>

Read ==
    /\ Step.kind = "read"
    /\ Is(WasSince(Step.asked, Step.rec))
    /\ UNCHANGED <<rec, flight, term, cap, ended, losses>>

\* The registry shows an earlier record, or none: it has lost its history. Each loss begins a history.
Earlier == {Absent, Traces[t].initial} \cup {Steps[k].after : k \in {k \in 1..(i - 1) : Steps[k].kind = "send"}}
Shown == IF Step.kind = "read" THEN {Step.rec} ELSE IF Step.kind = "send" THEN {Step.before} ELSE {}
Lose ==
    /\ losses < Traces[t].histories - 1
    /\ \E value \in Shown : value # rec /\ value \in Earlier /\ Became(value)
    /\ losses' = losses + 1
    /\ UNCHANGED <<t, i, flight, term, cap, ended>>

Start ==
    /\ Step.kind = "start"
    /\ MayStartFromFile(Step, FALSE, Step.at)
    /\ term' = With(term, Step.key, NewTerm(Step.ceiling, 0, Step.leases))
    /\ ended' = ended \cup UsedBy(Step.key)
    /\ cap' = With(cap, Step.key, Step.cap)
    /\ UNCHANGED <<rec, flight, losses>>

StandIn ==
    /\ Step.kind = "file"
    /\ cap' = With(cap, Step.key, Step.ceiling)
    /\ UNCHANGED <<rec, flight, term, ended, losses>>

\* W1, W2: a window is answered only after the write of its end.
Window ==
    /\ Step.kind = "window"
    /\ Has(Step.key)
    /\ Step.until <= term[Step.key].recorded
    \* Times of more than a day before the trace are all 0.
    /\ Is(Step.from > term[Step.key].floor \/ (Step.from = 0 /\ term[Step.key].floor = 0))
    /\ cap' = With(cap, Step.key, Step.until)
    /\ UNCHANGED <<rec, flight, term, ended, losses>>

Meets(a, b) == a[1] <= b[2] /\ b[1] <= a[2]

\* R1, R2: within the own ceiling and above the floor; and no other holder has used the time.
Issue ==
    /\ Step.kind = "issue"
    /\ Has(Step.key)
    /\ LET held == term[Step.key] IN
        /\ MayIssue(Step.from, held.newest, held.floor, Cap(Step.key))
        /\ Step.from <= Step.to /\ Step.to <= Cap(Step.key) /\ Step.to <= held.limit
        /\ \A used \in ended \cup UNION {UsedBy(key) : key \in DOMAIN term \ {Step.key}} :
              ~Meets(used, <<Step.from, Step.to>>)
        /\ term' = [term EXCEPT
              ![Step.key].first = IF @ = Unused THEN Step.from ELSE @, ![Step.key].newest = Step.to]
    /\ UNCHANGED <<rec, flight, cap, ended, losses>>

Take ==
    /\ i <= Len(Steps)
    /\ Send \/ Confirmed \/ Refused \/ Read \/ Start \/ StandIn \/ Window \/ Issue
    /\ Done /\ Forget /\ UNCHANGED t

Init ==
    /\ t \in DOMAIN Traces
    /\ i = 1
    /\ rec = Traces[t].initial
    /\ past = <<>> /\ flight = {} /\ term = << >> /\ cap = << >> /\ ended = {} /\ losses = 0

Next == (i <= Len(Steps) /\ (Apply \/ Lose)) \/ Take

-----------------------------------------------------------------------------
(* Prints how far each trace was followed. *)
ASSUME \A k \in DOMAIN Traces : TLCSet(k, 0)
Reach == IF i > TLCGet(t) THEN TLCSet(t, i) /\ PrintT(<<"reached", t, i>>) ELSE TRUE
=============================================================================
