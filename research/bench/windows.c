/*
 * Prints the windows of Trivance L as a Markdown table, from its schedules: their growth, and their cost compared with
 * the paper.
 *
 *     build/research/windows [--all] [FIRST LAST]      rings of FIRST … LAST ranks, 2 243 unless given
 *
 * Lists the rings whose plan is more expensive than the paper's count (more than one vector in a message, or a higher
 * congestion sum); with --all every ring. docs/windows.md contains this program's output. Columns: growth right:left
 * per step, with (2) after a message of two vectors; extra vectors; congestion sum
 * (messages on the busiest link, summed over steps); cost (vectors on the busiest link, summed, which is what time
 * goes by); the paper's congestion sum; cost / paper.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/trivance.h>

static int fail(void)
{
    fprintf(stderr, "windows: %s\n", trv_last_error());
    return 1;
}

/* Hops of a message to `peer`, from rank 0, in the direction of its port. */
static int hops(const trv_message_t *message, int size)
{
    return trv_port_sign(message->port) > 0 ? message->peer : size - message->peer;
}

/* Appends the growth of a step, such as "3:3(2)". The message in direction - carries the right growth of its receiver,
 * that in direction + the left growth. */
static int add_growth(const trv_step_t *step, int size, char *text, size_t text_size)
{
    int growth[2] = {0, 0}, vectors[2] = {1, 1}, extras = 0;
    for (int m = 0; m < step->sends; m++) {
        const int left = trv_port_sign(step->send[m].port) > 0 && size > 2;
        growth[left] = hops(&step->send[m], size);
        vectors[left] = step->send[m].parts;
        extras += step->send[m].parts - 1;
    }
    snprintf(text + strlen(text), text_size - strlen(text), " %d%s:%d%s", growth[0], vectors[0] > 1 ? "(2)" : "",
             growth[1], vectors[1] > 1 ? "(2)" : "");
    return extras;
}

static int print_ring(int size, int all)
{
    trv_torus_t torus;
    trv_schedule_t *schedule;
    trv_cost_t cost;
    trv_step_t step = TRV_STEP_INIT;
    char growths[512] = "";
    int congestion = 0, extras = 0;
    if (trv_torus_init(&torus, 1, &size) || trv_schedule_create(&schedule, &torus, "trivance-l", TRV_ALLREDUCE))
        return fail();
    if (trv_cost_measure(schedule, &cost))
        return fail();
    for (int t = 0; t < cost.steps; t++) {
        if (trv_schedule_step(schedule, 0, 0, t, &step))
            return fail();
        congestion += cost.step[t].messages;
        extras += add_growth(&step, size, growths, sizeof growths);
    }
    if (all || extras > 0 || congestion > size / 2)
        printf("| %d |%s | %d | %d | %.0f | %d | %.3f |\n", size, growths, extras, congestion, cost.theta, size / 2,
               cost.theta / (size / 2));
    trv_step_clear(&step);
    trv_cost_clear(&cost);
    trv_schedule_destroy(schedule);
    return 0;
}

int main(int argc, char **argv)
{
    const int all = argc > 1 && strcmp(argv[1], "--all") == 0;
    int first = 2, last = 243;
    if (argc - all == 3) {
        first = atoi(argv[1 + all]);
        last = atoi(argv[2 + all]);
    }
    if (argc - all == 2 || argc - all > 3 || first < 2 || last < first || last > 1 << 30) {
        fprintf(stderr,
                "windows: usage: windows [--all] [FIRST LAST], 2 <= FIRST <= LAST, for example windows 2 243\n");
        return 2;
    }
    printf("| ranks | growth right:left per step | extra vectors | congestion sum | cost | paper | cost / paper |\n");
    printf("|------:|----------------------------|--------------:|---------------:|-----:|------:|-------------:|\n");
    for (int size = first; size <= last; size++)
        if (print_ring(size, all))
            return 1;
    return 0;
}
