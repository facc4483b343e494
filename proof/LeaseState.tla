----------------------------- MODULE LeaseState -----------------------------
(* The state of the model of the lease: a registry, its servers, their worker files, and writes under way. *)
EXTENDS LeaseRules, FiniteSets, TLC

CONSTANTS
    Servers, Workers,
    Pool,          \* whether a worker ID belongs to whoever takes it; else to one ip:port
    Twins,         \* whether all servers of a fixed registry have one ip:port
    Holding,       \* the servers that hold a worker ID at the beginning
    Others,        \* the servers with another layout
    Shorts, Short, \* the servers with a shorter lease TTL, and that TTL
    Horizon,       \* the lease TTL
    Offset,        \* the largest clock offset that the rules allow for
    Drift,         \* the largest clock offset that occurs
    Registration,  \* the grace without that offset
    Margin,        \* how long after its ceiling a pool record in use counts as expired
    Files,         \* whether the servers have worker files
    Maintain,      \* whether abandoned records of a pool are reclaimed
    MaxTime,       \* of true time, from 1; 0: clocks show any time from 0 to Drift
    Reach,         \* a running holder completes a report in this time, from its last one or from the request for its
                   \* worker ID; 0: it need not
    Stops,         \* whether servers stop gracefully
    Alone,         \* whether one process of an ip:port runs at a time
    Recognized,    \* whether data that went back to an earlier state has another origin
    Excused,       \* whether IDs of a copied process count only after its next report
    LossKinds,     \* kinds of lost history: "emptied", "back", "document"
    LossTime,      \* the latest time at which history is lost
    Age,           \* the age of the last report of a holder at the beginning
    Leases, Writes, Lates, Losses, Forks, Jumps, Jump, Copies, \* bounds of what happens
    Without        \* the rules that are taken out

VARIABLES
    now,     \* true time
    origin,  \* the copy of the data that answers
    doc,     \* the document of the registry
    rec,     \* the record of each worker ID
    wrote,   \* the true time of its latest write
    watch,   \* what the maintenance of the pool has seen of it, and since when
    p,       \* the process on each server
    file,    \* the worker file of each server
    late,    \* writes that may arrive later
    past,    \* an earlier state of the registry, to which it may go back; of a file, likewise
    mark,    \* one pair of worker ID and timestamp, whichever: it must not be used twice
    spent,   \* the lease under which it was used, or 0
    wrong,   \* what has gone wrong
    count    \* how often each bounded action has happened

vars == <<now, origin, doc, rec, wrote, watch, p, file, late, past, mark, spent, wrong, count>>
registry == <<origin, doc, rec, wrote>>
judged == <<mark, spent, wrong>>

Has(rule) == rule \notin Without

(* Clocks: each reading of a clock is up to Drift ahead of true time, so that two clocks differ by at most Drift. *)
Clock == now..(now + Drift)
Times == 1..(MaxTime + Drift + Jump)
HorizonOf(s) == IF s \in Shorts THEN Short ELSE Horizon
LayoutOf(s) == IF s \in Others THEN 1 ELSE 0
InstanceOf(s) == IF Pool \/ Twins THEN "all" ELSE ToString(s)
Grace(horizon) == IF Pool THEN PoolGrace(Registration, Offset) ELSE FixedGrace(horizon, Registration, Offset)

NoHistory == [id |-> 0, generation |-> 0, origin |-> 0, began |-> 0]
HistoryOf(d) == [id |-> d.id, generation |-> d.generation, origin |-> d.origin, began |-> d.began]

Down == [
    op |-> "down", lease |-> 0, attempted |-> 0, confirmed |-> 0, confirmedCeiling |-> 0, sent |-> {}, newest |-> 0,
    worker |-> 0, floor |-> 0, least |-> 0, ceiling |-> 0, history |-> NoHistory, stored |-> Absent,
    read |-> Absent, opened |-> NoHistory, wanted |-> 0, seen |-> NoHistory, since |-> 0,
    before |-> Absent, disproved |-> FALSE, copied |-> FALSE, reported |-> 0, right |-> FALSE]

\* Steps of a holder: waiting for its next report; before the write; after reading back; before registering again.
Holds == {"held", "extend", "decide", "register"}
Steps == [Servers -> {"down", "free", "take", "wrote", "lost"} \cup Holds]

HolderOf(q) == [
    lease |-> q.lease, confirmed |-> q.confirmed, confirmedCeiling |-> q.confirmedCeiling, sent |-> q.sent,
    before |-> q.before, shared |-> ~Has("R13")]

Set(s, fields) == p' = [p EXCEPT ![s] = fields @@ @]
Count(name) == count' = [count EXCEPT ![name] = @ + 1]

Record(s, write, ceiling, free) == [
    lease |-> p[s].lease, write |-> write, ceiling |-> ceiling, free |-> free, instance |-> InstanceOf(s)]
Put(w, record) == rec' = [rec EXCEPT ![w] = record] /\ wrote' = [wrote EXCEPT ![w] = IF Maintain THEN now ELSE 0]
Fits(read, current) == Compares(read, current) \/ ~Has("R3")
Records == {rec[w] : w \in Workers} \ {Absent}

(* The document after server s has read it. *)
Opened(s) ==
    IF doc = Absent THEN [
        id |-> count.id + 1, generation |-> 1, origin |-> origin, began |-> 0, floor |-> NoFloor,
        horizon |-> HorizonOf(s), continues |-> Files, layout |-> LayoutOf(s), strategy |-> 0]
    ELSE IF doc.origin # origin THEN [doc EXCEPT
        !.generation = @ + 1, !.origin = origin, !.floor = NoFloor, !.horizon = LongestHorizon(HorizonOf(s), doc)]
    ELSE [doc EXCEPT !.horizon = LongestHorizon(HorizonOf(s), doc), !.continues = @ \/ Files]
IsAllowed(s) == IF doc = Absent \/ ~Has("R6") THEN TRUE ELSE FitsDocument(doc, LayoutOf(s), 0)
MayOpen(s, holds, c) ==
    /\ IsAllowed(s)
    /\ IF doc # Absent \/ ~Has("R11") THEN TRUE ELSE MayWriteDocument(holds, Records, c, Offset)
Open(s) == doc' = Opened(s) /\ (IF doc = Absent THEN Count("id") ELSE UNCHANGED count)

(* The worker file. *)
StateOf(q) == IF q.disproved THEN "lost" ELSE "held"
FileOf(q, state, ceiling) ==
    IF q.confirmed = 0 /\ q.before # Absent
    THEN [state |-> state, ceiling |-> ceiling, attempt |-> q.before.attempt \cup {q.lease}] @@ q.history @@ q.before
    ELSE [lease |-> q.lease, write |-> q.confirmed, attempted |-> q.attempted, attempt |-> {}, ceiling |-> ceiling,
          state |-> state, worker |-> q.worker] @@ q.history
Save(s, record) == file' = IF Files THEN [file EXCEPT ![s] = record] ELSE file
=============================================================================
