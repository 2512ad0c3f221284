/*
 * The division of a vector into chunks. It depends only on the schedule, the count and the caller's options, so it is
 * equal on all ranks.
 *
 * Schedules that send whole vectors cut small: a chunk stays in the second-level cache between its receives and its
 * reduction, and one lane's messages hide another one's reductions. Those that cut the vector into blocks have their
 * messages in the cache anyway, and smaller ones cost: their chunks are as many as lanes, if messages stay large, so
 * that some travel while others are added; up to 1.5 times as fast where adding takes half as long as sending
 * (bench/overlap). With more ports messages must be larger, because one core serves them all. A vector too small for
 * that is in one chunk, as are the blocks of Reduce-Scatter and AllGather, which would have to be packed; there chunks
 * are for scratch to be bounded.
 */
#include "execute/run/plan.h"
#include "schedule/collective.h"

enum {
    WHOLE_BYTES = 256 << 10, /* of one stream's part of a chunk */
    BLOCK_BYTES = 1 << 20,   /* the same, times the number of blocks: the most */
    OVERLAP_BYTES = 1 << 20, /* vectors above that are cut */
    CHUNK_BYTES = 512 << 10, /* into chunks of at least that */
    MESSAGE_BYTES = 32 << 10 /* and messages of about that per stream, the mean of all steps */
};

/* Bytes of a chunk of the whole vector, which has so many. */
static size_t choose(const trv_schedule_t *schedule, size_t vector)
{
    const size_t blocks = (size_t)trv_schedule_space(schedule)->ranks;
    const size_t streams = (size_t)trv_schedule_streams(schedule), steps = (size_t)trv_schedule_steps(schedule);
    const size_t most = streams * BLOCK_BYTES * blocks;
    if (blocks == 1)
        return streams * WHOLE_BYTES;
    if (vector <= OVERLAP_BYTES || trv_schedule_collective(schedule) != TRV_ALLREDUCE)
        return most;
    /* Every part of the vector is sent twice, cut into streams and steps. */
    const size_t least = streams * steps * streams * MESSAGE_BYTES / 2;
    size_t chunks = (vector + least / 2) / least;
    chunks = chunks < vector / CHUNK_BYTES ? chunks : vector / CHUNK_BYTES;
    chunks = chunks < TRV_PLAN_WINDOW ? chunks : TRV_PLAN_WINDOW;
    const size_t chunk = chunks ? (vector + chunks - 1) / chunks : vector;
    return chunk < most ? chunk : most;
}

size_t trv_chunk_elements(const trv_schedule_t *schedule, size_t count, size_t element_size, size_t chunk_bytes)
{
    const size_t ranks = (size_t)trv_schedule_torus(schedule)->ranks;
    const size_t unit = element_size * trv_collective_blocks(trv_schedule_collective(schedule), (int)ranks);
    if (count == 0)
        return 0;
    const size_t bytes = chunk_bytes ? chunk_bytes : choose(schedule, count * unit);
    const size_t wanted = bytes < unit ? 1 : bytes / unit + (chunk_bytes == 0 && bytes % unit != 0);
    const size_t chunks = (count - 1) / wanted + 1;
    return (count + chunks - 1) / chunks; /* equal ones, the last one smaller if it must be */
}
