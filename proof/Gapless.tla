------------------------------- MODULE Gapless ------------------------------
(* The numbers of one period of a gapless tag: transactions of several servers that issue, confirm and void, their
   journal, failovers and restores; see README.md. A document is a key. Its caller asks for a number, repeats the call
   until it has an answer, stores the document, and confirms. *)
EXTENDS Naturals, Sequences, FiniteSets, TLC

CONSTANTS
    Servers, Keys,
    Most,     \* calls in one transaction
    Reissue,  \* whether void numbers are given to other keys
    Faults,   \* how many faults happen
    Kinds,    \* the faults that can happen
    Without,  \* the rules that are taken out
    Dropped   \* the assumptions that are dropped

VARIABLES
    db,      \* the database: which server it is and which one the guard has recorded, moves, rows, journal, end
    copy,    \* a replica that stopped, or a backup
    tx,      \* the transaction of each server: what it carries out and what it has read
    seen,    \* how far each server has seen the journal, by the number of continuations
    doc,     \* each document: what its caller does, knows, and has stored
    settled, \* the first answer about the fate of each document's number
    lost,    \* keys whose answers the database has lost
    witness, \* the servers that may write next: all, but for an older copy that nobody has noticed
    wrong,   \* what has gone wrong
    faults

vars == <<db, copy, tx, seen, doc, settled, lost, witness, wrong, faults>>

Symmetry == Permutations(Servers) \cup Permutations(Keys)
Has(rule) == rule \notin Without
Assumed(name) == name \notin Dropped

Max(S) == CHOOSE x \in S : \A y \in S : x >= y
Min(S) == CHOOSE x \in S : \A y \in S : x <= y
Range(sequence) == {sequence[i] : i \in 1..Len(sequence)}
None == [none |-> TRUE]

\* A row belongs to a key, or to nobody: a number that was skipped. turn: how often the number was given before.
Skipped == "skipped"
Row(key, n, turn, state) == [key |-> key, n |-> n, turn |-> turn, state |-> state]
RowsOf(rows, key) == {row \in rows : row.key = key}
NumberOf(rows, key) == CHOOSE row \in rows : row.key = key

Lost == 99 \* an epoch of the end of a period: a server has seen that the database lacks numbers

Init ==
    /\ db = [here |-> 1, by |-> 1, moves |-> 0, rows |-> {}, journal |-> <<>>,
             next |-> 1, epoch |-> 0, continued |-> 0, kept |-> 0]
    /\ copy = None
    /\ tx = [s \in Servers |-> None]
    /\ seen = [s \in Servers |-> <<0, 0>>]
    /\ doc = [k \in Keys |-> [at |-> "new", number |-> 0, above |-> 0]]
    /\ settled = [k \in Keys |-> "open"]
    /\ lost = {} /\ witness = Servers
    /\ wrong = "nothing"
    /\ faults = Faults

Fault(kind) == kind \in Kinds /\ faults > 0 /\ faults' = faults - 1
Told == {doc[k].number : k \in Keys} \cup {0}

-----------------------------------------------------------------------------
(* Callers. *)

Ask(k) ==
    /\ doc[k].at = "new"
    /\ doc' = [doc EXCEPT ![k].at = "asking", ![k].above = Max(Told)]
    /\ UNCHANGED <<db, copy, tx, seen, settled, lost, witness, wrong, faults>>

\* The caller has lost its memory. It asks again with the same key.
Forget(k) ==
    /\ Fault("forget") /\ doc[k].at = "told"
    /\ Assumed("noted") => k \notin lost
    /\ doc' = [doc EXCEPT ![k].at = "asking"]
    /\ UNCHANGED <<db, copy, tx, seen, settled, lost, witness, wrong>>

Store(k) ==
    /\ doc[k].at = "told" /\ settled[k] # "void"
    /\ doc' = [doc EXCEPT ![k].at = "stored"]
    /\ UNCHANGED <<db, copy, tx, seen, settled, lost, witness, wrong, faults>>

\* There will be no document.
GiveUp(k) ==
    /\ doc[k].at = "told"
    /\ doc' = [doc EXCEPT ![k].at = "voiding"]
    /\ UNCHANGED <<db, copy, tx, seen, settled, lost, witness, wrong, faults>>

Calls(k) ==
    CASE doc[k].at = "asking" -> {"issue"}
      [] doc[k].at = "stored" -> {"confirm"}
      [] doc[k].at = "voiding" -> {"void"}
      [] OTHER -> {}

\* Somebody else may void a number that is open for long, and a caller may repeat it.
Possible == {<<k, act>> \in Keys \X {"issue", "confirm", "void"} :
    \/ act \in Calls(k)
    \/ act = "void" /\ "void" \in Kinds /\ doc[k].at \in {"stored", "confirmed"}
    \/ act = "void" /\ "repeat" \in Kinds /\ doc[k].at = "void"}

-----------------------------------------------------------------------------
(* Transactions. *)

IsOpen(s) == tx[s] # None
NobodyWrites == Has("G1") => \A s \in Servers : ~IsOpen(s)

\* A server locks the row of the tag and reads, unless the guard has to act first.
Begin(s) ==
    /\ ~IsOpen(s) /\ NobodyWrites
    /\ Assumed("witness") => s \in witness
    /\ db.by = db.here
    /\ \E group \in {<<call>> : call \in Possible} \cup (IF Most = 1 THEN {} ELSE
                     {<<one, other>> : one, other \in Possible}) :
        /\ Len(group) = 2 => group[1] # group[2]
        /\ tx' = [tx EXCEPT ![s] = [group |-> group, read |-> db]]
    /\ UNCHANGED <<db, copy, seen, doc, settled, lost, witness, wrong, faults>>

\* A line of the journal.
Line(event, row) == <<event, row.n, row.turn, row.key>>

Free(state) == {row \in state.rows : row.state = "void" /\ (row.n > state.kept \/ ~Has("G8"))}

\* `state`: what the transaction has read, and wrote so far; `ok`: whether the end of the period is certain; `new`: keys
\* that get a number.
Issue(state, k) ==
    IF Has("G2") /\ RowsOf(state.rows, k) # {} THEN state
    ELSE IF ~state.ok THEN state
    ELSE IF Reissue /\ Free(state) # {} THEN
        LET free == CHOOSE row \in Free(state) : \A other \in Free(state) : row.n <= other.n
            row == Row(k, free.n, free.turn + 1, "issued")
        IN [state EXCEPT !.rows = (@ \ {free}) \cup {[free EXCEPT !.state = "reissued"], row},
                         !.journal = Append(@, Line("issued", row)), !.new = @ \cup {k}]
    ELSE
        LET row == Row(k, state.next, 0, "issued")
        IN [state EXCEPT !.rows = @ \cup {row}, !.next = @ + 1, !.journal = Append(@, Line("issued", row)),
                         !.new = @ \cup {k}]

Settle(state, k, to) ==
    IF RowsOf(state.rows, k) = {} \/ ~state.ok THEN state
    ELSE LET row == NumberOf(state.rows, k)
             may == row.state = "issued" \/ (~Has("G9") /\ row.state \in {"confirmed", "void"} /\ row.state # to)
         IN IF ~may THEN state
            ELSE [state EXCEPT !.rows = (@ \ {row}) \cup {[row EXCEPT !.state = to]},
                               !.journal = Append(@, Line(to, row))]

RECURSIVE CarriedOut(_, _)
CarriedOut(state, group) ==
    IF group = <<>> THEN state
    ELSE LET call == Head(group)
             k == call[1]
             after == CASE call[2] = "issue" -> Issue(state, k)
                        [] call[2] = "confirm" -> Settle(state, k, "confirmed")
                        [] call[2] = "void" -> Settle(state, k, "void")
         IN CarriedOut(after, Tail(group))

\* The number of continuations is part of what a server remembers: by G7, an earlier number is older.
IsBehind(s, read) ==
    /\ Has("G5")
    /\ \/ Len(read.journal) < seen[s][read.continued + 1]
       \/ Has("G7") /\ \E c \in (read.continued + 2)..2 : seen[s][c] > 0

IsCertain(read) == IF Has("G4") THEN read.epoch = read.moves ELSE read.epoch # Lost

Plan(s) ==
    LET read == tx[s].read
        ok == IsCertain(read) /\ ~IsBehind(s, read)
        start == [rows |-> read.rows, next |-> read.next, journal |-> read.journal, ok |-> ok, new |-> {},
                  kept |-> read.kept]
    IN CarriedOut(start, tx[s].group)

\* The answer to a call, in what has become true.
Answered(k, act, plan) ==
    IF RowsOf(plan.rows, k) = {} THEN None
    ELSE IF act # "issue" /\ ~plan.ok THEN None
    ELSE NumberOf(plan.rows, k)

Judge(answers, plan) ==
    IF \E a \in answers : a.act = "issue" /\ a.k \in plan.new /\ ~Reissue /\ a.row.n <= doc[a.k].above
    THEN "a number below an earlier answer"
    ELSE IF \E a \in answers : a.act = "issue" /\ doc[a.k].number \notin {0, a.row.n} THEN "a key with two numbers"
    ELSE IF \E a \in answers : a.row.state \in {"confirmed", "void"} /\ settled[a.k] \notin {"open", a.row.state}
                               /\ a.k \notin lost
    THEN "a fate that has changed"
    ELSE wrong

Deliver(answers, plan) ==
    /\ wrong' = Judge(answers, plan)
    /\ doc' = [k \in Keys |->
        LET own == {a \in answers : a.k = k}
            asked == {a \in own : a.act = "issue"}
        IN IF asked # {} THEN
               LET row == (CHOOSE a \in asked : TRUE).row
               IN [doc[k] EXCEPT !.at = IF row.state \in {"void", "reissued"} THEN "void" ELSE "told", !.number = row.n]
           ELSE IF own # {} THEN
               LET row == (CHOOSE a \in own : TRUE).row
               IN [doc[k] EXCEPT !.at = CASE row.state = "confirmed" -> "confirmed" [] row.state = "issued" -> @
                                          [] OTHER -> "void"]
           ELSE doc[k]]
    /\ settled' = [k \in Keys |->
        LET fates == {a.row.state : a \in {a \in answers : a.k = k}} \cap {"confirmed", "void"}
        IN IF fates = {} THEN settled[k] ELSE CHOOSE fate \in fates : TRUE]

\* What is committed of a plan that was made of what the transaction has read.
Committed(read, plan) ==
    LET added == plan.rows \ read.rows
        gone == read.rows \ plan.rows
        lines == SubSeq(plan.journal, Len(read.journal) + 1, Len(plan.journal))
    IN [db EXCEPT !.rows = (@ \ gone) \cup added, !.journal = SubSeq(@, 1, Len(read.journal)) \o lines,
                  !.next = plan.next,
                  !.epoch = IF plan.ok THEN db.moves ELSE @]

\* G3: the numbers and the end are one transaction. Without it, the numbers may stay away.
Commit(s) ==
    /\ IsOpen(s)
    /\ LET read == tx[s].read
           plan == Plan(s)
           behind == IsBehind(s, read) /\ IsCertain(read)
           next == IF plan.journal = read.journal
                   THEN (IF behind /\ Has("G6") THEN [db EXCEPT !.epoch = Lost] ELSE db)
                   ELSE Committed(read, plan)
           answers == {[k |-> call[1], act |-> call[2], row |-> Answered(call[1], call[2], plan)] :
                       call \in Range(tx[s].group)}
           heard == {a \in answers : a.row # None}
       IN /\ tx' = [tx EXCEPT ![s] = None]
          /\ db' = next
          /\ \/ /\ Deliver(heard, plan)
                /\ seen' = IF plan.ok THEN [seen EXCEPT ![s][read.continued + 1] = Len(next.journal)] ELSE seen
                /\ UNCHANGED faults
             \/ /\ Fault("answer lost")
                /\ UNCHANGED <<doc, settled, wrong, seen>>
          /\ witness' = IF behind THEN Servers ELSE witness
    /\ UNCHANGED <<copy, lost>>

\* The server dies, or the transaction is rolled back.
Rollback(s) ==
    /\ Fault("rollback") /\ IsOpen(s)
    /\ tx' = [tx EXCEPT ![s] = None]
    /\ db' = IF Has("G3") THEN db ELSE [db EXCEPT !.next = Plan(s).next]
    /\ UNCHANGED <<copy, seen, doc, settled, lost, witness, wrong>>

Crash(s) ==
    /\ Fault("crash")
    /\ tx' = [tx EXCEPT ![s] = None]
    /\ seen' = [seen EXCEPT ![s] = <<0, 0>>]
    /\ witness' = IF witness = Servers THEN Servers ELSE witness \ {s}
    /\ UNCHANGED <<db, copy, doc, settled, lost, wrong>>

-----------------------------------------------------------------------------
(* Lost history. *)

\* The guard sees another database server, and counts a move.
Follow ==
    /\ NobodyWrites /\ db.by # db.here
    /\ db' = [db EXCEPT !.by = db.here, !.moves = @ + 1]
    /\ UNCHANGED <<copy, tx, seen, doc, settled, lost, witness, wrong, faults>>

\* Lines of the journal, by number.
RECURSIVE LinesOf(_)
LinesOf(rows) ==
    IF rows = {} THEN <<>>
    ELSE LET row == CHOOSE row \in rows : \A other \in rows : row.n <= other.n
         IN <<Line("void", row)>> \o LinesOf(rows \ {row})

\* An operator says where the period goes on: after the last number on a document.
Continue(superfluous) ==
    /\ NobodyWrites /\ db.by = db.here /\ db.continued < 1
    /\ IF superfluous THEN Fault("continue") ELSE db.epoch # db.moves /\ UNCHANGED faults
    /\ LET record == Max({db.next - 1} \cup {row.n : row \in db.rows})
           last == Max({record} \cup (IF Assumed("operator") THEN Told ELSE {}))
           fresh == {Row(Skipped, n, 0, "void") : n \in (record + 1)..last}
       IN db' = [db EXCEPT !.rows = @ \cup fresh, !.journal = @ \o LinesOf(fresh), !.next = last + 1,
                           !.epoch = db.moves, !.continued = @ + 1, !.kept = IF Reissue THEN last ELSE 0]
    /\ UNCHANGED <<copy, tx, seen, doc, settled, lost, witness, wrong>>

Copy ==
    /\ Fault("copy") /\ copy = None
    /\ copy' = db
    /\ UNCHANGED <<db, tx, seen, doc, settled, lost, witness, wrong>>

\* Transactions of the former database end without an answer.
LoseHistory(next) ==
    /\ db' = next
    /\ copy' = None
    /\ tx' = [s \in Servers |-> None]
    /\ LET gone == {k \in Keys : doc[k].number # 0 /\ RowsOf(next.rows, k) # RowsOf(db.rows, k)}
       IN /\ lost' = lost \cup gone
          /\ doc' = [k \in Keys |-> IF Assumed("noted") /\ k \in gone /\ doc[k].at = "asking"
                                   THEN [doc[k] EXCEPT !.at = "told"] ELSE doc[k]]
    /\ UNCHANGED <<seen, settled, wrong>>

Promote ==
    /\ Fault("promote") /\ copy # None
    /\ witness' = Servers
    /\ LoseHistory([copy EXCEPT !.here = db.here + 1])

\* The command `leaf-server restore`.
Restore ==
    /\ Fault("restore") /\ copy # None
    /\ witness' = Servers
    /\ LoseHistory([copy EXCEPT !.moves = @ + 1, !.epoch = Lost])

\* An older copy that the guard does not notice. The next server that writes has seen the newest line of the journal.
Replace ==
    /\ Fault("replace") /\ copy # None /\ copy.here = db.here
    /\ witness' = {s \in Servers : seen[s][db.continued + 1] = Len(db.journal)}
    /\ LoseHistory(copy)

Next ==
    \/ \E k \in Keys : Ask(k) \/ Forget(k) \/ Store(k) \/ GiveUp(k)
    \/ \E s \in Servers : Begin(s) \/ Commit(s) \/ Rollback(s) \/ Crash(s)
    \/ Follow \/ Continue(FALSE) \/ Continue(TRUE) \/ Copy \/ Promote \/ Restore \/ Replace

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
\* Each number from the first to the last has a row, and one at a time that is no former one.
NoGap ==
    /\ {row.n : row \in db.rows} = 1..(db.next - 1)
    /\ \A n \in 1..(db.next - 1) : Cardinality({row \in db.rows : row.n = n /\ row.state # "reissued"}) = 1
\* A key has one number.
OneNumber == \A a, b \in db.rows : (a.key = b.key /\ a.key # Skipped) => a = b
\* No number is on two documents.
OneDocument == \A a, b \in Keys :
    (a # b /\ {doc[a].at, doc[b].at} \subseteq {"stored", "confirmed"}) => doc[a].number # doc[b].number
\* A key keeps its number, a confirmed number stays confirmed, a void one void.
Kept == wrong \notin {"a key with two numbers", "a fate that has changed"}
\* A call that begins after another one was answered gets a higher number.
Chronological == wrong # "a number below an earlier answer"
\* The journal tells what has become of each number.
Recorded == \A row \in db.rows :
    LET lines == {i \in 1..Len(db.journal) : db.journal[i][2] = row.n /\ db.journal[i][3] = row.turn}
    IN lines # {} /\ db.journal[Max(lines)][1] = (IF row.state = "reissued" THEN "void" ELSE row.state)
=============================================================================
