/*
 * Creates a schedule, reads the steps of one rank, and proves it.
 *
 *     cc schedule.c $(pkg-config --cflags --libs trivance) -o schedule && ./schedule
 */
#include <stdio.h>

#include <trivance/trivance.h>

static int print_rank(const trv_schedule_t *schedule, int rank)
{
    trv_step_t step = TRV_STEP_INIT;
    for (int stream = 0; stream < trv_schedule_streams(schedule); stream++) {
        printf("rank %d, stream %d\n", rank, stream);
        for (int k = 0; k < trv_schedule_steps(schedule); k++) {
            if (trv_schedule_step(schedule, rank, stream, k, &step) != 0)
                return -1;
            printf("  step %d  dimension %d ", k, step.dimension);
            for (int i = 0; i < step.sends; i++) {
                const trv_message_t *message = &step.send[i];
                printf("  -> %d by port %c%d, %d of %d units", message->peer,
                       trv_port_sign(message->port) > 0 ? '+' : '-', trv_port_dimension(message->port),
                       (int)trv_message_units(schedule, message), (int)trv_schedule_units(schedule));
            }
            printf("\n");
        }
    }
    trv_step_clear(&step);
    return 0;
}

int main(void)
{
    trv_torus_t torus;
    trv_schedule_t *schedule = NULL;
    trv_verdict_t verdict = {TRV_VERDICT};

    if (trv_torus_parse("3x3", &torus) != 0 ||
        trv_schedule_create(&schedule, &torus, "trivance-b", TRV_ALLREDUCE) != 0 || print_rank(schedule, 4) != 0 ||
        trv_verify(schedule, TRV_VERIFY_EXHAUSTIVE, &verdict, NULL, NULL) != 0) {
        fprintf(stderr, "schedule: %s\n", trv_last_error());
        return 1;
    }
    printf("%s on 3x3: %s; %lld messages checked\n", trv_schedule_name(schedule),
           verdict.valid ? "every rank gets every contribution exactly once" : verdict.fault,
           (long long)verdict.messages);
    trv_schedule_destroy(schedule);
    return verdict.valid ? 0 : 1;
}
