----------------------------- MODULE LeaseRules -----------------------------
(* The rules R1 to R13 of docs/architecture.md, as far as they concern leases: each is a pure operator, without
   variables and constants, of what a process knows when it decides. Lease.tla, Windows.tla and the check of recorded
   traces use the same operators. README.md names the place of each in the code.

   Times and durations are integers of one unit. The records that the operators read:
     record   [lease, write, ceiling, free], or Absent. A lease identifies one run of a process. A record without a lease
              has one that equals no other.
     holder   [lease, shared, confirmed, confirmedCeiling, sent, before]: what a process knows about its own writes.
              confirmed: number of the latest confirmed write, 0 before the first. sent: set of
              [write, ceiling, replaced], the writes of unknown outcome. before: the worker file that it started from,
              or Absent.
     file     [lease, write, attempted, attempt, ceiling, state, id, generation, origin, began]; attempt: a set of leases;
              state: "held", "released" or "lost".
     document [id, generation, origin, began, floor, horizon, continues, layout, strategy], or Absent; floor is NoFloor
              during the grace.
   An operator reads no other fields, so that a record may have more. *)
EXTENDS Integers

Absent == [absent |-> TRUE]
NoFloor == -1

Max(S) == CHOOSE x \in S : \A y \in S : x >= y
Min(S) == CHOOSE x \in S : \A y \in S : x <= y

-----------------------------------------------------------------------------
(* R1 reserve ahead, R2 start after, R9 the ceiling may fall, R4 release. *)

\* A timestamp of an ID. `newest` is that of the newest ID of this process.
MayIssue(t, newest, floor, ceiling) == t > newest /\ t > floor /\ t <= ceiling

\* The ceiling that a report wants to record at the time `now` of its clock. It may be lower than the recorded one.
WantedCeiling(newest, floor, now, horizon) == Max({newest, floor, now + horizon})

\* The ceiling in memory while a report is under way: the record may be lowered although no answer arrives.
LoweredCeiling(ceiling, wanted) == Min({ceiling, wanted})

\* The ceiling of a released record.
ReleasedCeiling(floor, newest) == Max({floor, newest})

\* The floor of a new holder: above everything that it has read, and that it has used itself.
FloorOf(recorded, unproven, fileCeiling, newest, documentFloor) ==
    Max({recorded, unproven, fileCeiling, newest, documentFloor})

\* The ceiling that an acquisition records.
AcquiredCeiling(floor, now, horizon) == Max({floor, now + horizon})

\* A newcomer writes only after the floor has passed.
HasPassed(floor, now) == now > floor

-----------------------------------------------------------------------------
(* R3 compare and set, R13 own writes: what a process finds when it reads its record. *)

\* A write replaces exactly what its sender has read.
Compares(read, current) == read = current

\* The unknown write of this process that made the record: none or one.
SentAs(record, holder) ==
    IF record = Absent THEN {}
    ELSE IF record.lease # holder.lease THEN {}
    ELSE {w \in holder.sent : w.write = record.write /\ w.ceiling = record.ceiling}

\* R13: a copy of this process writes under the same lease.
IsOwnWrite(record, holder) ==
    IF record.write = holder.confirmed THEN record.ceiling = holder.confirmedCeiling
    ELSE SentAs(record, holder) # {}

\* A process that died during a report may have sent two writes more than its file records.
MoreWrites == 2

RelationToFile(record, before) ==
    IF record.lease \in before.attempt THEN "ours"
    ELSE IF record.lease # before.lease \/ record.write > before.attempted + MoreWrites THEN "another"
    ELSE IF record.write >= before.write THEN "ours"
    ELSE "behind"

Relation(record, holder) ==
    IF record = Absent THEN "gone"
    ELSE IF record.lease = holder.lease THEN
        IF record.write < holder.confirmed THEN "behind"
        ELSE IF holder.shared \/ IsOwnWrite(record, holder) THEN "ours"
        ELSE "another"
    ELSE IF holder.confirmed > 0 \/ holder.before = Absent THEN "another"
    ELSE RelationToFile(record, holder.before)

-----------------------------------------------------------------------------
(* R5 young history, R7 two kinds of loss. *)

SameHistory(a, b) ==
    a.id = b.id /\ a.generation = b.generation /\ a.origin = b.origin /\ a.began = b.began

\* The ceiling protects the worker ID while it has not passed by any clock within the allowed offset.
MayRegisterAgain(now, ceiling, offset) == now <= ceiling - offset

\* A registration never lowers the ceiling.
RegisteredCeiling(wanted, ceiling, record) ==
    Max({wanted, ceiling} \cup (IF record = Absent THEN {} ELSE {record.ceiling}))

(* What a holder does after it has read its record again, and the document after that.
   changed: the history is not that of the claim; settled: the grace has ended; exclusive: the worker ID belongs to one
   ip:port. "adopt": continue from the record; "register": write it again; "acquire": give up this worker ID and acquire
   another one; "lost": stop for good. *)
AfterReading(relation, changed, settled, mayRegister, exclusive) ==
    IF ~changed /\ relation = "ours" THEN "adopt"
    ELSE IF ~changed /\ relation = "another" /\ ~exclusive THEN "acquire"
    ELSE IF ~changed /\ (relation # "gone" \/ settled) THEN "lost"
    ELSE IF relation = "another" \/ ~mayRegister THEN "acquire"
    ELSE "register"

\* `registration`: the time in which every holder that can reach the registry registers again, without the offset.
PoolGrace(registration, offset) == registration + offset
FixedGrace(horizon, registration, offset) == Max({horizon + offset, registration + offset})

\* A process that has watched a generation for the grace may write the floor.
GraceIsOver(watched, grace) == watched >= grace

MayAcquire(document) == document # Absent /\ document.floor # NoFloor

-----------------------------------------------------------------------------
(* R6 one layout, one strategy; R11 only holders write a missing document again. *)

FitsDocument(document, layout, strategy) == document.layout = layout /\ document.strategy = strategy

\* Whether a timestamp up to `now` may still be used under the record, by a clock that is behind by up to `offset`.
MayBeUsed(record, now, offset) ==
    record # Absent /\ record.ceiling >= (IF record.free THEN now ELSE now - offset)

\* `records`: those of the registry whose document is missing.
MayWriteDocument(holds, records, now, offset) ==
    holds \/ \A record \in records : ~MayBeUsed(record, now, offset)

-----------------------------------------------------------------------------
(* R8 the newcomer loses. *)

\* What a newcomer of an exclusive record does after it has read the record again.
AfterWaiting(read, current, lease) ==
    IF current = read THEN "wait"
    ELSE IF current = Absent THEN "again"
    ELSE IF current.lease = lease \/ current.free THEN "again"
    ELSE "held"

-----------------------------------------------------------------------------
(* R10 own stopwatch, for records of a pool. *)

IsFree(record, now) == record = Absent \/ (record.free /\ record.ceiling <= now)

\* A record in use that a newcomer takes if none is free. `compared`: its clock was compared with others.
MayTakeExpired(record, now, margin, compared) ==
    compared /\ record # Absent /\ ~record.free /\ record.ceiling + margin < now

\* `unchanged`: how long the process has seen this content, by its monotonic clock.
MayReclaim(record, unchanged, horizon) == record # Absent /\ ~record.free /\ unchanged >= horizon

-----------------------------------------------------------------------------
(* R12 settings of others, and the worker file. *)

LongestHorizon(own, document) == IF document = Absent THEN own ELSE Max({own, document.horizon})

\* The floor for a holder that may have reserved as much time as any server of the registry, by any allowed clock.
FloorAfterHolder(now, horizon, offset) == now + horizon + offset

\* Whether the file proves that the record is that of an earlier process of this server.
FileProves(file, record) == file # Absent /\ (record.lease = file.lease \/ record.lease \in file.attempt)

\* 0, if the recorded ceiling of an exclusive record is the highest one that its holder has used.
FloorOfUnproven(record, lease, file, document, now, offset) ==
    IF record = Absent THEN 0
    ELSE IF record.lease = lease \/ FileProves(file, record) \/ record.free \/ ~document.continues THEN 0
    ELSE FloorAfterHolder(now, document.horizon, offset)

\* Whether a process may start from its file while the registry is away.
MayStartFromFile(file, disproved, now) ==
    file # Absent /\ ~disproved /\ file.state = "held" /\ HasPassed(file.ceiling, now)

\* Whether a holder may continue from its file after a report that did not reach the registry.
MayContinueFromFile(disproved, now, ceiling) == ~disproved /\ now <= ceiling
=============================================================================
