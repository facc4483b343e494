-------------------------------- MODULE Lease --------------------------------
(* The worker lease: servers that acquire a worker ID, report, and issue; see README.md. Each action is one request, or
   what a process does between two of them, so that a process may pause anywhere in between. *)
EXTENDS LeaseState

-----------------------------------------------------------------------------
(* Acquisition (worker-acquisition.ts). *)

Start(s) ==
    /\ p[s].op = "down" /\ count.lease < Leases
    /\ Alone => \A o \in Servers : p[o].op = "down"
    /\ Count("lease")
    /\ Set(s, [op |-> "free", lease |-> count.lease + 1])
    /\ UNCHANGED <<now, registry, watch, file, late, past, judged>>

\* A newcomer begins a generation, or sees one for the first time: its grace starts.
Watch(s) == \E c \in Clock :
    /\ p[s].op = "free" /\ MayOpen(s, FALSE, c)
    /\ Opened(s).floor = NoFloor /\ p[s].seen # HistoryOf(Opened(s))
    /\ Open(s)
    /\ Set(s, [seen |-> HistoryOf(Opened(s)), since |-> now])
    /\ UNCHANGED <<now, origin, rec, wrote, watch, file, late, past, judged>>

Settle(s) == \E c \in Clock :
    /\ p[s].op = "free" /\ doc # Absent /\ doc.origin = origin /\ IsAllowed(s)
    /\ doc.floor = NoFloor /\ p[s].seen = HistoryOf(doc)
    /\ GraceIsOver(now - p[s].since, Grace(doc.horizon))
    /\ doc' = [doc EXCEPT !.floor = c]
    /\ Set(s, [seen |-> NoHistory, since |-> 0])
    /\ UNCHANGED <<now, origin, rec, wrote, watch, file, late, past, judged, count>>

IsOwn(s, record) == record # Absent /\ record.instance = InstanceOf(s)
IsLeft(q, record) == record # Absent /\ record.lease = q.lease /\ ~record.free /\ SentAs(record, HolderOf(q)) = {}

Candidates(s, c) ==
    IF Pool THEN
        LET own == {w \in Workers : rec[w] # Absent /\ rec[w].lease = p[s].lease /\ ~rec[w].free}
            free == {w \in Workers : IsFree(rec[w], c)}
            expired == {w \in Workers : MayTakeExpired(rec[w], c, Margin, TRUE)}
        IN {w \in own \cup (IF free # {} THEN free ELSE expired) : ~IsLeft(p[s], rec[w])}
    ELSE
        LET own == {w \in Workers : IsOwn(s, rec[w])}
        IN IF own # {} THEN {Min(own)} ELSE {w \in Workers : rec[w] = Absent}

\* The ceiling that an acquisition replaces: not its own one, if the answer to it was lost.
Replaced(q, record) ==
    LET sent == IF record = Absent \/ record.free THEN {} ELSE SentAs(record, HolderOf(q))
    IN IF record = Absent THEN 0 ELSE IF sent # {} THEN (CHOOSE w \in sent : TRUE).replaced ELSE record.ceiling

Look(s) == \E c \in Clock : \E w \in Candidates(s, c) :
    LET q == p[s]
        found == rec[w]
        d == Opened(s)
        isLost == found # Absent /\ ~found.free /\ SentAs(found, HolderOf(q)) # {}
        unproven == IF Pool \/ isLost \/ ~Has("R12") THEN 0
                    ELSE FloorOfUnproven(found, q.lease, file[s], d, c, Offset)
        disproved == Files /\ file[s] # Absent
                     /\ \/ ~SameHistory(HistoryOf(file[s]), HistoryOf(d))
                        \/ found # Absent /\ found.lease # q.lease /\ ~FileProves(file[s], found)
        known == FloorOf(Replaced(q, found), unproven, IF file[s] = Absent THEN 0 ELSE file[s].ceiling, q.newest,
                         d.floor)
    IN
    /\ q.op = "free" /\ doc # Absent /\ doc.origin = origin /\ IsAllowed(s)
    /\ IF Has("R5") THEN MayAcquire(doc) ELSE TRUE
    /\ Open(s)
    /\ Set(s, [op |-> "take", worker |-> w, read |-> found, opened |-> HistoryOf(d),
               least |-> IF Has("R2") THEN known ELSE q.newest, seen |-> NoHistory, since |-> 0,
               disproved |-> q.disproved \/ disproved])
    /\ IF ~Files \/ file[s] = Absent THEN UNCHANGED file
       ELSE Save(s, [file[s] EXCEPT !.attempt = @ \cup {q.lease}, !.state = IF disproved THEN "lost" ELSE @])
    /\ UNCHANGED <<now, origin, rec, wrote, watch, late, past, judged>>

Again(q) == [op |-> "free", read |-> Absent, opened |-> NoHistory, worker |-> 0, least |-> 0]

\* R8: the record of a running holder, which reports in time.
IsAlive(w) == \E o \in Servers : p[o].op \in Holds /\ p[o].worker = w /\ ~rec[w].free /\ rec[w].lease = p[o].lease

Take(s) == \E c \in Clock \cup (IF count.jump < Jumps THEN {now + Jump} ELSE {}) :
    LET q == p[s]
        w == q.worker
        twin == ~Has("R8") /\ rec[w] # Absent
        read == IF twin THEN rec[w] ELSE q.read
        write == q.attempted + 1
        ceiling == AcquiredCeiling(IF twin THEN Max({q.least, rec[w].ceiling}) ELSE q.least, c, HorizonOf(s))
        record == Record(s, write, ceiling, FALSE)
        sent == [write |-> write, ceiling |-> ceiling, replaced |-> Replaced(q, read)]
    IN
    /\ q.op = "take" /\ write <= Writes
    /\ HasPassed(q.least, now + Drift)
    /\ IF c \in Clock THEN UNCHANGED count ELSE Count("jump")
    /\ IF Fits(read, rec[w])
       THEN /\ Put(w, record)
            /\ Set(s, [op |-> "wrote", stored |-> record, attempted |-> write, sent |-> q.sent \cup {sent},
                       read |-> Absent, reported |-> IF Reach > 0 THEN now ELSE 0])
            /\ wrong' = wrong \cup (IF rec[w] # Absent /\ IsAlive(w) THEN {"takeover"} ELSE {})
       ELSE /\ Set(s, Again(q) @@ [attempted |-> write])
            /\ UNCHANGED <<rec, wrote, wrong>>
    /\ UNCHANGED <<now, origin, doc, watch, file, late, past, mark, spent>>

\* The answer does not arrive: the write arrives now, later, or never.
TakeLate(s) == \E c \in Clock :
    LET q == p[s]
        write == q.attempted + 1
        ceiling == AcquiredCeiling(q.least, c, HorizonOf(s))
    IN
    /\ q.op = "take" /\ write <= Writes /\ count.late < Lates
    /\ HasPassed(q.least, now + Drift)
    /\ late' = late \cup {[worker |-> q.worker, read |-> q.read, record |-> Record(s, write, ceiling, FALSE)]}
    /\ Set(s, Again(q) @@ [attempted |-> write, sent |-> q.sent \cup
                           {[write |-> write, ceiling |-> ceiling, replaced |-> Replaced(q, q.read)]}])
    /\ Count("late")
    /\ UNCHANGED <<now, registry, watch, file, past, judged>>

Confirmed(q, record) ==
    [confirmed |-> record.write, confirmedCeiling |-> record.ceiling, sent |-> {}, copied |-> FALSE, reported |-> IF Reach > 0 THEN now ELSE 0,
     disproved |-> FALSE, before |-> Absent]

\* The history must be that which the floor belongs to.
Acquired(s) ==
    LET q == p[s]
        same == SameHistory(HistoryOf(Opened(s)), q.opened)
        claim == [op |-> "held", floor |-> q.least, ceiling |-> q.stored.ceiling, history |-> q.opened,
                  opened |-> NoHistory, reported |-> q.reported] @@ Confirmed(q, q.stored) @@ q
    IN
    /\ q.op = "wrote" /\ IsAllowed(s)
    /\ Open(s)
    /\ IF same THEN Set(s, claim) /\ Save(s, FileOf(claim, "held", claim.ceiling))
       ELSE Set(s, Again(q) @@ [stored |-> Absent, reported |-> 0]) /\ UNCHANGED file
    /\ UNCHANGED <<now, origin, rec, wrote, watch, late, past, judged>>

-----------------------------------------------------------------------------
(* Reports (worker-lease.ts, worker-claim.ts). *)

\* The claim is given up; its process goes on with what it has issued.
Released(q) == [Down EXCEPT !.op = "free", !.lease = q.lease, !.attempted = q.attempted, !.sent = q.sent,
                            !.newest = q.newest, !.disproved = TRUE]

Report(s) == \E c \in Clock \cup (IF count.jump < Jumps THEN {now + Jump} ELSE {}) :
    LET q == p[s]
        least == WantedCeiling(q.newest, q.floor, c, HorizonOf(s))
        wanted == IF Has("R9") THEN least ELSE Max({least, q.ceiling})
        ceiling == LoweredCeiling(q.ceiling, wanted)
        changed == ~SameHistory(HistoryOf(Opened(s)), q.history)
        reads == q.stored = Absent \/ (changed /\ ~MayRegisterAgain(c, ceiling, Offset))
    IN
    /\ q.op = "held" /\ q.attempted < Writes
    /\ Reach > 0 => now > q.reported
    /\ q.stored # Absent => MayOpen(s, c <= ceiling, c)
    /\ doc' = IF q.stored = Absent THEN doc ELSE Opened(s)
    /\ count' = [count EXCEPT !.id = @ + (IF doc = doc' THEN 0 ELSE IF doc = Absent THEN 1 ELSE 0),
                             !.jump = @ + (IF c \in Clock THEN 0 ELSE 1)]
    /\ Set(s, [op |-> "extend", wanted |-> wanted, ceiling |-> ceiling, right |-> Jumps > 0 /\ c \in Clock,
               opened |-> IF q.stored = Absent THEN q.history ELSE HistoryOf(Opened(s)),
               stored |-> IF reads THEN Absent ELSE q.stored,
               disproved |-> q.disproved \/ (q.stored # Absent /\ changed)])
    /\ UNCHANGED <<now, origin, rec, wrote, watch, file, late, past, judged>>

\* R6: the document has another layout.
Mismatch(s) ==
    /\ p[s].op \in {"held", "decide", "wrote"} /\ ~IsAllowed(s)
    /\ Set(s, [op |-> IF p[s].op = "wrote" THEN "free" ELSE "lost"])
    /\ UNCHANGED <<now, registry, watch, file, late, past, judged, count>>

Rest == [op |-> "held", read |-> Absent, opened |-> NoHistory, wanted |-> 0]

Extend(s) ==
    LET q == p[s]
        write == q.attempted + 1
        record == Record(s, write, Max({q.wanted, q.least}), FALSE)
        claim == Rest @@ [ceiling |-> q.wanted, stored |-> record, attempted |-> write, history |-> q.opened]
                 @@ Confirmed(q, record) @@ q
    IN
    /\ q.op = "extend" /\ q.stored # Absent
    /\ IF Fits(q.stored, rec[q.worker])
       THEN Put(q.worker, record) /\ Set(s, claim) /\ Save(s, FileOf(claim, "held", claim.ceiling))
       ELSE Set(s, [stored |-> Absent, attempted |-> write]) /\ UNCHANGED <<rec, wrote, file>>
    /\ UNCHANGED <<now, origin, doc, watch, late, past, judged, count>>

\* Two clocks that the decisions of a report do not distinguish are one.
Readings(ceiling) == {Min(same) : same \in
    {{c \in Clock : <<c <= ceiling, MayRegisterAgain(c, ceiling, Offset)>> = which} : which \in BOOLEAN \X BOOLEAN} \ {{}}}

\* What follows a report without an answer: the file stands in for the registry, or the claim stays as it is.
Unanswered(s, q) == \E c \in IF Files THEN Readings(q.ceiling) ELSE {now} :
    LET stands == Files /\ MayContinueFromFile(q.disproved, c, q.ceiling)
        ceiling == IF stands THEN q.wanted ELSE q.ceiling
        claim == Rest @@ [ceiling |-> ceiling] @@ q
    IN Set(s, claim) /\ Save(s, FileOf(claim, StateOf(claim), ceiling))

ExtendLate(s) ==
    LET q == p[s]
        write == q.attempted + 1
        record == Record(s, write, Max({q.wanted, q.least}), FALSE)
    IN
    /\ q.op = "extend" /\ q.stored # Absent /\ count.late < Lates
    /\ late' = late \cup {[worker |-> q.worker, read |-> q.stored, record |-> record]}
    /\ Unanswered(s, [q EXCEPT !.attempted = write,
                              !.sent = @ \cup {[write |-> write, ceiling |-> record.ceiling, replaced |-> 0]}])
    /\ Count("late")
    /\ UNCHANGED <<now, registry, watch, past, judged>>

\* Any request of a report fails; without a file, that is as if the report had not begun.
Unreachable(s) ==
    /\ Files /\ p[s].op \in {"extend", "decide", "register"}
    /\ Unanswered(s, p[s])
    /\ UNCHANGED <<now, registry, watch, late, past, judged, count>>

ReadBack(s) ==
    /\ p[s].op = "extend" /\ p[s].stored = Absent
    /\ Set(s, [op |-> "decide", read |-> rec[p[s].worker], opened |-> NoHistory])
    /\ UNCHANGED <<now, registry, watch, file, late, past, judged, count>>

Decide(s) == \E c \in Readings(p[s].ceiling) :
    LET q == p[s]
        d == Opened(s)
        changed == ~SameHistory(HistoryOf(d), q.history)
        relation == Relation(q.read, HolderOf(q))
        next == AfterReading(relation, changed /\ Has("R7"), d.floor # NoFloor,
                             MayRegisterAgain(c, q.ceiling, Offset), ~Pool)
        ofPredecessor == q.confirmed = 0 /\ q.read # Absent /\ q.read.lease # q.lease
        disproved == q.disproved \/ changed
    IN
    /\ q.op = "decide" /\ MayOpen(s, c <= q.ceiling, c)
    /\ Open(s)
    /\ CASE next = "adopt" ->
              /\ Set(s, [op |-> "extend", stored |-> q.read, read |-> Absent, opened |-> q.history,
                         least |-> IF ofPredecessor THEN Max({q.least, q.read.ceiling}) ELSE q.least])
              /\ UNCHANGED file
         [] next = "register" ->
              Set(s, [op |-> "register", opened |-> HistoryOf(d), disproved |-> disproved]) /\ UNCHANGED file
         [] next = "acquire" ->
              /\ p' = [p EXCEPT ![s] = Released(q)]
              /\ Save(s, FileOf(q, "lost", q.ceiling))
         [] next = "lost" ->
              /\ p' = [p EXCEPT ![s] = [Released(q) EXCEPT !.op = "lost"]]
              /\ Save(s, FileOf(q, "lost", q.ceiling))
    /\ UNCHANGED <<now, origin, rec, wrote, watch, late, past, judged>>

Register(s) ==
    LET q == p[s]
        write == q.attempted + 1
        record == Record(s, write, RegisteredCeiling(q.wanted, q.ceiling, q.read), FALSE)
    IN
    /\ q.op = "register"
    /\ IF Fits(q.read, rec[q.worker])
       THEN /\ Put(q.worker, record)
            /\ Set(s, [op |-> "extend", stored |-> record, read |-> Absent, history |-> q.opened, attempted |-> write,
                       sent |-> q.sent \cup {[write |-> write, ceiling |-> record.ceiling, replaced |-> 0]}])
       ELSE Set(s, [op |-> "extend", read |-> Absent, attempted |-> write]) /\ UNCHANGED <<rec, wrote>>
    /\ UNCHANGED <<now, origin, doc, watch, file, late, past, judged, count>>

\* A graceful stop. Its write may also arrive later.
Stop(s) ==
    LET q == p[s]
        ceiling == IF Has("R4") THEN ReleasedCeiling(q.floor, q.newest) ELSE q.floor
        record == Record(s, q.attempted + 1, ceiling, TRUE)
    IN
    /\ Stops /\ q.op = "held" /\ q.stored # Absent /\ q.attempted < Writes
    /\ \/ /\ Fits(q.stored, rec[q.worker])
          /\ Put(q.worker, record)
          /\ Save(s, FileOf(q, "released", ceiling))
          /\ UNCHANGED <<late, count>>
       \/ /\ count.late < Lates /\ Count("late")
          /\ late' = late \cup {[worker |-> q.worker, read |-> q.stored, record |-> record]}
          /\ Save(s, FileOf([q EXCEPT !.attempted = @ + 1], StateOf(q), ceiling))
          /\ UNCHANGED <<rec, wrote>>
    /\ p' = [p EXCEPT ![s] = Down]
    /\ UNCHANGED <<now, origin, doc, watch, past, judged>>

\* file-start.ts, while the registry cannot be reached.
StartFromFile(s) == \E c \in Clock :
    LET q == p[s]
        f == file[s]
        floor == Max({f.ceiling, q.newest})
        claim == [op |-> "held", worker |-> f.worker, floor |-> floor, least |-> floor, before |-> f,
                  ceiling |-> Max({floor, c + HorizonOf(s)}), history |-> HistoryOf(f), seen |-> NoHistory, since |-> 0,
                  reported |-> IF Reach > 0 THEN now ELSE 0] @@ q
    IN
    /\ Files /\ q.op = "free" /\ MayStartFromFile(f, q.disproved, c)
    /\ Set(s, claim)
    /\ Save(s, FileOf(claim, "held", claim.ceiling))
    /\ UNCHANGED <<now, registry, watch, late, past, judged, count>>

-----------------------------------------------------------------------------
(* IDs (snowflake-generator.ts). *)

\* Only the marked pair: other IDs only raise the floors and ceilings that later writes have.
Issue(s) ==
    LET q == p[s]
        t == mark.time
        again == spent # 0 /\ (~q.copied \/ ~Excused \/ spent < q.lease)
    IN
    /\ q.op \in Holds /\ t \in Clock /\ (q.worker + LayoutOf(s)) % Cardinality(Workers) = mark.worker
    /\ MayIssue(t, q.newest, q.floor, IF Has("R1") THEN q.ceiling ELSE t)
    /\ Set(s, [newest |-> t])
    /\ spent' = IF q.copied /\ Excused THEN spent ELSE q.lease
    /\ wrong' = wrong \cup (IF again THEN {"twice"} ELSE {})
    /\ UNCHANGED <<now, registry, watch, file, late, past, mark, count>>

-----------------------------------------------------------------------------
(* Time, faults, maintenance. *)

Tick ==
    /\ now < MaxTime
    /\ Reach > 0 => \A s \in Servers : p[s].op \in Holds \cup {"wrote"} => now - p[s].reported < Reach
    /\ now' = now + 1
    /\ UNCHANGED <<registry, watch, p, file, late, past, judged, count>>

\* At other steps, a process that dies leaves what it leaves at these.
Crash(s) ==
    /\ IF p[s].op = "free" THEN p[s].attempted > 0 ELSE p[s].op \in {"held", "wrote"}
    /\ p' = [p EXCEPT ![s] = Down]
    /\ UNCHANGED <<now, registry, watch, file, late, past, judged, count>>

\* A process dies after it has sent a write, before its file records that.
CrashWriting(s) ==
    LET q == p[s]
        record == Record(s, q.attempted + 1, Max({q.wanted, q.least}), FALSE)
    IN
    /\ Files /\ q.op = "extend" /\ q.stored # Absent /\ count.late < Lates
    /\ late' = late \cup {[worker |-> q.worker, read |-> q.stored, record |-> record]}
    /\ p' = [p EXCEPT ![s] = Down]
    /\ Count("late")
    /\ UNCHANGED <<now, registry, watch, file, past, judged>>

Arrive == \E m \in late :
    /\ late' = late \ {m}
    /\ IF Fits(m.read, rec[m.worker]) THEN Put(m.worker, m.record) ELSE UNCHANGED <<rec, wrote>>
    /\ UNCHANGED <<now, origin, doc, watch, p, file, past, judged, count>>

NoRecords == [w \in Workers |-> Absent]

Lose(kind) ==
    /\ kind \in LossKinds /\ count.loss < Losses /\ now <= LossTime /\ Count("loss")
    /\ CASE kind = "emptied" -> rec' = NoRecords /\ doc' = Absent /\ UNCHANGED <<origin, past>>
         [] kind = "document" -> doc # Absent /\ doc' = Absent /\ UNCHANGED <<rec, origin, past>>
         [] kind = "back" -> /\ past # Absent /\ rec' = past.rec /\ doc' = past.doc /\ past' = Absent
                             /\ origin' = IF Recognized THEN origin + 1 ELSE origin
    /\ UNCHANGED <<now, wrote, watch, p, file, late, judged>>

\* The state to which the registry goes back.
Keep ==
    /\ "back" \in LossKinds /\ past = Absent /\ count.loss < Losses /\ count.keep < Losses /\ now <= LossTime /\ Count("keep")
    /\ past' = [rec |-> rec, doc |-> doc]
    /\ UNCHANGED <<now, registry, watch, p, file, late, judged>>

\* A data directory is lost with its host, or comes back from an older copy.
LoseFile(s) ==
    /\ Files /\ p[s].op = "down" /\ file[s] # Absent
    /\ file' = [file EXCEPT ![s] = Absent]
    /\ UNCHANGED <<now, registry, watch, p, late, past, judged, count>>
KeepFile(s) ==
    /\ count.copy < Copies /\ past = Absent /\ file[s] # Absent /\ Count("copy")
    /\ past' = file[s]
    /\ UNCHANGED <<now, registry, watch, p, file, late, judged>>
RestoreFile(s) ==
    /\ Copies > 0 /\ past # Absent /\ p[s].op = "down"
    /\ file' = [file EXCEPT ![s] = past] /\ past' = Absent
    /\ UNCHANGED <<now, registry, watch, p, late, judged, count>>

\* A process is copied with its memory.
Fork(s, o) ==
    /\ count.fork < Forks /\ p[s].op \in Holds /\ p[o].op = "down" /\ Count("fork")
    /\ p' = [p EXCEPT ![s] = [@ EXCEPT !.copied = TRUE], ![o] = [p[s] EXCEPT !.copied = TRUE]]
    /\ UNCHANGED <<now, registry, watch, file, late, past, judged>>

Observe(w) ==
    /\ Maintain /\ rec[w] # Absent /\ ~rec[w].free
    /\ IF watch[w] = Absent THEN TRUE ELSE watch[w].record # rec[w]
    /\ watch' = [watch EXCEPT ![w] = [record |-> rec[w], since |-> now]]
    /\ UNCHANGED <<now, registry, p, file, late, past, judged, count>>

Longest == Max({HorizonOf(s) : s \in Servers})

\* By a server with any lease TTL.
Reclaim(w) == \E s \in Servers : \E c \in Clock :
    LET horizon == IF Has("R12") THEN LongestHorizon(HorizonOf(s), doc) ELSE HorizonOf(s)
    IN
    /\ Maintain /\ doc # Absent /\ watch[w] # Absent /\ watch[w].record = rec[w]
    /\ IF Has("R10") THEN MayReclaim(rec[w], now - watch[w].since, horizon)
       ELSE ~rec[w].free /\ rec[w].ceiling < c
    /\ rec' = [rec EXCEPT ![w].free = TRUE]
    /\ wrong' = wrong \cup (IF now - wrote[w] < Longest THEN {"early"} ELSE {})
    /\ UNCHANGED <<now, origin, doc, wrote, watch, p, file, late, past, mark, spent, count>>

-----------------------------------------------------------------------------
Counters == {"lease", "late", "loss", "keep", "fork", "jump", "id", "copy"}

\* A holder at the beginning, with a ceiling of its clock.
First(s, w, ceiling) ==
    LET record == [lease |-> w + 1, write |-> 1, ceiling |-> ceiling, free |-> FALSE, instance |-> InstanceOf(s)]
    IN [op |-> "held", lease |-> w + 1, attempted |-> 1, worker |-> w, ceiling |-> ceiling, confirmed |-> 1,
        confirmedCeiling |-> ceiling, stored |-> record, history |-> [id |-> 1, generation |-> 1, origin |-> 1, began |-> 0],
        reported |-> IF Reach > 0 THEN now ELSE 0] @@ Down

Init ==
    /\ now = IF MaxTime = 0 THEN 0 ELSE 1
    /\ origin = 1
    /\ doc = [id |-> 1, generation |-> 1, origin |-> 1, began |-> 0, floor |-> 0, horizon |-> Longest,
              continues |-> Files, layout |-> 0, strategy |-> 0]
    /\ \E place \in [Holding -> 0..(Cardinality(Holding) - 1)] : \E c \in (now - Age)..(now + Drift) :
        /\ \A a, b \in Holding : a # b => place[a] # place[b]
        /\ p = [s \in Servers |-> IF s \in Holding THEN First(s, place[s], c + HorizonOf(s)) ELSE Down]
        /\ rec = [w \in Workers |-> IF \E s \in Holding : place[s] = w
                                    THEN p[CHOOSE s \in Holding : place[s] = w].stored ELSE Absent]
    /\ wrote = [w \in Workers |-> IF Maintain THEN now ELSE 0]
    /\ watch = [w \in Workers |-> Absent]
    /\ file = [s \in Servers |-> IF Files /\ s \in Holding THEN FileOf(p[s], "held", p[s].ceiling) ELSE Absent]
    /\ late = {} /\ past = Absent /\ spent = 0 /\ wrong = {}
    /\ mark \in [worker : Workers, time : Times]
    /\ count = [c \in Counters |-> IF c = "lease" THEN Cardinality(Holding) ELSE IF c = "id" THEN 1 ELSE 0]

Next ==
    \/ \E s \in Servers :
        \/ Start(s) \/ Watch(s) \/ Settle(s) \/ Look(s) \/ Take(s) \/ TakeLate(s) \/ Acquired(s) \/ Report(s)
        \/ Mismatch(s) \/ Extend(s) \/ ExtendLate(s) \/ Unreachable(s) \/ ReadBack(s) \/ Decide(s) \/ Register(s)
        \/ Stop(s) \/ StartFromFile(s) \/ Issue(s) \/ Crash(s) \/ CrashWriting(s)
        \/ LoseFile(s) \/ KeepFile(s) \/ RestoreFile(s)
    \/ \E s, o \in Servers : Fork(s, o)
    \/ \E w \in Workers : Observe(w) \/ Reclaim(w)
    \/ \E kind \in LossKinds : Lose(kind)
    \/ Tick \/ Arrive \/ Keep

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* No pair of worker ID and timestamp is used twice. *)
Unique == "twice" \notin wrong

(* No server is stopped for good; for models without twins and copies. *)
Kept == \A s \in Servers : p[s].op # "lost"

(* A newcomer never takes over the record of a running holder. *)
Yields == "takeover" \notin wrong

(* After a report with a right clock, no ceiling is further ahead than the lease TTL, unless IDs are. *)
Near == \A s \in Servers : p[s].op = "held" /\ p[s].right =>
    p[s].ceiling <= Max({p[s].newest, p[s].floor, now + Drift + HorizonOf(s)})

(* No record is reclaimed that was written within the longest lease TTL. *)
Patient == "early" \notin wrong

Symmetry == Permutations(Servers)
=============================================================================
