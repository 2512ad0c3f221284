/*
 * Divides a vector into chunks. The division depends only on the schedule, the count and the caller's options, so it is
 * the same on all ranks.
 *
 * Schedules that send whole vectors use small chunks: a chunk stays in the second-level cache between its receives and
 * its reduction, and the messages of one lane overlap with the reductions of another. Schedules that divide the vector
 * into blocks have messages that fit into the cache anyway, and smaller messages cost time. Their number of chunks is
 * the number of lanes if messages remain large, so that some chunks are in flight while others are combined; this is up
 * to 1.5 times as fast if combining takes half as long as sending (research/bench/overlap). With more ports messages
 * must be larger, because one core handles all of them. A vector that is too small for this is one chunk, and so are
 * the blocks of Reduce-Scatter and AllGather, which would have to be packed; chunks of these serve only to limit
 * scratch memory.
 */
#include "execute/run/plan.h"
#include "schedule/collective.h"

enum {
    WHOLE_BYTES = 256 << 10, /* size of one stream's part of a chunk */
    BLOCK_BYTES = 1 << 20,   /* maximum of the same, per block */
    OVERLAP_BYTES = 1 << 20, /* larger vectors are divided … */
    CHUNK_BYTES = 512 << 10, /* … into chunks of at least this size */
    MESSAGE_BYTES = 32 << 10 /* approximate size of a message of a stream, as the mean of all steps */
};

/* The bytes of a chunk of the whole vector, which has `vector` bytes. */
static size_t choose_bytes(const trv_schedule_t *schedule, size_t vector)
{
    const size_t blocks = (size_t)trv_schedule_space(schedule)->ranks;
    const size_t streams = (size_t)trv_schedule_streams(schedule), steps = (size_t)trv_schedule_steps(schedule);
    const size_t chunk_max = streams * BLOCK_BYTES * blocks;
    if (blocks == 1)
        return streams * WHOLE_BYTES;
    if (vector <= OVERLAP_BYTES || trv_schedule_collective(schedule) != TRV_ALLREDUCE || steps == 0)
        return chunk_max;
    /* A rank sends about twice the vector in all, so that the mean message of a chunk has 2 * chunk / (streams * steps)
     * bytes. That shall be MESSAGE_BYTES times the number of streams (with more ports messages must be larger). */
    const size_t chunk_min = streams * steps * streams * MESSAGE_BYTES / 2;
    size_t chunks = (vector + chunk_min / 2) / chunk_min;
    chunks = chunks < vector / CHUNK_BYTES ? chunks : vector / CHUNK_BYTES;
    chunks = chunks < TRV_PLAN_WINDOW ? chunks : TRV_PLAN_WINDOW;
    const size_t chunk = chunks ? (vector + chunks - 1) / chunks : vector;
    return chunk < chunk_max ? chunk : chunk_max;
}

size_t trv_chunk_elements(const trv_schedule_t *schedule, size_t count, size_t element_size, size_t chunk_bytes)
{
    const size_t ranks = (size_t)trv_schedule_torus(schedule)->ranks;
    const size_t unit = element_size * trv_collective_blocks(trv_schedule_collective(schedule), (int)ranks);
    if (count == 0)
        return 0;
    const size_t bytes = chunk_bytes ? chunk_bytes : choose_bytes(schedule, count * unit);
    const size_t target = bytes < unit ? 1 : bytes / unit + (chunk_bytes == 0 && bytes % unit != 0);
    const size_t chunks = (count - 1) / target + 1;
    return (count + chunks - 1) / chunks; /* equal chunks, except that the last one may be smaller */
}
