------------------------------ MODULE Windows ------------------------------
(* Worker windows: the servers, which handle the requests of clients; see README.md. A server handles one request at a
   time, in steps of one read or write, so that two servers that handle requests of one lease interleave in any way. *)
EXTENDS WindowsClients

-----------------------------------------------------------------------------
(* Servers (worker-windows.ts, worker-claim.ts). A claim is [lease, worker, from, floor, ceiling, mark, stored, gen];
   `stored` is what the server has read or written last, Absent if it must read the record again. *)

T(x) == s[x].task
SetT(x, fields) == s' = [s EXCEPT ![x].task = fields @@ @]
Start(x, r, fields) == s' = [s EXCEPT ![x].task = fields @@ [Idle EXCEPT !.r = r]]
Stop(x, held) == s' = [s EXCEPT ![x] = [task |-> Idle, held |-> held]]
SetClaim(x, op, claim) == Start(x, T(x).r, [op |-> op, claim |-> claim @@ T(x).claim])
Put(w, record) == rec' = [rec EXCEPT ![w] = record]
HeldBy(x, lease) == {h \in s[x].held : h.lease = lease}
Hold(x, claim) == {h \in s[x].held : h.lease # claim.lease} \cup {claim}
quiet == <<now, doc, net, judged, count>>

\* The answer arrives if the client still waits for the request, or is lost. If it arrives late, the client has less.
Waiting(r) == {c \in Clients : p[c].r = r /\ p[c].op \in {"asks", "held"}}
\* W6: a late POST may have begun another window of the lease meanwhile. The client does not take it for its own.
Accepts(c, claim) == Has("W6") => p[c].op = "asks" \/ p[c].from = claim.floor + 1
Answer(x, r, claim) ==
    LET known == [ceiling |-> claim.ceiling, mark |-> claim.mark]
    IN
    /\ Stop(x, Hold(x, claim))
    /\ \/ UNCHANGED p
       \/ \E c \in Waiting(r) : Accepts(c, claim) /\ SetP(c, [
            op |-> "held", worker |-> claim.worker, until |-> claim.ceiling, known |-> known, r |-> Absent,
            from |-> IF p[c].op = "asks" THEN claim.floor + 1 ELSE p[c].from,
            newest |-> IF p[c].op = "asks" THEN claim.floor ELSE p[c].newest])

Resumed(lease, w) ==
    LET record == rec[w]
        isCurrent == IsSettled /\ record.ceiling > doc.floor
    IN [lease |-> lease, worker |-> w, from |-> record.from, floor |-> record.from - 1, ceiling |-> record.ceiling,
        mark |-> record.mark, stored |-> IF isCurrent THEN record ELSE Absent,
        gen |-> IF isCurrent THEN doc.gen ELSE doc.gen - 1]

Goes(x, r, claim) == Start(x, r, [claim |-> claim, op |-> IF claim.stored = Absent THEN "read" ELSE "write"])

\* W2: a lease that has a window gets it again, after a write.
Answered(x, r, claim) ==
    IF Has("W2") THEN Goes(x, r, claim) /\ UNCHANGED p ELSE Answer(x, r, claim)

Least(w, record) == FloorOf(IF record = Absent THEN 0 ELSE record.ceiling, 0, 0, 0, doc.floor)
Candidates(c) == {w \in Workers : IsFree(rec[w], c) \/ MayTakeExpired(rec[w], c, 0, TRUE)}

Look(x, r) == \E c \in Clock : \E w \in Candidates(c) :
    LET least == Least(w, rec[w])
    IN
    /\ IsSettled /\ Found(r.lease) = {} /\ HasPassed(least, c)
    /\ Start(x, r, [op |-> "take", worker |-> w, read |-> rec[w], least |-> least, gen |-> doc.gen])
    /\ UNCHANGED <<rec, p>>

\* Of several windows, the ones that end earlier are withdrawn.
FindUnanswered(x, r) ==
    LET found == Found(r.lease)
        w == Latest(found)
        known == IsSettled /\ rec[w].from - 1 >= doc.floor
        rest == IF known THEN found \ {w} ELSE found
    IN
    /\ found # {}
    /\ rec' = [o \in Workers |-> IF o \in rest THEN [rec[o] EXCEPT !.free = TRUE, !.write = @ + 1] ELSE rec[o]]
    /\ IF known THEN Answered(x, r, Resumed(r.lease, w)) ELSE Start(x, r, [op |-> "post"]) /\ UNCHANGED p

HandlePost(x, r) ==
    IF HeldBy(x, r.lease) # {}
    THEN \E claim \in HeldBy(x, r.lease) : Answered(x, r, claim) /\ UNCHANGED rec
    ELSE FindUnanswered(x, r) \/ Look(x, r)

HandlePut(x, r) ==
    LET held == {h \in HeldBy(x, r.lease) : h.worker = r.worker}
    IN
    /\ UNCHANGED <<rec, p>>
    /\ IF held # {} THEN \E claim \in held : Goes(x, r, claim)
       ELSE IF IsOf(rec[r.worker], r.lease) THEN Goes(x, r, Resumed(r.lease, r.worker))
       ELSE IsSettled /\ Start(x, r, [op |-> "refuse"])

HandleDelete(x, r) ==
    LET found == Found(r.lease)
    IN
    /\ found # {}
    /\ UNCHANGED <<rec, p>>
    /\ \E w \in found : Start(x, r, [op |-> "free", worker |-> w, read |-> rec[w]])

Begin(x) == \E r \in net :
    /\ T(x).op = "idle" /\ count.run < Runs
    /\ CASE r.kind = "post" -> HandlePost(x, r)
         [] r.kind = "put" -> HandlePut(x, r)
         [] OTHER -> HandleDelete(x, r)
    /\ Count("run")
    /\ UNCHANGED <<now, doc, net, judged>>

\* The request begins again after a race that the server has lost.
Again(x) ==
    /\ T(x).op = "post"
    /\ HandlePost(x, T(x).r)
    /\ UNCHANGED quiet

Take(x) == \E c \in Clock :
    LET t == T(x)
        w == t.worker
        record == [lease |-> t.r.lease, from |-> IF Has("W1") THEN t.least + 1 ELSE 1, write |-> 1, mark |-> NoMark,
                   ceiling |-> AcquiredCeiling(t.least, c, Length), free |-> FALSE]
        claim == [lease |-> t.r.lease, worker |-> w, from |-> record.from, floor |-> t.least, mark |-> NoMark,
                  ceiling |-> record.ceiling, stored |-> record, gen |-> t.gen]
    IN
    /\ t.op = "take"
    /\ IF Compares(t.read, rec[w]) THEN Put(w, record) /\ SetT(x, [op |-> "took", claim |-> claim])
       ELSE UNCHANGED rec /\ Start(x, t.r, [op |-> "post"])
    /\ UNCHANGED <<quiet, p>>

\* Two requests of a lease at two servers may both have found nothing: only one of the windows may be used.
Took(x) ==
    LET t == T(x)
        others == Found(t.r.lease) \ {t.worker}
    IN
    /\ t.op = "took"
    /\ UNCHANGED <<quiet, rec>>
    /\ IF t.gen = doc.gen /\ others = {} THEN Answer(x, t.r, t.claim)
       ELSE /\ UNCHANGED p
            /\ IF t.gen = doc.gen /\ rec[t.worker] = t.claim.stored
               THEN SetT(x, [op |-> "undo", read |-> rec[t.worker], claim |-> Absent])
               ELSE Start(x, t.r, [op |-> "post"])

Undo(x) ==
    LET t == T(x)
        freed == [t.read EXCEPT !.free = TRUE, !.write = @ + 1, !.ceiling = t.least]
    IN
    /\ t.op = "undo"
    /\ IF Compares(t.read, rec[t.worker]) THEN Put(t.worker, freed) ELSE UNCHANGED rec
    /\ Start(x, t.r, [op |-> "post"])
    /\ UNCHANGED <<quiet, p>>

\* W3: the end never falls.
EndAfter(claim, record, r, c) ==
    LET least == c + Length
    IN
    IF r.kind = "keep" THEN [ceiling |-> Max({record.ceiling, claim.ceiling}), mark |-> record.mark]
    ELSE LET new == IF Marking /\ r.mark # NoMark THEN r.mark ELSE record.mark
             recorded == IF Has("W3") THEN record.ceiling ELSE claim.floor
         IN [ceiling |-> Max({claim.floor, Marked(recorded, record.mark, least, new)}), mark |-> new]

Write(x) == \E c \in Clock :
    LET t == T(x)
        claim == t.claim
        w == claim.worker
        end == EndAfter(claim, claim.stored, t.r, c)
        record == [claim.stored EXCEPT !.ceiling = end.ceiling, !.mark = end.mark, !.write = @ + 1]
    IN
    /\ t.op = "write"
    /\ UNCHANGED quiet
    /\ IF ~IsOwn(claim.stored, t.r) THEN Start(x, t.r, [op |-> "copied"]) /\ UNCHANGED <<rec, p>>
       ELSE IF Compares(claim.stored, rec[w])
       THEN /\ Put(w, record)
            /\ Answer(x, t.r, [claim EXCEPT !.ceiling = end.ceiling, !.mark = end.mark, !.stored = record])
       ELSE SetClaim(x, "read", [stored |-> Absent]) /\ UNCHANGED <<rec, p>>

\* What a server finds after a failed compare, or if it has not written in this history.
Read(x) == \E c \in Clock :
    LET t == T(x)
        claim == t.claim
        current == rec[claim.worker]
        relation == IF current = Absent THEN "gone"
                    ELSE IF current.lease = claim.lease /\ current.from = claim.from THEN "ours" ELSE "another"
        isFreed == relation = "ours" /\ current.free
        may == MayRegisterAgain(c, claim.ceiling, Offset)
        next == AfterReading(relation, claim.gen # doc.gen, IsSettled, may, FALSE)
    IN
    /\ t.op = "read"
    /\ IF isFreed THEN SetT(x, [op |-> "lost"])
       ELSE CASE next = "adopt" -> SetClaim(x, "write", [stored |-> current])
              [] next = "register" -> SetT(x, [op |-> "register", read |-> current, gen |-> doc.gen])
              [] OTHER -> SetT(x, [op |-> "lost"])
    /\ UNCHANGED <<quiet, p, rec>>

Register(x) ==
    LET t == T(x)
        claim == t.claim
        record == [lease |-> claim.lease, from |-> claim.from, free |-> FALSE, mark |-> claim.mark,
                   write |-> IF t.read = Absent THEN 1 ELSE t.read.write + 1,
                   ceiling |-> RegisteredCeiling(claim.ceiling, claim.ceiling, t.read)]
    IN
    /\ t.op = "register"
    /\ IF Compares(t.read, rec[claim.worker])
       THEN /\ Put(claim.worker, record)
            /\ SetClaim(x, "write", [stored |-> record, gen |-> t.gen])
       ELSE UNCHANGED rec /\ SetT(x, [op |-> "read"])
    /\ UNCHANGED <<quiet, p>>

\* The window cannot be extended: its time stays reserved, whoever has the worker ID.
Lost(x) == \E c \in Clock :
    LET claim == T(x).claim
        current == rec[claim.worker]
        isLost == claim.gen # doc.gen \/ ~IsSettled
        free == current = Absent \/ current.free \/ c > current.ceiling - Offset
        created == [lease |-> claim.lease, from |-> claim.from, write |-> 1, ceiling |-> claim.ceiling,
                    mark |-> claim.mark, free |-> TRUE]
    IN
    /\ T(x).op = "lost"
    /\ IF isLost /\ (current = Absent \/ current.ceiling < claim.ceiling)
       THEN Put(claim.worker, IF current = Absent THEN created
                ELSE [current EXCEPT !.ceiling = claim.ceiling, !.free = free, !.write = @ + 1])
       ELSE UNCHANGED rec
    /\ s' = [s EXCEPT ![x] = [task |-> [Idle EXCEPT !.op = "refuse", !.r = T(x).r],
                               held |-> {h \in @.held : h.lease # claim.lease}]]
    /\ UNCHANGED <<quiet, p>>

\* W5: the time that was used stays reserved.
Free(x) ==
    LET t == T(x)
        read == t.read
        newest == IF IsOwn(read, t.r) THEN t.r.newest ELSE read.ceiling
        ceiling == IF Has("W5") THEN Min({read.ceiling, Max({read.from - 1, newest})}) ELSE read.from - 1
    IN
    /\ t.op = "free"
    /\ IF Compares(read, rec[t.worker])
       THEN Put(t.worker, [read EXCEPT !.free = TRUE, !.write = @ + 1, !.ceiling = ceiling])
       ELSE UNCHANGED rec
    /\ Stop(x, {h \in s[x].held : h.lease # t.r.lease})
    /\ UNCHANGED <<quiet, p>>

\* 404, or 409: the client stops. Nobody is taken for a copy who has none.
Refuse(x) ==
    LET t == T(x)
        waits == Waiting(t.r)
    IN
    /\ t.op \in {"refuse", "copied"}
    /\ Stop(x, s[x].held)
    /\ \/ UNCHANGED <<p, wrong>>
       \/ \E c \in waits :
            /\ p' = [p EXCEPT ![c] = NoClient]
            /\ wrong' = IF t.op = "copied" /\ ~p[c].copied THEN wrong \cup {"refused"} ELSE wrong
    /\ UNCHANGED <<now, doc, rec, net, mark, spent, count>>

-----------------------------------------------------------------------------
(* The registry loses its history; the servers register the windows again that they have written (W4). *)

Lose ==
    /\ count.loss < Losses
    /\ rec' = [w \in Workers |-> Absent]
    /\ doc' = [gen |-> doc.gen + 1, floor |-> NoFloor, began |-> now]
    /\ Count("loss")
    /\ UNCHANGED <<now, p, s, net, judged>>

IsStale(h) == h.gen # doc.gen

Keep(x) == \E claim \in s[x].held :
    /\ Has("W4") /\ T(x).op = "idle" /\ IsStale(claim)
    /\ SetT(x, [op |-> "read", claim |-> [claim EXCEPT !.stored = Absent],
                r |-> [kind |-> "keep", lease |-> claim.lease, worker |-> claim.worker, known |-> Absent,
                       mark |-> NoMark, newest |-> 0]])
    /\ UNCHANGED <<quiet, p, rec>>

\* Assumption: a server reaches the registry in the grace, also with the request that it is handling.
IsLate(x) ==
    /\ Reach > 0 /\ Has("W4")
    /\ \/ \E h \in s[x].held : IsStale(h) /\ now < h.ceiling
       \/ T(x).claim # Absent /\ IsStale(T(x).claim)

Settle == \E c \in Clock :
    /\ ~IsSettled /\ GraceIsOver(now - doc.began, PoolGrace(Registration, Offset))
    /\ doc' = [doc EXCEPT !.floor = c]
    /\ UNCHANGED <<now, rec, p, s, net, judged, count>>

Tick ==
    /\ now < MaxTime
    /\ IsSettled \/ now + 1 - doc.began < Reach \/ \A x \in Servers : ~IsLate(x)
    /\ now' = now + 1
    /\ UNCHANGED <<doc, rec, p, s, net, judged, count>>

Next ==
    \/ \E c \in Clients : Post(c) \/ Extend(c) \/ Release(c) \/ Issue(c) \/ Fork(c)
    \/ \E x \in Servers :
        \/ Begin(x) \/ Again(x) \/ Take(x) \/ Took(x) \/ Undo(x) \/ Write(x) \/ Read(x) \/ Register(x) \/ Lost(x)
        \/ Free(x) \/ Refuse(x) \/ Keep(x)
    \/ Lose \/ Settle \/ Tick

Spec == Init /\ [][Next]_vars

Symmetry == Permutations(Servers) \cup Permutations(Clients)

Unique == "duplicate" \notin wrong
NotRefused == "refused" \notin wrong
=============================================================================
