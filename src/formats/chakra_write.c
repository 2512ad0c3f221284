/*
 * Writes the operations of a rank as a Chakra execution trace: messages of Protocol Buffers, each preceded by its
 * length. The first is a GlobalMetadata, every other one a Node: a calculation, a send or a receive, with the ids of
 * the nodes that it requires. Nodes are numbered from 0 in the order of the file.
 *
 * The wire format (protobuf.dev/programming-guides/encoding): a field is a key, field number * 8 + type, followed by a
 * varint (type 0), or by a length and that many bytes (type 2).
 */
#include "formats/chakra.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "formats/names.h"
#include "schedule/collective.h"

#define NS_PER_US      1000
#define SCHEMA_VERSION "0.0.4"

/* ---- Protocol Buffers -------------------------------------------------------------------------------------------- */

typedef struct buffer {
    uint8_t *data;
    int64_t length, capacity;
    bool failed; /* out of memory */
} buffer_t;

static void put_byte(buffer_t *buffer, uint8_t byte)
{
    buffer->failed = buffer->failed || trv_array_reserve(&buffer->data, &buffer->capacity, buffer->length, 1, 1) != 0;
    if (!buffer->failed)
        buffer->data[buffer->length++] = byte;
}

static void put_varint(buffer_t *buffer, uint64_t value)
{
    for (; value > 0x7f; value >>= 7)
        put_byte(buffer, (uint8_t)(value | 0x80));
    put_byte(buffer, (uint8_t)value);
}

static void put_integer(buffer_t *buffer, int field, uint64_t value)
{
    put_varint(buffer, (uint64_t)field << 3);
    put_varint(buffer, value);
}

static void put_bytes(buffer_t *buffer, int field, const void *data, size_t length)
{
    put_varint(buffer, (uint64_t)field << 3 | 2);
    put_varint(buffer, length);
    for (size_t i = 0; i < length; i++)
        put_byte(buffer, ((const uint8_t *)data)[i]);
}

static void put_string(buffer_t *buffer, int field, const char *text) { put_bytes(buffer, field, text, strlen(text)); }

/* Adds a message within a message, and empties it for the next. */
static void put_message(buffer_t *buffer, int field, buffer_t *message)
{
    put_bytes(buffer, field, message->data, (size_t)message->length);
    buffer->failed = buffer->failed || message->failed;
    message->length = 0;
}

/* ---- The schema -------------------------------------------------------------------------------------------------- */

enum { METADATA_VERSION = 1, METADATA_ATTRIBUTE = 2 };
enum { NODE_ID = 1, NODE_NAME = 2, NODE_TYPE = 3, NODE_DATA_DEPS = 5, NODE_DURATION_US = 7, NODE_ATTRIBUTE = 10 };
enum { ATTRIBUTE_NAME = 1, ATTRIBUTE_INT32 = 7, ATTRIBUTE_INT64 = 9, ATTRIBUTE_BOOL = 27, ATTRIBUTE_STRING = 29 };
enum { COMP_NODE = 4, COMM_SEND_NODE = 5, COMM_RECV_NODE = 6 };

/* CollectiveCommType of a trv_collective_t */
static int collective_type(trv_collective_t collective)
{
    switch (collective) {
    case TRV_ALLREDUCE: return 0;
    case TRV_REDUCE: return 1;
    case TRV_ALLGATHER: return 2;
    case TRV_GATHER: return 3;
    case TRV_SCATTER: return 4;
    case TRV_BROADCAST: return 5;
    case TRV_ALLTOALL: return 6;
    default: return 7; /* reduce-scatter */
    }
}

typedef struct writer {
    const trv_schedule_t *schedule;
    int rank;
    buffer_t node, part;
    bool failed;
    int64_t nodes; /* written */
    FILE *out;
} writer_t;

static void put_attribute(writer_t *writer, const char *name, int field, uint64_t value)
{
    put_string(&writer->part, ATTRIBUTE_NAME, name);
    put_integer(&writer->part, field, value);
    put_message(&writer->node, NODE_ATTRIBUTE, &writer->part);
}

/* Writes writer->node, preceded by its length, and empties it. */
static void write_message(writer_t *writer)
{
    put_varint(&writer->part, (uint64_t)writer->node.length);
    writer->failed = writer->failed || writer->node.failed || writer->part.failed;
    if (!writer->failed) {
        fwrite(writer->part.data, 1, (size_t)writer->part.length, writer->out);
        fwrite(writer->node.data, 1, (size_t)writer->node.length, writer->out);
    }
    writer->node.length = writer->part.length = 0;
}

static void write_metadata(writer_t *writer, const trv_operations_t *operations)
{
    char text[256], name[64];
    snprintf(text, sizeof text, "%s, %s of %llu bytes", trv_plain_name(writer->schedule, name),
             trv_schedule_shape(writer->schedule)->name, (unsigned long long)operations->vector_bytes);
    put_string(&writer->node, METADATA_VERSION, SCHEMA_VERSION);
    put_string(&writer->part, ATTRIBUTE_NAME, "schedule");
    put_string(&writer->part, ATTRIBUTE_STRING, text);
    put_message(&writer->node, METADATA_ATTRIBUTE, &writer->part);
    write_message(writer);
}

/* Begins a node. */
static void put_node(writer_t *writer, uint32_t id, const char *name, int type)
{
    put_integer(&writer->node, NODE_ID, id);
    put_string(&writer->node, NODE_NAME, name);
    put_integer(&writer->node, NODE_TYPE, (uint64_t)type);
    writer->nodes++;
}

static void put_communication(writer_t *writer, const trv_operation_t *operation)
{
    const trv_torus_t *torus = trv_schedule_torus(writer->schedule);
    const bool send = operation->id.kind == TRV_OPERATION_SEND;
    const int own = trv_chakra_number(torus, writer->rank), peer = trv_chakra_number(torus, operation->message->peer);
    put_attribute(writer, "comm_type", ATTRIBUTE_INT64,
                  (uint64_t)collective_type(trv_schedule_collective(writer->schedule)));
    put_attribute(writer, "comm_size", ATTRIBUTE_INT64, operation->amount);
    put_attribute(writer, "comm_src", ATTRIBUTE_INT32, (uint64_t)(send ? own : peer));
    put_attribute(writer, "comm_dst", ATTRIBUTE_INT32, (uint64_t)(send ? peer : own));
    put_attribute(writer, "comm_tag", ATTRIBUTE_INT32, operation->tag);
    put_attribute(writer, "is_cpu_op", ATTRIBUTE_BOOL,
                  false); /* older versions of ASTRA-sim skip messages of the CPU */
}

static void write_node(void *context, const trv_operation_t *operation)
{
    static const struct {
        const char *word;
        int type;
    } kind[] = {{"calculate", COMP_NODE}, {"send", COMM_SEND_NODE}, {"receive", COMM_RECV_NODE}};
    writer_t *writer = context;
    const trv_operation_id_t id = operation->id;
    char name[96];
    snprintf(name, sizeof name, "%s %d, stream %d, step %d", kind[id.kind].word, id.index, operation->stream, id.step);
    put_node(writer, id.number, name, kind[id.kind].type);
    const int required = trv_operation_group_size(operation->required);
    for (int i = 0; i < required; i++)
        put_varint(&writer->part, trv_operation_group_member(operation->required, i).number);
    if (required > 0)
        put_message(&writer->node, NODE_DATA_DEPS, &writer->part);
    if (id.kind == TRV_OPERATION_CALCULATE)
        put_integer(&writer->node, NODE_DURATION_US, operation->amount / NS_PER_US);
    else
        put_communication(writer, operation);
    write_message(writer);
}

/* ---- Traces ------------------------------------------------------------------------------------------------------ */

int trv_chakra_number(const trv_torus_t *torus, int rank)
{
    int coordinate[TRV_DIMS_MAX], number = 0;
    trv_torus_coordinates(torus, rank, coordinate);
    for (int d = torus->dims - 1; d >= 0; d--)
        number = number * torus->size[d] + coordinate[d];
    return number;
}

int trv_chakra_create(trv_operations_t *operations, const trv_schedule_t *schedule, uint64_t vector_bytes,
                      double alpha_ns, trv_span_t part)
{
    const int ranks = trv_schedule_torus(schedule)->ranks;
    *operations = (trv_operations_t){.step = TRV_STEP_INIT};
    if (ranks > TRV_CHAKRA_RANKS_MAX)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "%d ranks are too many for Chakra, which needs a file for each: at most %d", ranks,
                        TRV_CHAKRA_RANKS_MAX);
    int rc = trv_operations_create(operations, schedule, vector_bytes, alpha_ns, part);
    if (rc)
        return rc;
    if (operations->alpha_ns % NS_PER_US)
        return trv_fail(
            TRV_ERR_ARGUMENT,
            "alpha is %g us, but times in Chakra are whole microseconds: expected, for example, 2us, or 0us "
            "for no calculations",
            (double)operations->alpha_ns / NS_PER_US);
    if (operations->tags > INT32_MAX)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "the schedule has too many steps for Chakra, in which tags are below 2^31");
    return TRV_OK;
}

int trv_chakra_write(trv_operations_t *operations, int rank, FILE *out)
{
    writer_t writer = {.schedule = operations->schedule, .rank = rank, .out = out};
    write_metadata(&writer, operations);
    int rc = trv_operations_rank(operations, rank, write_node, &writer);
    if (!rc && writer.nodes == 0) { /* ASTRA-sim waits forever for a rank without nodes */
        put_node(&writer, 0, "no operation", COMP_NODE);
        write_message(&writer);
    }
    if (!rc && writer.failed)
        rc = trv_fail_memory();
    free(writer.node.data);
    free(writer.part.data);
    return rc;
}
