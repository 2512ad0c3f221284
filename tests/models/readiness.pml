/*
 * The executor's progress: two-bit readiness entries, generations, chunk windows (src/execute/run/run.c and plan.h;
 * paper, appendix D). docs/models.md states what is proved, and which line of C each part models.
 *
 * RANKS ranks on a ring, a window of LANES lanes, CHUNKS chunks of STEPS steps. In each step a rank sends its partial
 * sum to both neighbours and reduces the messages received from both. The receives of every stage except a chunk's
 * first may be posted one step ahead; the choice is made anew each time. Messages from one side in one lane keep their
 * order; all others arrive in any order. A send is complete immediately, when MPI has copied it, or only when the
 * message is received: again any choice.
 *
 * The model contains no data except its origin: the content of a message or a buffer is chunk * STEPS + step. Each
 * macro MUTANT_… inserts one error, which spin must find.
 */
#ifndef RANKS
#define RANKS 3
#endif
#ifndef CHUNKS
#define CHUNKS 3
#endif
#ifndef LANES
#define LANES 2
#endif
#define STEPS 3
#define NOTHING 255

#define LANE(r, l) ((r) * LANES + (l))
#define PARITY(s) ((s) % 2)
#define ENTRY(r, l, p) (LANE(r, l) * 2 + (p))
#define SLOT(r, l, p, d) (ENTRY(r, l, p) * 2 + (d)) /* d is the side from which a message arrives: 0 left, 1 right */
#define BIT(d) (1 << (d))
#define BOTH 3
#define NEIGHBOUR(r, d) (((r) + RANKS - 1 + 2 * (d)) % RANKS)

#ifdef MUTANT_SHARED_TAG
#define WIRE(r, l, d) ((r) * 2 + (d))
#else
#define WIRE(r, l, d) (LANE(r, l) * 2 + (d)) /* messages that r receives from side d with the lane's tag */
#endif
#ifdef MUTANT_ONE_BUFFER
#define BUFFER(r, l, p, d) SLOT(r, l, 0, d)
#else
#define BUFFER(r, l, p, d) SLOT(r, l, p, d)
#endif

/* ---- Memory of the ranks: trv_lane_t, trv_ready_t ---------------------------------------------------------------- */

byte chunk[RANKS * LANES], stage[RANKS * LANES], generation[RANKS * LANES], sending[RANKS * LANES];
byte ready_generation[RANKS * LANES * 2], ready_stage[RANKS * LANES * 2], pending[RANKS * LANES * 2];
byte arrived[RANKS * LANES * 2];    /* completed requests, which the next poll sees */
byte content[RANKS * LANES * 2 * 2]; /* of the receive buffers; NOTHING after the reduction */
byte completed[RANKS];              /* chunks, one bit each */

/* ---- The network ------------------------------------------------------------------------------------------------- */

#ifdef MUTANT_SHARED_TAG
#define QUEUE_MAX 4
#else
#define QUEUE_MAX 2
#endif
chan wire[RANKS * LANES * 2] = [QUEUE_MAX] of { byte };   /* messages: 2 * content + (1 if the send waits to be taken) */
chan posted[RANKS * LANES * 2] = [QUEUE_MAX] of { byte }; /* receives: 2 * lane + the stage's parity */

hidden byte message, late, lane, parity; /* of a delivery */

inline deliver(r, l, d)
{
    nempty(wire[WIRE(r, l, d)]) && nempty(posted[WIRE(r, l, d)]) ->
    wire[WIRE(r, l, d)] ? message;
    late = message % 2;
    message = message / 2;
    posted[WIRE(r, l, d)] ? lane;
    parity = lane % 2;
    lane = lane / 2;
    assert(content[BUFFER(r, lane, parity, d)] == NOTHING); /* no buffer is overwritten before it is reduced */
    content[BUFFER(r, lane, parity, d)] = message;
    arrived[ENTRY(r, lane, parity)] = arrived[ENTRY(r, lane, parity)] | BIT(d);
    lane = LANE(NEIGHBOUR(r, d), (message / STEPS) % LANES); /* the sender's lane */
    assert(!late || chunk[lane] * STEPS + stage[lane] == message); /* nor is a buffer that is being sent */
    sending[lane] = sending[lane] & ~(late * BIT(1 - d))
}

#define DELIVER(r, l) :: d_step { deliver(r, l, 0) } :: d_step { deliver(r, l, 1) }

active proctype network()
{
end:
    do
    DELIVER(0, 0)
    DELIVER(1, 0)
#if RANKS > 2
    DELIVER(2, 0)
#endif
#if LANES > 1
    DELIVER(0, 1)
    DELIVER(1, 1)
#if RANKS > 2
    DELIVER(2, 1)
#endif
#endif
    od
}

/* ---- Progress: the functions of run.c, under their names --------------------------------------------------------- */

inline post_receives(number, entry)
{
    ready_generation[entry] = generation[me];
    ready_stage[entry] = number;
#ifdef MUTANT_BITS_NOT_SET
    if
    :: generation[me] == 1 -> pending[entry] = BOTH
    :: else
    fi;
#else
    pending[entry] = BOTH;
#endif
    arrived[entry] = 0;
    posted[WIRE(r, l, 0)] ! 2 * l + PARITY(number);
    posted[WIRE(r, l, 1)] ! 2 * l + PARITY(number)
}

inline post_sends()
{
    /* A message to one side is received by that neighbour from its opposite side. */
    assert(nfull(wire[WIRE(NEIGHBOUR(r, 0), l, 1)]) && nfull(wire[WIRE(NEIGHBOUR(r, 1), l, 0)]));
    if
    :: sending[me] = 0
    :: sending[me] = BOTH
#if LANES == 1
    :: sending[me] = BIT(0)
    :: sending[me] = BIT(1)
#endif
    fi;
    wire[WIRE(NEIGHBOUR(r, 0), l, 1)] ! 2 * (chunk[me] * STEPS + stage[me]) + (sending[me] & 1);
    wire[WIRE(NEIGHBOUR(r, 1), l, 0)] ! 2 * (chunk[me] * STEPS + stage[me]) + (sending[me] >> 1)
}

/* NOW is the stage's entry. IS_VALID: whether the entry belongs to this stage and chunk, that is, was made one step
 * ahead or when the stage was entered. */
#define NOW ENTRY(r, l, PARITY(stage[me]))
#ifdef MUTANT_GENERATION_UNCHECKED
#define IS_VALID (ready_stage[NOW] == stage[me])
#else
#define IS_VALID (ready_stage[NOW] == stage[me] && ready_generation[NOW] == generation[me])
#endif
#ifdef MUTANT_WRONG_PARITY
#define NEXT NOW
#else
#define NEXT ENTRY(r, l, PARITY(stage[me] + 1))
#endif

inline next_receives()
{
    if
    :: stage[me] + 1 < STEPS -> post_receives(stage[me] + 1, NEXT)
    :: true
    fi
}

inline enter_stage()
{
#ifdef MUTANT_POSTED_OUT_OF_ORDER
    next_receives();
#endif
    if
    :: IS_VALID
    :: else -> post_receives(stage[me], NOW)
    fi;
#ifdef MUTANT_SENDS_LAST
    skip
#else
    post_sends();
#endif
#ifndef MUTANT_POSTED_OUT_OF_ORDER
    next_receives()
#endif
}

inline begin_chunk(number)
{
    if
    :: number < CHUNKS -> chunk[me] = number; stage[me] = 0; generation[me]++; enter_stage()
    :: else -> break
    fi
}

/* Whether the poll finds the stage complete. An incomplete poll only clears bits that a later poll would clear
 * anyway, so the model includes only successful polls. */
#ifdef MUTANT_ONE_SIDE
#define COMPLETE ((pending[NOW] & ~arrived[NOW]) != BOTH && !sending[me])
#elif defined MUTANT_SENDS_NOT_AWAITED
#define COMPLETE (!(pending[NOW] & ~arrived[NOW]))
#else
#define COMPLETE (!(pending[NOW] & ~arrived[NOW]) && !sending[me])
#endif

#ifdef MUTANT_NEXT_CHUNK
#define AFTER 1
#else
#define AFTER LANES
#endif

inline work()
{
    assert(content[BUFFER(r, l, PARITY(stage[me]), 0)] == chunk[me] * STEPS + stage[me]);
    assert(content[BUFFER(r, l, PARITY(stage[me]), 1)] == chunk[me] * STEPS + stage[me]);
    content[BUFFER(r, l, PARITY(stage[me]), 0)] = NOTHING;
    content[BUFFER(r, l, PARITY(stage[me]), 1)] = NOTHING
}

inline finish_stage()
{
#ifdef MUTANT_SENDS_LAST
    post_sends();
#endif
    work();
    stage[me]++;
    if
    :: stage[me] < STEPS -> enter_stage()
    :: else ->
       assert(!(completed[r] & BIT(chunk[me]))); /* no chunk is completed twice */
       completed[r] = completed[r] | BIT(chunk[me]);
       begin_chunk(chunk[me] + AFTER)
    fi
}

proctype progress(byte r, l, me)
{
    do
    :: atomic { generation[me] == 0 -> begin_chunk(l) }
    :: atomic {
           generation[me] && COMPLETE ->
           assert(IS_VALID);
           pending[NOW] = 0;
           finish_stage()
       }
    od
}

init
{
    byte r, l;
    atomic {
        for (r : 0 .. RANKS * LANES * 4 - 1) {
            content[r] = NOTHING
        }
        for (r : 0 .. RANKS * LANES * 2 - 1) {
            ready_stage[r] = NOTHING
        }
        for (r : 0 .. RANKS - 1) {
            for (l : 0 .. LANES - 1) {
                run progress(r, l, LANE(r, l))
            }
        }
        r = 0;
        l = 0
    }
    _nr_pr == 2 -> /* all lanes have ended: no chunk is lost, no message remains */
    d_step {
        for (r : 0 .. RANKS - 1) {
            assert(completed[r] == BIT(CHUNKS) - 1)
        }
        for (r : 0 .. RANKS * LANES * 2 - 1) {
            assert(empty(wire[r]) && empty(posted[r]))
        }
    }
}
