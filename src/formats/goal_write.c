/*
 * Writes a schedule as GOAL text: its operations (formats/operations.h), a statement for each, and a statement for each
 * operation that one requires:
 *
 *     a0_1: calc 1500                         // stream 0, step 1
 *     a0_1 requires s0_0_0                    // … and all other messages of step 0
 *     s0_1_0: send 1024b to 3 tag 4
 *     s0_1_0 requires a0_1
 *
 * Every stream has a different cpu, because streams do not wait for each other. A message's nic is the number of its
 * port, or of its port and interface (simulate/goal_run.h).
 */
#include "formats/goal_file.h"

#include <inttypes.h>

#include "base/error.h"
#include "formats/names.h"
#include "formats/operations.h"
#include "schedule/collective.h"

#define FIELD_MAX 255 /* LogGOPSim stores cpu and nic in one byte each */
#define LABEL_MAX 64

typedef struct writer {
    int ports; /* of a rank */
    FILE *out;
} writer_t;

static const char *label(int stream, trv_operation_id_t id, char text[LABEL_MAX])
{
    static const char letter[] = {'a', 's', 'r'}; /* as in trv_operation_kind_t */
    if (id.kind == TRV_OPERATION_CALCULATE)
        snprintf(text, LABEL_MAX, "a%d_%d", stream, id.step);
    else
        snprintf(text, LABEL_MAX, "%c%d_%d_%d", letter[id.kind], stream, id.step, id.index);
    return text;
}

static void put_operation(void *context, const trv_operation_t *operation)
{
    const writer_t *writer = context;
    const trv_message_t *message = operation->message;
    char name[LABEL_MAX], other[LABEL_MAX];
    fprintf(writer->out, "%s: ", label(operation->stream, operation->id, name));
    if (operation->id.kind == TRV_OPERATION_CALCULATE)
        fprintf(writer->out, "calc %" PRIu64, operation->amount);
    else
        fprintf(writer->out, "%s %" PRIu64 "b %s %d tag %" PRIu64,
                operation->id.kind == TRV_OPERATION_SEND ? "send" : "recv", operation->amount,
                operation->id.kind == TRV_OPERATION_SEND ? "to" : "from", message->peer, operation->tag);
    if (operation->stream > 0)
        fprintf(writer->out, " cpu %d", operation->stream & FIELD_MAX);
    if (message) {
        const int nic = message->port + writer->ports * (1 + message->nic);
        fprintf(writer->out, " nic %d", nic <= FIELD_MAX ? nic : message->port);
    }
    fputc('\n', writer->out);
    for (int i = 0; i < trv_operation_group_size(operation->required); i++)
        fprintf(writer->out, "%s requires %s\n", name,
                label(operation->stream, trv_operation_group_member(operation->required, i), other));
}

static int write_program(trv_operations_t *operations, trv_span_t part, FILE *out)
{
    const trv_schedule_t *schedule = operations->schedule;
    const trv_torus_t *torus = trv_schedule_torus(schedule);
    const trv_network_t network = {TRV_NETWORK, .torus = *torus};
    const uint64_t bytes = operations->vector_bytes;
    writer_t writer = {trv_port_count(torus), out};
    char text[TRV_SHAPE_TEXT_MAX], name[64];
    int rc = TRV_OK;
    fprintf(out, "// %s, %s of %" PRIu64 " byte%s on %s; alpha %" PRIu64 " ns\n", trv_plain_name(schedule, name),
            trv_schedule_shape(schedule)->name, bytes, bytes == 1 ? "" : "s", trv_shape_words(&network, text),
            operations->alpha_ns);
    fprintf(out, "num_ranks %d\n", torus->ranks);
    for (int rank = 0; rank < torus->ranks && !rc; rank++) {
        rc = trv_span_report(part, (double)rank / torus->ranks);
        if (rc)
            break;
        fprintf(out, "\nrank %d {\n", rank);
        rc = trv_operations_rank(operations, rank, put_operation, &writer);
        fputs("}\n", out);
    }
    return rc;
}

int trv_goal_file_write(const trv_schedule_t *schedule, uint64_t vector_bytes, double alpha_ns, trv_span_t part,
                        FILE *out)
{
    trv_operations_t operations;
    int rc = trv_operations_create(&operations, schedule, vector_bytes, alpha_ns, trv_span(part, 0, 0.5));
    if (!rc && operations.tags > UINT32_MAX)
        rc = trv_fail(TRV_ERR_UNSUPPORTED, "the schedule has too many steps for GOAL, in which tags are below 2^32");
    if (!rc)
        rc = write_program(&operations, trv_span(part, 0.5, 0.5), out);
    trv_operations_clear(&operations);
    return rc;
}
