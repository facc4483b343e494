------------------------- MODULE WindowsClients -------------------------
(* The state of the model of worker windows, and the clients: they acquire, extend and release windows, and use
   timestamps. A request stays in the network: it may be executed late, again, or never. *)
EXTENDS LeaseRules, FiniteSets, TLC

CONSTANTS
    Servers, Workers, Clients,
    Length,        \* of a window
    Offset,        \* the largest clock offset that the rules allow for
    Drift,         \* the largest clock offset that occurs
    Registration,  \* the grace without that offset
    Reach,         \* each server registers its windows again before this part of the grace has passed; 0: it need not
    MaxTime,       \* of true time, from 1; 0: clocks show any time from 0 to Drift
    Marking,       \* whether requests tell what the client knows of its window
    Leases, Extensions, Runs, Losses, Forks, \* bounds of what happens
    Without        \* the rules that are taken out

VARIABLES
    now,    \* true time
    doc,    \* the generation of the registry, its floor, and the true time of its beginning
    rec,    \* the record of each worker ID
    p,      \* the client processes
    s,      \* the servers: a request under way, and the windows that the server has written
    net,    \* requests that were sent
    mark,   \* one pair of worker ID and timestamp, whichever: it must not be used twice
    spent,  \* the client that has used it
    wrong,  \* what has gone wrong
    count   \* how often each bounded action has happened

vars == <<now, doc, rec, p, s, net, mark, spent, wrong, count>>
judged == <<mark, spent, wrong>>

Has(rule) == rule \notin Without
Clock == now..(now + Drift)
Nobody == "nobody"
NoMark == 0
Count(name) == count' = [count EXCEPT ![name] = @ + 1]

(* A record is [lease, from, write, ceiling, mark, free]. The mark is that of the latest extension: the code writes it
   as the last digits of the ceiling. *)
IsOf(record, lease) == record # Absent /\ ~record.free /\ record.lease = lease
Found(lease) == {w \in Workers : IsOf(rec[w], lease)}
Latest(found) == CHOOSE w \in found : \A o \in found : rec[w].ceiling >= rec[o].ceiling
IsSettled == doc.floor # NoFloor

\* The first end from `least` on that has the mark.
Marked(recorded, own, least, new) == IF new = own THEN Max({recorded, least}) ELSE Max({recorded + 1, least})

\* Whether the caller itself has extended its window to the recorded end.
IsOwn(record, r) ==
    \/ ~Marking \/ r.known = Absent
    \/ record.ceiling <= r.known.ceiling
    \/ record.mark \in {r.mark, r.known.mark}

Idle == [op |-> "idle", r |-> Absent, worker |-> 0, least |-> 0, read |-> Absent, gen |-> 0, claim |-> Absent]
NoClient == [op |-> "none", lease |-> 0, worker |-> 0, from |-> 0, until |-> 0, known |-> Absent, newest |-> 0,
             r |-> Absent, copied |-> FALSE, apart |-> 0]

Init ==
    /\ now = Min({1, MaxTime})
    /\ doc = [gen |-> 1, floor |-> 0, began |-> 0]
    /\ rec = [w \in Workers |-> Absent]
    /\ p = [c \in Clients |-> NoClient]
    /\ s = [x \in Servers |-> [task |-> Idle, held |-> {}]]
    /\ net = {}
    /\ mark \in [worker : Workers, t : 1..(MaxTime + Drift)]
    /\ spent = Nobody /\ wrong = {}
    /\ count = [lease |-> 0, extension |-> 0, run |-> 0, loss |-> 0, fork |-> 0]

-----------------------------------------------------------------------------
(* Clients (kept-window.ts, lease-requests.ts). *)

SetP(c, fields) == p' = [p EXCEPT ![c] = fields @@ @]
Send(c, r, fields) == net' = net \cup {r} /\ SetP(c, [r |-> r] @@ fields)
unsent == <<now, doc, rec, s>>

Post(c) ==
    LET lease == count.lease + 1
        r == [kind |-> "post", lease |-> lease, worker |-> 0, known |-> Absent, mark |-> NoMark, newest |-> 0]
    IN
    /\ p[c].op = "none" /\ count.lease < Leases
    /\ Send(c, r, [op |-> "asks", lease |-> lease])
    /\ Count("lease")
    /\ UNCHANGED <<unsent, judged>>

\* Each extension has a mark of its own: two copies draw different ones.
Extend(c) ==
    LET r == [kind |-> "put", lease |-> p[c].lease, worker |-> p[c].worker, known |-> p[c].known,
              mark |-> count.extension + 1, newest |-> 0]
    IN
    /\ p[c].op = "held" /\ p[c].r = Absent /\ count.extension < Extensions
    /\ Send(c, r, <<>>)
    /\ Count("extension")
    /\ UNCHANGED <<unsent, judged>>

\* A client that ends while it waits for its first answer releases what may have been acquired.
Release(c) ==
    LET r == [kind |-> "delete", lease |-> p[c].lease, worker |-> 0, known |-> p[c].known,
              mark |-> IF p[c].r = Absent THEN NoMark ELSE p[c].r.mark, newest |-> p[c].newest]
    IN
    /\ p[c].op \in {"asks", "held"}
    /\ net' = net \cup {r}
    /\ p' = [p EXCEPT ![c] = [NoClient EXCEPT !.op = "ended"]]
    /\ UNCHANGED <<unsent, judged, count>>

\* Other timestamps would only raise what a release reserves. Two copies may use the time that both knew of.
Issue(c) ==
    LET t == mark.t
        excused == p[c].copied /\ t <= p[c].apart
    IN
    /\ p[c].op = "held" /\ p[c].worker = mark.worker /\ t \in Clock
    /\ MayIssue(t, p[c].newest, p[c].from - 1, p[c].until)
    /\ SetP(c, [newest |-> t])
    /\ spent' = IF excused THEN spent ELSE c
    /\ wrong' = IF ~excused /\ spent # Nobody THEN wrong \cup {"duplicate"} ELSE wrong
    /\ UNCHANGED <<unsent, net, mark, count>>

\* A clone of a virtual machine: also while a request is under way.
Fork(c) == \E copy \in Clients :
    /\ p[c].op = "held" /\ p[copy].op = "none" /\ count.fork < Forks
    /\ LET apart == IF p[c].r = Absent THEN p[c].until ELSE MaxTime + Drift + Length + Extensions
           both == [p[c] EXCEPT !.copied = TRUE, !.apart = apart]
       IN p' = [p EXCEPT ![c] = both, ![copy] = both]
    /\ Count("fork")
    /\ UNCHANGED <<unsent, net, judged>>
=============================================================================
