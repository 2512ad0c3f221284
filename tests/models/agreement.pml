/*
 * Agreement of the members of a communicator: on a context id at its initialization, on the schedule of a class of
 * calls, on failure, and on freeing (src/mpi/communicator). docs/models.md states what is proved, and its assumptions.
 *
 * One communicator of the library carries the messages of all; the messages of a program's communicator are
 * distinguished by its context id, which is part of the tags. So the id must be the same at both ends of every message,
 * and no message of an earlier communicator may be received with it.
 *
 * Three scenarios with processes 0, 1 and 2, one of which is selected by a macro:
 *
 *   CONTEXT_IDS   X = {0, 1}, Y = {1, 2}, Z = {0, 1}; each member is a thread that initializes the communicator, calls
 *                 and frees. The threads are not ordered, so Z is initialized at the same time as X, or after X is freed
 *                 on one side or on both. There are fewer context ids than communicators: they are reused and run out.
 *   MEMORY        X and Y alone; any member may be out of memory whenever it allocates.
 *   FAILURES      W = {0, 1, 2} is called three times (the first call of a class, of another class, and a later call of
 *                 the first), then freed; then V = {0, 1, 2} is initialized, called and freed. Any member may be unable
 *                 to execute a class, or fail at any point of any call, but only one of them and once; member 0 may let
 *                 a class fall back to the MPI library. After a failure the launcher may end the job, so the other
 *                 members may wait forever; until then they continue.
 *
 * In a call every member sends STEPS messages to the next member and receives as many from the previous one; a step
 * starts when the previous one is complete. A send is complete immediately or, in FAILURES, when its message is taken;
 * MPI allows both.
 *
 * Each macro MUTANT_… inserts one error, which spin must find.
 */
#define LIMIT 2 /* number of context ids, which begin with 1 */
#ifndef FAILURES
#define COMMS 3
#define SIZE(c) 2
#define STEPS 1
#define NEXT(c, p) ((c) == 1 -> 3 - (p) : 1 - (p))
#define BEFORE(c, p) NEXT(c, p)
#define LINK(from, to) ((from) < (to) -> 2 * (from) : 2 * (to) + 1)
#define LINKS 4
#else
#define COMMS 2
#define SIZE(c) 3
#define STEPS 2
#define HEAD(c) 0 /* member 0, which decides */
#define NEXT(c, p) (((p) + 1) % 3)
#define BEFORE(c, p) (((p) + 2) % 3)
#define LINK(from, to) (from)
#define LINKS 3
#endif
#define CLASSES 2
#define CALLS 3

/* ---- Context ids: a table in every process, protected by a lock -------------------------------------------------- */

#define FREE 0
#define BROKEN 255
#define OWNER(p, n) owner[(p) * LIMIT + (n) - 1]
byte owner[3 * LIMIT]; /* FREE, 1 + the communicator that has it or proposes it, or BROKEN permanently */

inline reserve_lowest(p, c, above, n)
{
    n = above + 1;
    do
    :: n <= LIMIT && OWNER(p, n) != FREE -> n++
    :: else -> break
    od;
    if
    :: n <= LIMIT -> OWNER(p, n) = c + 1
    :: else
    fi
}

inline release_id(p, c, n)
{
    if
    :: n && n <= LIMIT && OWNER(p, n) == c + 1 -> OWNER(p, n) = FREE
    :: else
    fi
}

/* ---- Exchanges: collectives of the MPI library on the program's own communicator --------------------------------- */

#define PROPOSE 1
#define CONFIRM 2
#define DECIDE 3
#define MPI_CALL 4
byte exchange[COMMS], entered[COMMS], departed[COMMS], maximum[COMMS], minimum[COMMS];
#ifndef FAILURES
bool proposals_differ[COMMS]; /* in the current exchange the members did not contribute the same value */
#endif

inline enter(c, kind, a, b)
{
    !departed[c];
    assert(!entered[c] || exchange[c] == kind); /* all members are in the same exchange */
#ifndef FAILURES
    proposals_differ[c] = (entered[c] -> proposals_differ[c] || maximum[c] != a : 0);
#endif
    maximum[c] = (entered[c] && maximum[c] > a -> maximum[c] : a);
    minimum[c] = (entered[c] && minimum[c] < b -> minimum[c] : b);
    exchange[c] = kind;
    entered[c]++
}

inline leave(c, a, b)
{
    entered[c] == SIZE(c);
    a = maximum[c];
    b = minimum[c];
    departed[c]++;
    if
    :: departed[c] == SIZE(c) -> entered[c] = 0; departed[c] = 0; maximum[c] = 0; minimum[c] = 0; exchange[c] = 0
    :: else
    fi
}

/* ---- Messages: with one context id, from one process to another, they keep their order --------------------------- */

/* For the assertions, a message contains its communicator and call. */
#define MESSAGE(c, call) (CALLS * (c) + (call))
#define WIRE(from, to, n) wire[LINK(from, to) * LIMIT + (n) - 1]
chan wire[LINKS * LIMIT] = [2 * STEPS] of { byte };

/* ---- Results that must agree: the first member that has one records it, the others compare ----------------------- */

#define UNKNOWN 0
#define SCHEDULE 1
#define MPI 2
byte context_id[3 * COMMS];           /* context ids of every process's communicators while they exist */
byte agreed_id[COMMS];                /* + 1 */
byte decision[COMMS * CLASSES];       /* member 0's, as broadcast */
byte agreed_status[COMMS * CLASSES];

inline agree(with, value)
{
    assert(with == 0 || with == value);
    with = value
}

bool failed; /* a member has failed */

/* ---- Actions of a member ----------------------------------------------------------------------------------------- */

#ifdef MEMORY
#define POSSIBLY_NO_MEMORY able = 0
#else
#define POSSIBLY_NO_MEMORY skip
#endif

#ifdef MUTANT_NOT_REMEMBERED
#define REMEMBERED(n) 0
#else
#define REMEMBERED(n) n
#endif

/* Takes context id n if it is free in this process; the proposal is released if it is another id. */
inline confirm(p, c, n, proposal)
{
#ifndef MUTANT_PROPOSAL_KEPT
    if
    :: n != proposal -> release_id(p, c, proposal)
    :: else
    fi;
#endif
    taken = (OWNER(p, n) != FREE && OWNER(p, n) != c + 1);
#ifndef MUTANT_NOT_LOCKED
    if
    :: !taken -> OWNER(p, n) = c + 1
    :: else
    fi;
#endif
    proposal = 0
}

inline initialize(p, c)
{
    do
    :: atomic {
           able = 1;
           reserve_lowest(p, c, REMEMBERED(rejected), n);
           proposal = n;
           if
           :: true
           :: POSSIBLY_NO_MEMORY
           fi;
#ifdef MUTANT_EXCHANGE_SKIPPED
           if
           :: !able -> release_id(p, c, proposal); n = 0; break
           :: else
           fi;
#endif
           enter(c, PROPOSE, n, able)
       }
       atomic {
           leave(c, n, able);
           assert(n > rejected); /* ascending order, so the loop ends */
           if
           :: !able || n > LIMIT -> release_id(p, c, proposal); n = 0; break
           :: else
           fi;
#ifndef FAILURES
           if
           :: !proposals_differ[c] -> break /* all have proposed it: for a duplicate this is sufficient */
           :: else
           fi;
#endif
           confirm(p, c, n, proposal);
#ifdef MUTANT_NOT_LOCKED
       }
       atomic {
           if
           :: !taken -> OWNER(p, n) = c + 1
           :: else
           fi;
#endif
#ifdef MUTANT_NOT_CONFIRMED
           if
           :: taken -> n = 0
           :: else
           fi;
           break;
#endif
           enter(c, CONFIRM, taken, taken)
       }
       atomic {
           leave(c, taken, able);
           if
           :: !taken -> break
           :: else -> release_id(p, c, n); rejected = n; n = 0
           fi
       }
    od;
    atomic {
        proposal = 0;
        rejected = 0;
        taken = 0;
        able = 0;
        agree(agreed_id[c], n + 1);
        context_id[p * COMMS + c] = n;
        for (other : 0 .. COMMS - 1) { /* no two communicators that exist here have the same id */
            assert(!n || other == c || context_id[p * COMMS + other] != n)
        }
        other = 0
    }
}

/* The first call of a class of sizes. */
#define VOTE_NO 1
#define VOTE_YES 2
inline decide(p, c, class)
{
    if
    :: p != HEAD(c) -> decision[c * CLASSES + class] /* waits for the broadcast */
    :: p == HEAD(c) -> decision[c * CLASSES + class] = SCHEDULE
    :: p == HEAD(c) -> decision[c * CLASSES + class] = MPI
    fi;
    do
    :: atomic {
           if
           :: able = VOTE_YES
           :: able = VOTE_NO
#ifdef MUTANT_FALLBACK_ALONE
           :: status[class] = MPI; break
#endif
           fi;
           enter(c, DECIDE, decision[c * CLASSES + class], able)
       }
       atomic {
           leave(c, status[class], able);
           if
           :: able == VOTE_NO -> status[class] = MPI
#ifdef MUTANT_VOTE_IGNORED
           :: true
#endif
           :: else
           fi;
           agree(agreed_status[c * CLASSES + class], status[class] + 1);
           able = 0;
           break
       }
    od
}

/* ---- Calls and freeing ------------------------------------------------------------------------------------------- */

/* A failure may happen at any action of the member. It ends the member's call and breaks the communicator there. */
inline possible_failure()
{
    if
    :: true
#ifdef FAILURES
    :: !failed -> broken = 1; failed = 1
#endif
    fi
}

/* No message waits to be taken. */
#define TAKEN (!waiting || empty(WIRE(p, NEXT(c, p), n)))

inline messages(p, c, call)
{
#ifdef FAILURES
    possible_failure();
#endif
    do
    :: atomic {
           !broken && sent < STEPS && sent <= got && TAKEN ->
           assert(nfull(WIRE(p, NEXT(c, p), n)));
           WIRE(p, NEXT(c, p), n) ! MESSAGE(c, call);
           sent++;
           if
           :: waiting = 0
#ifdef FAILURES
           :: waiting = 1
#endif
           fi;
           possible_failure()
       }
    :: atomic {
           !broken && got < STEPS && nempty(WIRE(BEFORE(c, p), p, n)) ->
           WIRE(BEFORE(c, p), p, n) ? message;
           assert(message == MESSAGE(c, call)); /* not of another communicator or call */
           got++;
           message = 0;
           possible_failure()
       }
    :: atomic { broken || (sent == STEPS && got == STEPS && TAKEN) -> sent = 0; got = 0; waiting = 0; break }
    od
}

inline call(p, c, class, call_number)
{
    if
    :: n && !broken && status[class] == UNKNOWN -> decide(p, c, class)
    :: else
    fi;
    if
    :: n && !broken && status[class] == SCHEDULE -> messages(p, c, call_number)
    :: !broken && (!n || status[class] == MPI) ->
       atomic { enter(c, MPI_CALL, taken, taken) }
       atomic { leave(c, taken, taken) }
    :: else -> assert(broken) /* an error, immediately */
    fi
}

#ifdef MUTANT_BROKEN_REUSED
#define AFTERWARDS FREE
#else
#define AFTERWARDS (broken -> BROKEN : FREE)
#endif

inline release(p, c)
{
    atomic {
        if
        :: n && OWNER(p, n) == c + 1 -> OWNER(p, n) = AFTERWARDS
        :: else
        fi;
        context_id[p * COMMS + c] = 0;
        broken = 0;
        status[0] = UNKNOWN;
        status[1] = UNKNOWN;
        n = 0
    }
}

#define STATE byte n, proposal, rejected, able, taken, other, sent, got, message, status[CLASSES]; bool broken, waiting

#ifndef FAILURES
proctype member(byte p, c)
{
    STATE;
    initialize(p, c);
#ifdef MUTANT_FREED_EARLY
    atomic {
        if
        :: n -> OWNER(p, n) = FREE; context_id[p * COMMS + c] = 0
        :: else
        fi
    }
#endif
    if
    :: n -> messages(p, c, 0)
    :: else
    fi;
    release(p, c)
}
#else
proctype member(byte p)
{
    STATE;
    initialize(p, 0);
    call(p, 0, 0, 0);
    call(p, 0, 1, 1);
    call(p, 0, 0, 2);
    release(p, 0);
    initialize(p, 1);
    call(p, 1, 0, 0);
    release(p, 1)
}
#endif

#ifdef FAILURES
/* The launcher can always act after a member has failed: members that then wait are not a deadlock. */
active proctype launcher()
{
end:
    do
    :: failed -> skip
    od
}
#define ALL_HAVE_ENDED (_nr_pr == 2)
#else
#define ALL_HAVE_ENDED (_nr_pr == 1)
#endif

init
{
    byte i;
    atomic {
#ifdef FAILURES
        run member(0);
        run member(1);
        run member(2)
#else
        run member(0, 0);
        run member(1, 0);
        run member(1, 1);
        run member(2, 1)
#ifdef CONTEXT_IDS
        ;
        run member(0, 2);
        run member(1, 2)
#endif
#endif
    }
    ALL_HAVE_ENDED -> /* no message remains if no member has failed; only broken communicators keep their id */
    d_step {
        for (i : 0 .. LINKS * LIMIT - 1) {
            assert(failed || empty(wire[i]))
        }
        for (i : 0 .. 3 * LIMIT - 1) {
            assert(owner[i] == FREE || owner[i] == BROKEN)
        }
    }
}
