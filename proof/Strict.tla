------------------------------- MODULE Strict -------------------------------
(* A strict tag: a call that begins after another one was answered, on any server, gets a higher ID; see README.md.
   A statement takes as many IDs as calls wait when it is sent. Several are in flight, and their answers come in any
   order. Each call takes one ID. *)
EXTENDS Naturals, Sequences, FiniteSets, TLC

CONSTANTS
    Servers,
    Calls,     \* how many calls begin
    InFlight,  \* statements in flight of a server
    Gap,       \* IDs by which a failover or a refused answer moves the row
    Loss,      \* IDs that a promoted replica may lack
    Last,      \* no statement is sent above this ID
    Faults,    \* how many faults happen
    Kinds,     \* the faults that can happen
    Without,   \* the rules that are taken out
    Dropped    \* the assumptions that are dropped

VARIABLES
    row,      \* the first ID that is not taken
    old,      \* that of the former primary while it still runs, or 0
    behind,   \* whether a replica was promoted, and no server has moved its row yet
    flights,  \* the statements in flight of each server, in the order in which they were sent
    waiting,  \* the calls of each server that are in no statement
    highest,  \* the highest ID that each server knows
    known,    \* IDs of answers that came since the oldest statement in flight was sent
    spare,    \* IDs that a server keeps for later calls: none, by T2
    late,     \* IDs of statements that were given up
    call,     \* the lowest ID that each call may get while it waits; otherwise what has become of it
    answered, \* IDs that calls have got
    wrong,    \* what has gone wrong
    faults

database == <<row, old, behind>>
server == <<flights, waiting, highest, known, spare, late>>
judged == <<call, answered, wrong>>
vars == <<database, server, judged, faults>>

Symmetry == Permutations(Servers)
Has(rule) == rule \notin Without
Assumed(name) == name \notin Dropped

Max(S) == CHOOSE x \in S : \A y \in S : x >= y
Remove(sequence, i) == SubSeq(sequence, 1, i - 1) \o SubSeq(sequence, i + 1, Len(sequence))
Top == Max(answered \cup {0})

\* A call: not begun, or ended; otherwise above all that had been answered when it began.
Later == 0
Ended == 1000
IsWaiting(c) == call[c] \notin {Later, Ended}

Init ==
    /\ row = 1 /\ old = 0 /\ behind = FALSE
    /\ flights = [s \in Servers |-> <<>>] /\ waiting = [s \in Servers |-> <<>>]
    /\ highest = [s \in Servers |-> 0] /\ known = [s \in Servers |-> {}]
    /\ spare = [s \in Servers |-> {}] /\ late = [s \in Servers |-> {}]
    /\ call = [c \in 1..Calls |-> Later] /\ answered = {} /\ wrong = "nothing"
    /\ faults = Faults

-----------------------------------------------------------------------------
(* Calls. *)

\* The calls of a list get the IDs from `from` on, in its order. The share of a call that has ended is a gap.
Serve(s, list, from) ==
    LET served == {i \in 1..Len(list) : IsWaiting(list[i])}
        ids == {from + i - 1 : i \in served}
    IN /\ answered' = answered \cup ids
       /\ call' = [c \in 1..Calls |-> IF \E i \in served : list[i] = c THEN Ended ELSE call[c]]
       /\ wrong' = IF ids \cap answered # {} THEN "an ID twice"
                   ELSE IF \E i \in served : from + i - 1 < call[list[i]] THEN "an ID below an earlier answer"
                   ELSE wrong

IsNext(c) == call[c] = Later /\ \A earlier \in 1..(c - 1) : call[earlier] # Later

\* Without T1, a call joins a statement in flight that takes more IDs than it has calls. Without T2, it gets an ID that
\* was kept.
Begin(c, s) ==
    /\ IsNext(c)
    /\ LET open == {i \in 1..Len(flights[s]) : Len(flights[s][i].list) < flights[s][i].size}
       IN IF spare[s] # {} THEN
              LET id == CHOOSE id \in spare[s] : \A other \in spare[s] : id <= other
              IN /\ spare' = [spare EXCEPT ![s] = @ \ {id}]
                 /\ answered' = answered \cup {id}
                 /\ call' = [call EXCEPT ![c] = Ended]
                 /\ wrong' = IF id \in answered THEN "an ID twice"
                             ELSE IF id <= Top THEN "an ID below an earlier answer" ELSE wrong
                 /\ UNCHANGED <<flights, waiting>>
          ELSE /\ call' = [call EXCEPT ![c] = Top + 1]
               /\ IF open # {} THEN /\ flights' = [flights EXCEPT ![s][Max(open)].list = Append(@, c)]
                                    /\ UNCHANGED waiting
                  ELSE /\ waiting' = [waiting EXCEPT ![s] = Append(@, c)]
                       /\ UNCHANGED flights
               /\ UNCHANGED <<spare, answered, wrong>>
    /\ UNCHANGED <<database, highest, known, late, faults>>

-----------------------------------------------------------------------------
(* Statements. *)

\* from: the first ID that it has taken, 0 before it is executed; read: by T5, no statement reads before it writes.
Send(s) ==
    /\ waiting[s] # <<>> /\ Len(flights[s]) < InFlight /\ row + Len(waiting[s]) - 1 <= Last
    /\ LET size == Len(waiting[s]) + (IF Has("T1") THEN 0 ELSE 1)
           flight == [list |-> waiting[s], size |-> size, above |-> highest[s], from |-> 0, read |-> 0]
       IN flights' = [flights EXCEPT ![s] = Append(@, flight)]
    /\ waiting' = [waiting EXCEPT ![s] = <<>>]
    /\ UNCHANGED <<database, highest, known, spare, late, judged, faults>>

\* The primary executes it: by T7, not before the row of a promoted replica has been moved. So does a former primary
\* that is not fenced.
Execute(s, i) ==
    /\ i \in 1..Len(flights[s]) /\ flights[s][i].from = 0
    /\ \E isOld \in {FALSE} \cup {old # 0} :
        LET size == flights[s][i].size
            read == flights[s][i].read
            from == IF isOld THEN old ELSE IF Has("T5") THEN row ELSE read
        IN /\ isOld \/ (behind => ~Has("T7"))
           /\ IF from = 0 THEN
                  /\ flights' = [flights EXCEPT ![s][i].read = row]
                  /\ UNCHANGED <<row, old>>
              ELSE
                  /\ flights' = [flights EXCEPT ![s][i].from = from, ![s][i].read = 0]
                  /\ row' = IF isOld THEN row ELSE from + size
                  /\ old' = IF isOld THEN from + size ELSE old
    /\ UNCHANGED <<behind, waiting, highest, known, spare, late, judged, faults>>

\* A server moves the row of a promoted replica.
Follow ==
    /\ behind
    /\ row' = row + (IF Has("T8") THEN Gap ELSE 0)
    /\ behind' = FALSE
    /\ UNCHANGED <<old, server, judged, faults>>

\* What a server keeps of answers once statement i has ended.
Kept(s, i, ids) ==
    LET rest == Remove(flights[s], i)
        above == IF rest = <<>> THEN Max({highest[s]} \cup ids) ELSE rest[1].above
    IN IF Has("T6") THEN {id \in known[s] \cup ids : id > above} ELSE {}

\* The answer comes. A range that is not new moves the row, and its calls wait for another statement.
Answer(s, i) ==
    /\ flights[s][i].from # 0
    /\ LET flight == flights[s][i]
           ids == flight.from..(flight.from + flight.size - 1)
           isNew == (Has("T3") => flight.from > flight.above) /\ (Has("T4") => ids \cap known[s] = {})
           unused == {flight.from + j - 1 : j \in {j \in 1..Len(flight.list) : ~IsWaiting(flight.list[j])}}
       IN /\ flights' = [flights EXCEPT ![s] = Remove(@, i)]
          /\ known' = [known EXCEPT ![s] = Kept(s, i, IF isNew THEN ids ELSE {})]
          /\ IF isNew THEN
                 /\ Serve(s, flight.list, flight.from)
                 /\ highest' = [highest EXCEPT ![s] = Max(ids \cup {@})]
                 /\ spare' = IF Has("T2") THEN spare ELSE [spare EXCEPT ![s] = @ \cup unused]
                 /\ UNCHANGED <<row, waiting>>
             ELSE
                 /\ row' = Max({row, highest[s] + 1}) + Gap
                 /\ waiting' = [waiting EXCEPT ![s] = SelectSeq(flight.list, IsWaiting) \o @]
                 /\ UNCHANGED <<highest, spare, judged>>
    /\ UNCHANGED <<old, behind, late, faults>>

\* Without T9, the answer to a statement that was given up serves a call that waits when it comes.
AnswerLate(s) ==
    /\ waiting[s] # <<>>
    /\ \E id \in late[s] :
        /\ Serve(s, <<waiting[s][1]>>, id)
        /\ late' = [late EXCEPT ![s] = @ \ {id}]
    /\ waiting' = [waiting EXCEPT ![s] = Tail(@)]
    /\ UNCHANGED <<database, flights, highest, known, spare, faults>>

\* The answer to statement i, or to one that was given up (0).
Hear(s, i) == IF i = 0 THEN AnswerLate(s) ELSE i <= Len(flights[s]) /\ Answer(s, i)

-----------------------------------------------------------------------------
(* Faults. *)

Fault(kind) == kind \in Kinds /\ faults > 0 /\ faults' = faults - 1

\* A statement or its answer is lost. Its calls wait for another one; its IDs are a gap.
Lose(s, i) ==
    /\ Fault("lost") /\ i \in 1..Len(flights[s])
    /\ flights' = [flights EXCEPT ![s] = Remove(@, i)]
    /\ known' = [known EXCEPT ![s] = Kept(s, i, {})]
    /\ waiting' = [waiting EXCEPT ![s] = SelectSeq(flights[s][i].list, IsWaiting) \o @]
    /\ late' = IF Has("T9") \/ flights[s][i].from = 0 THEN late
               ELSE [late EXCEPT ![s] = @ \cup {flights[s][i].from}]
    /\ UNCHANGED <<database, highest, spare, judged>>

\* A statement is executed twice, or after it was given up.
Repeat ==
    /\ Fault("late") /\ ~behind
    /\ row' = row + 1
    /\ UNCHANGED <<old, behind, server, judged>>

\* The wait limit of a call is over.
GiveUp(c) ==
    /\ Fault("give up") /\ IsWaiting(c)
    /\ call' = [call EXCEPT ![c] = Ended]
    /\ waiting' = [s \in Servers |-> SelectSeq(waiting[s], LAMBDA each : each # c)]
    /\ UNCHANGED <<database, flights, highest, known, spare, late, answered, wrong>>

\* The server starts again, and knows nothing.
Crash(s) ==
    /\ Fault("crash")
    /\ LET lost == UNION {{list[j] : j \in 1..Len(list)} :
                          list \in {waiting[s]} \cup {flights[s][i].list : i \in 1..Len(flights[s])}}
       IN call' = [c \in 1..Calls |-> IF c \in lost THEN Ended ELSE call[c]]
    /\ flights' = [flights EXCEPT ![s] = <<>>] /\ waiting' = [waiting EXCEPT ![s] = <<>>]
    /\ highest' = [highest EXCEPT ![s] = 0] /\ known' = [known EXCEPT ![s] = {}]
    /\ spare' = [spare EXCEPT ![s] = {}] /\ late' = [late EXCEPT ![s] = {}]
    /\ UNCHANGED <<database, answered, wrong>>

\* A replica is promoted that lacks the newest statements. The former primary is fenced.
Promote ==
    /\ Fault("promote") /\ ~behind
    /\ \E lost \in 0..(IF Assumed("loss") THEN Loss ELSE row - 1) : lost < row /\ row' = row - lost
    /\ behind' = TRUE
    /\ old' = IF Assumed("fenced") THEN 0 ELSE row
    /\ UNCHANGED <<server, judged>>

\* The row is set back by hand, by so little that its record does not show it. One server knows all IDs above it.
SetBack ==
    /\ Fault("set back") /\ ~behind
    /\ Assumed("alone") => Cardinality(Servers) = 1
    /\ \E to \in 1..(row - 1) : row' = to
    /\ UNCHANGED <<old, behind, server, judged>>

Next ==
    \/ \E c \in 1..Calls : GiveUp(c) \/ \E s \in Servers : Begin(c, s)
    \/ \E s \in Servers : Send(s) \/ Crash(s)
    \/ \E s \in Servers : \E i \in 0..InFlight :
        Hear(s, i) \/ Execute(s, i) \/ Lose(s, i)
    \/ Follow \/ Repeat \/ Promote \/ SetBack

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
\* No ID twice.
Unique == wrong # "an ID twice"
\* Whoever calls after an answer gets a higher ID.
Ordered == wrong # "an ID below an earlier answer"
=============================================================================
