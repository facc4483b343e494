------------------------------ MODULE Segments ------------------------------
(* Ranges of one ordinary tag: servers with a buffer, the row of the tag and its record, and the guard against failovers
   and restores; see README.md. An action is one statement, one transaction, or one step of a server. An allocation is
   one action: a lost answer is the same as a statement that nobody sent (Late). An ID counts as taken once it is in a
   buffer, because its server may issue it at any later time; IDs that a server gives back do not count. *)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
  Servers,
  Step,       \* IDs of one allocation
  Ahead,      \* allocations between two extensions of the limit
  Gap,        \* gap of a move, in allocations
  Loss,       \* allocations that a copy may lack
  Last,       \* no allocation begins above this ID
  Faults,     \* number of faults
  Refreshes,  \* number of refreshes
  Kinds,      \* faults that can happen
  Without,    \* rules that are taken out
  Dropped     \* assumptions that are dropped

VARIABLES
  db,     \* the database: its server, the record of the guard, the row, the record of the tag
  copy,   \* a replica that has stopped, or a backup
  srv,    \* the servers
  swaps,  \* statements of stopped servers that give a range back
  taken,  \* IDs that servers have issued, or may issue
  bad,    \* what has gone wrong
  left, refreshes,
  gone,   \* where the row was when it and its record were lost
  hidden, \* where the row was when it was set back
  older   \* a copy is in the place of the database, and no server has noticed

vars == <<db, copy, srv, swaps, taken, bad, left, refreshes, gone, hidden, older>>

Symmetry == Permutations(Servers)

(* More than all refreshes raise the generation by. *)
Move == 2 * (Refreshes + Faults + Cardinality(Servers)) + 2

Has(rule) == rule \notin Without
Assumed(name) == name \notin Dropped \cup {"no"}

Max(a, b) == IF a > b THEN a ELSE b
Range(from) == from .. (from + Step - 1)

(* Position 0: no row. Limit 0: NULL. *)
NoRow == [pos |-> 0, lim |-> 0]
NoMem == [has |-> FALSE, iss |-> 0, lim |-> 0]
NoCopy == [db |-> [here |-> 0], lost |-> 0, moved |-> FALSE]
Up == [up |-> TRUE, known |-> FALSE, gen |-> 0, high |-> 0, buffered |-> FALSE,
       st |-> "idle", sent |-> 0, old |-> 0, new |-> 0, drop |-> 0]
Down == [Up EXCEPT !.up = FALSE]

Init ==
  /\ db = [here |-> 1, by |-> 0, gen |-> 0, row |-> [pos |-> 1, lim |-> 0], mem |-> NoMem]
  /\ copy = NoCopy
  /\ srv = [s \in Servers |-> Down]
  /\ swaps = {}
  /\ taken = {}
  /\ bad = {}
  /\ left = Faults
  /\ refreshes = Refreshes
  /\ gone = 0
  /\ hidden = 0
  /\ older = "no"

-----------------------------------------------------------------------------
(* The database *)

(* The condition of the guard in each statement, sent by a server that knows `gen`. *)
Guarded(d, gen) ==
  /\ d.by # 0
  /\ Has("S1") => d.by = d.here
  /\ Has("S2") => d.gen >= gen

End(mem) == Max(mem.iss, mem.lim)

(* All tags move forward. *)
Moved(d, gen) ==
  LET lost == IF Has("S4") /\ d.gen < gen THEN (gen - d.gen) \div Move ELSE 0
      gap == IF Has("S3") THEN Gap * Step * (1 + lost) ELSE 0
      pos == IF d.row.pos = 0 THEN 0 ELSE d.row.pos + gap
      mem == IF d.mem.has THEN [d.mem EXCEPT !.lim = End(d.mem) + gap]
             ELSE IF pos > 0 /\ d.row.lim = 0 THEN [has |-> TRUE, iss |-> 0, lim |-> pos]
             ELSE d.mem
  IN [d EXCEPT !.by = d.here, !.gen = Max(gen, d.gen) + Move, !.row.pos = pos, !.mem = mem]

IsCurrent(d, gen) == d.by = d.here /\ d.gen >= gen

(* What the guard makes of the database when an allocation changed no row. *)
Followed(d, gen) == IF IsCurrent(d, gen) THEN d ELSE Moved(d, gen)

NeedsAdmission(d) ==
  \/ Has("S8") /\ d.row.lim = 0
  \/ d.mem.lim = 0
  \/ Has("S9") /\ d.row.pos < d.mem.iss

LimitOf(pos) == pos + Ahead * Step

(* Makes a row usable that was inserted by hand or has gone back. `least`: IDs below it are taken. *)
Admitted(d, least) ==
  LET behind == d.row.pos < least
      end == End(d.mem)
      lost == behind \/ (Has("S10") /\ (d.row.lim # 0 \/ d.row.pos < end))
      exact == d.row.lim = 0 /\ d.mem.lim <= d.mem.iss
      raised == Max(d.row.pos, Max(least, end))
      pos == IF ~lost THEN d.row.pos
             ELSE raised + (IF behind \/ ~exact THEN Gap * Step ELSE 0)
  IN IF d.row.pos = 0 THEN [d EXCEPT !.mem.has = @ \/ ~Has("S17")]
     ELSE IF ~behind /\ ~NeedsAdmission(d) THEN [d EXCEPT !.mem.has = TRUE]
     ELSE [d EXCEPT !.row = [pos |-> pos, lim |-> LimitOf(pos)],
                    !.mem = [has |-> TRUE, iss |-> Max(d.mem.iss, pos), lim |-> Max(d.mem.lim, LimitOf(pos))]]

(* The statement of an allocation changes the row. *)
CanAllocate(d, gen) ==
  /\ Guarded(d, gen)
  /\ d.row.pos > 0
  /\ \/ d.row.pos + Step <= d.row.lim
     \/ ~Has("S11") /\ d.row.lim > 0
     \/ ~Has("S8") /\ d.row.lim = 0
  /\ Has("S9") => d.row.pos >= d.mem.iss

(* What the copy lacks: allocations, and moves of the row alone. *)
LackingAllocation == IF copy = NoCopy THEN copy ELSE [copy EXCEPT !.lost = @ + 1]
LackingMove(after) == IF copy = NoCopy \/ after.row.pos <= db.row.pos THEN copy ELSE [copy EXCEPT !.moved = TRUE]

-----------------------------------------------------------------------------
(* Servers *)

Put(s, value) == srv' = [srv EXCEPT ![s] = value]
Idle(me) == [me EXCEPT !.st = "idle", !.sent = 0, !.old = 0, !.new = 0]

(* A server writes what the guard makes of the database, and knows the generation. *)
Write(s, me, after) ==
  /\ db' = after
  /\ Put(s, [me EXCEPT !.gen = Max(@, after.gen)])
  /\ older' = IF after.gen >= db.gen + Move THEN "no" ELSE older

Start(s) ==
  /\ ~srv[s].up
  /\ ~Assumed(older)
  /\ Assumed("shown") => (hidden = 0 \/ db.row.pos >= hidden)
  /\ LET first == db.by = 0 /\ db.row.lim = 0
         d == IF first THEN [db EXCEPT !.by = db.here, !.gen = 1]
              ELSE IF db.by # 0 THEN [db EXCEPT !.gen = @ + 1] ELSE db
     IN db' = d /\ Put(s, [Up EXCEPT !.gen = d.gen])
  /\ UNCHANGED <<copy, swaps, taken, bad, left, refreshes, gone, hidden, older>>

(* The statement has taken a range. *)
Answer(s, me, sent) ==
  LET from == db.row.pos
      next == [db EXCEPT !.row.pos = @ + Step]
      isOutdated == Has("S6") /\ next.gen < me.gen
      isFollowed == Has("S6") /\ 2 * (next.gen - sent) >= Move
      admitted == Admitted(next, me.high + 1)
  IN IF sent # me.gen /\ (isOutdated \/ isFollowed)
     THEN /\ Write(s, me, IF isOutdated THEN Followed(next, me.gen) ELSE next)
          /\ copy' = LackingAllocation
          /\ UNCHANGED <<taken, bad>>
     ELSE IF Has("S7") /\ from <= me.high
     THEN /\ db' = admitted
          /\ copy' = LackingMove(admitted)
          /\ Put(s, me)
          /\ UNCHANGED <<taken, bad, older>>
     ELSE /\ db' = next
          /\ copy' = LackingAllocation
          /\ Put(s, [me EXCEPT !.high = Max(@, from + Step - 1), !.buffered = TRUE])
          /\ taken' = taken \cup Range(from)
          /\ bad' = bad \cup (IF Range(from) \cap taken = {} THEN {} ELSE {"an ID twice"})
                          \cup (IF from > me.high THEN {} ELSE {"an ID below an earlier one of its server"})
          /\ UNCHANGED older

(* The statement has changed no row: the server reads the row and acts. *)
Repair(s, me) ==
  LET pos == db.row.pos
      limit == LimitOf(pos)
      half == (Ahead * Step) \div 2
      bound == IF pos > half THEN pos - half ELSE 1
  IN /\ IF pos > 0 /\ NeedsAdmission(db)
        THEN /\ Put(s, [me EXCEPT !.st = "admit"])
             /\ UNCHANGED <<db, copy, older>>
        ELSE IF pos > 0 /\ pos + Step > db.row.lim
        THEN /\ db' = IF Has("S12") THEN [db EXCEPT !.mem.iss = Max(@, bound), !.mem.lim = Max(@, limit)] ELSE db
             /\ Put(s, [me EXCEPT !.st = "extend", !.old = db.row.lim, !.new = limit])
             /\ UNCHANGED <<copy, older>>
        ELSE /\ Write(s, me, Followed(db, me.gen))
             /\ UNCHANGED copy
     /\ UNCHANGED <<taken, bad>>

(* An allocation: its statement and what the server does with the answer. A refresh since the statement was sent may
   have seen a newer database than the statement asked for. *)
Allocate(s) ==
  /\ srv[s].up /\ srv[s].st = "idle"
  /\ srv[s].known \/ db.row.pos > 0
  /\ \E sent \in {srv[s].gen} \cup ({srv[s].sent} \ {0}) :
       LET me == [srv[s] EXCEPT !.known = TRUE, !.sent = 0]
       IN IF CanAllocate(db, sent) THEN db.row.pos + Step - 1 <= Last /\ Answer(s, me, sent) ELSE Repair(s, me)
  /\ UNCHANGED <<swaps, left, refreshes, gone, hidden>>

(* The transaction that makes the row usable. *)
Admit(s) ==
  /\ srv[s].up /\ srv[s].st = "admit"
  /\ LET admitted == Admitted(db, 0)
     IN /\ db' = admitted
        /\ copy' = LackingMove(admitted)
  /\ Put(s, Idle(srv[s]))
  /\ UNCHANGED <<swaps, taken, bad, left, refreshes, gone, hidden, older>>

(* The second statement of an extension: the limit of the row. *)
Extend(s) ==
  /\ srv[s].up /\ srv[s].st = "extend"
  /\ LET me == srv[s]
         may == db.row.pos > 0 /\ db.row.lim = me.old /\ (Has("S12") => db.mem.lim >= me.new)
     IN /\ db' = IF may THEN [db EXCEPT !.row.lim = me.new] ELSE db
        /\ Put(s, Idle(me))
  /\ UNCHANGED <<copy, swaps, taken, bad, left, refreshes, gone, hidden, older>>

(* Raises the generation, acts on an older database, and drops a tag that has no row. *)
Refresh(s) ==
  /\ srv[s].up /\ refreshes > 0
  /\ refreshes' = refreshes - 1
  /\ LET me == srv[s]
         raised == IF db.by # 0 /\ (Has("S5") => db.gen >= me.gen) THEN [db EXCEPT !.gen = @ + 1] ELSE db
         next == IF raised.gen < me.gen THEN Followed(raised, me.gen) ELSE raised
         drops == me.known /\ db.row.pos = 0
     IN Write(s, IF drops THEN [Idle(me) EXCEPT !.known = FALSE, !.buffered = FALSE, !.drop = me.high]
                 ELSE [me EXCEPT !.sent = me.gen], next)
  /\ UNCHANGED <<copy, swaps, taken, bad, left, gone, hidden>>

(* Records the highest ID of a dropped tag, and forgets it. *)
Record(s) ==
  /\ srv[s].up /\ srv[s].drop > 0
  /\ LET me == srv[s]
         next == me.drop + 1
         mem == IF db.mem.has THEN [db.mem EXCEPT !.iss = Max(@, next)]
                ELSE [has |-> TRUE, iss |-> next, lim |-> next + Gap * Step]
     IN /\ db' = IF Has("S13") THEN [db EXCEPT !.mem = mem] ELSE db
        /\ Put(s, [me EXCEPT !.drop = 0, !.high = IF me.known THEN @ ELSE 0])
  /\ UNCHANGED <<copy, swaps, taken, bad, left, refreshes, gone, hidden, older>>

-----------------------------------------------------------------------------
(* Faults *)

Fault(kind) == kind \in Kinds /\ left > 0 /\ left' = left - 1

Crash(s) ==
  /\ Fault("crash")
  /\ srv[s].up
  /\ Put(s, Down)
  /\ UNCHANGED <<db, copy, swaps, taken, bad, refreshes, gone, hidden, older>>

(* A transaction of an admission, or the second statement of an extension, is lost. *)
Lose(s) ==
  /\ Fault("lost")
  /\ srv[s].up /\ srv[s].st # "idle"
  /\ Put(s, Idle(srv[s]))
  /\ UNCHANGED <<db, copy, swaps, taken, bad, refreshes, gone, hidden, older>>

(* A statement is executed whose answer is lost, that its server has given up, or that was sent twice. *)
Late ==
  /\ Fault("late")
  /\ CanAllocate(db, 0)
  /\ db.row.pos + Step - 1 <= Last
  /\ db' = [db EXCEPT !.row.pos = @ + Step]
  /\ copy' = LackingAllocation
  /\ UNCHANGED <<srv, swaps, taken, bad, refreshes, gone, hidden, older>>

(* A server stops. The IDs from `from` on of its newest range are unused, and it gives them back. *)
Stop(s) ==
  /\ Fault("stop")
  /\ srv[s].up /\ srv[s].st = "idle" /\ srv[s].buffered
  /\ LET first == srv[s].high + 1 - Step
     IN \E from \in Range(first) :
          /\ swaps' = swaps \cup {[from |-> from, end |-> first + Step, gen |-> srv[s].gen]}
          /\ taken' = taken \ (from .. (first + Step - 1))
  /\ Put(s, Down)
  /\ UNCHANGED <<db, copy, bad, refreshes, gone, hidden, older>>

GiveBack(swap) ==
  /\ swap \in swaps
  /\ LET isThere == db.row.pos > 0 /\ (Has("S14") => db.row.pos = swap.end)
         may == Guarded(db, swap.gen) /\ isThere /\ db.mem.iss <= swap.from
     IN /\ db' = IF may THEN [db EXCEPT !.row.pos = swap.from] ELSE db
        /\ swaps' = IF Has("S15") \/ ~may THEN swaps \ {swap} ELSE swaps
  /\ UNCHANGED <<copy, srv, taken, bad, left, refreshes, gone, hidden, older>>

Return == \E swap \in swaps : GiveBack(swap)

(* SQL by hand: the row is set back. *)
SetBack ==
  /\ Fault("set back")
  /\ \E pos \in 1 .. (db.row.pos - 1) :
       /\ \/ pos < db.mem.iss
          \/ ~Assumed("shown")
          \/ \E s \in Servers : srv[s].up /\ srv[s].high + 1 = db.row.pos /\ \A t \in Servers \ {s} : ~srv[t].up
       /\ db' = [db EXCEPT !.row.pos = pos]
       /\ hidden' = IF pos < db.mem.iss THEN hidden ELSE Max(hidden, db.row.pos)
  /\ UNCHANGED <<copy, srv, swaps, taken, bad, refreshes, gone, older>>

(* SQL by hand: the row is deleted; later, it is inserted again. *)
Delete ==
  /\ Fault("delete")
  /\ db.row.pos > 0
  /\ db' = [db EXCEPT !.row = NoRow]
  /\ UNCHANGED <<copy, srv, swaps, taken, bad, refreshes, gone, hidden, older>>

Peak ==
  LET ends == {db.row.pos} \cup {id + 1 : id \in taken} \cup {swap.end : swap \in swaps}
  IN CHOOSE end \in ends : \A other \in ends : other <= end

(* Both tables are emptied. *)
Truncate ==
  /\ Fault("truncate")
  /\ db.row.pos > 0
  /\ db' = [db EXCEPT !.row = NoRow, !.mem = NoMem]
  /\ gone' = Peak
  /\ UNCHANGED <<copy, srv, swaps, taken, bad, refreshes, hidden, older>>

(* A server that has missed the tag knows IDs of it up to a gap below its end. *)
IsKnown == gone = 0 \/ (db.mem.iss > 0 /\ db.mem.iss + Gap * Step >= gone)

Appear(pos) ==
  /\ db.row.pos = 0
  /\ Assumed("missed") => IsKnown
  /\ db' = [db EXCEPT !.row = [pos |-> pos, lim |-> 0]]
  /\ copy' = IF copy = NoCopy THEN copy ELSE [copy EXCEPT !.moved = TRUE]
  /\ gone' = 0
  /\ UNCHANGED <<srv, swaps, taken, bad, left, refreshes, hidden, older>>

Insert == Appear(1)

(* The routes of the API. *)
Create == Appear(Max(1, End(db.mem)))

Remove ==
  /\ Fault("remove")
  /\ db.row.pos > 0
  /\ LET iss == Max(db.mem.iss, db.row.pos)
         exact == db.row.lim # 0 /\ (Has("S16") => iss <= db.row.pos)
     IN db' = [db EXCEPT !.row = NoRow, !.mem = [has |-> TRUE, iss |-> iss, lim |-> IF exact THEN iss ELSE db.mem.lim]]
  /\ UNCHANGED <<copy, srv, swaps, taken, bad, refreshes, gone, hidden, older>>

(* From now on, a replica lacks what the database does; or a backup is made. *)
Copy ==
  /\ Fault("copy")
  /\ copy = NoCopy
  /\ gone = 0 /\ hidden = 0
  /\ Assumed("record") => db.by # 0
  /\ copy' = [db |-> db, lost |-> 0, moved |-> FALSE]
  /\ UNCHANGED <<db, srv, swaps, taken, bad, refreshes, gone, hidden, older>>

(* Moves of all tags that the copy lacks. *)
LostMoves(gen) == IF gen < copy.db.gen THEN 0 ELSE (gen - copy.db.gen) \div Move

IsCovered ==
  /\ copy # NoCopy
  /\ gone = 0 /\ hidden = 0
  /\ Assumed("loss") => copy.lost <= Loss
  /\ Assumed("move") => ~copy.moved

IsMoveSeen == \A s \in Servers : srv[s].up => LostMoves(srv[s].gen) = LostMoves(db.gen)

(* The replica is promoted; or the former primary is promoted again, as it was. *)
Promote ==
  /\ Fault("promote")
  /\ IF copy # NoCopy /\ copy.db.here # db.here
     THEN /\ db' = copy.db
          /\ copy' = NoCopy
          /\ UNCHANGED older
     ELSE /\ IsCovered
          /\ Assumed("move") => IsMoveSeen
          /\ db' = [copy.db EXCEPT !.here = db.here + 1]
          /\ copy' = IF Assumed("back") THEN NoCopy ELSE [db |-> db, lost |-> 0, moved |-> FALSE]
          /\ older' = IF LostMoves(db.gen) > 0 THEN "move" ELSE "no"
  /\ UNCHANGED <<srv, swaps, taken, bad, refreshes, gone, hidden>>

(* The backup is put in the place of the database, under running servers. *)
Replace ==
  /\ Fault("replace")
  /\ IsCovered
  /\ copy.db.here = db.here
  /\ Assumed("seen") => \A s \in Servers : srv[s].up => srv[s].gen > copy.db.gen
  /\ Assumed("move") => IsMoveSeen
  /\ db' = copy.db
  /\ copy' = [copy EXCEPT !.lost = 0]
  /\ older' = IF LostMoves(db.gen) > 0 THEN "move" ELSE "seen"
  /\ UNCHANGED <<srv, swaps, taken, bad, refreshes, gone, hidden>>

(* The backup, and the command `leaf-server restore` before a server uses it. *)
Restore ==
  /\ Fault("restore")
  /\ IsCovered
  /\ copy.db.here = db.here
  /\ Assumed("move") => LostMoves(db.gen) = 0
  /\ db' = Moved(copy.db, 0)
  /\ copy' = NoCopy
  /\ older' = "no"
  /\ UNCHANGED <<srv, swaps, taken, bad, refreshes, gone, hidden>>

Next ==
  \/ \E s \in Servers :
       \/ Start(s) \/ Allocate(s) \/ Admit(s) \/ Extend(s) \/ Refresh(s) \/ Record(s)
       \/ Crash(s) \/ Lose(s) \/ Stop(s)
  \/ Return \/ Late \/ SetBack \/ Delete \/ Truncate \/ Insert \/ Create \/ Remove
  \/ Copy \/ Promote \/ Replace \/ Restore

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* Every ID once; the IDs of a server ascend. *)
Unique == "an ID twice" \notin bad
Ascending == "an ID below an earlier one of its server" \notin bad

=============================================================================
