/*
 * Predicts a job with the packet simulator. Links are those of the testbed (one queue, tail delivery). The costs of a
 * step, of a message and of the common start are those measured for exchanges between neighbours, on this machine and
 * with this MPI library.
 */
#include <math.h>
#include <string.h>

#include <trivance/schedule.h>
#include <trivance/simulate.h>

#include "testbed/command/bench.h"

#define PACKET_BYTES 8948u /* payload of a packet of 9000 bytes … */
#define FLIT_BYTES   256.0 /* … which the simulator counts as 35 flits, plus one for every hop */

static trv_simulate_options_t options_of(const cli_bench_job_t *job)
{
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    double flit_ns = FLIT_BYTES * 8e9 / job->network.bandwidth_bps;
    options.delivery = TRV_DELIVERY_TAIL;
    options.bandwidth_bps = job->network.bandwidth_bps * 35 * FLIT_BYTES / 9000;
    options.nic_bandwidth_bps = 1e15; /* a node's memory is not a bottleneck */
    options.alpha_ns = job->alpha_ns;
    options.message_overhead_ns = job->message_ns;
    options.link_latency_ns = fmax(job->network.latency_ns - flit_ns, 0);
    options.host_latency_ns = options.router_in_ns = options.router_out_ns = 0;
    options.packet_bytes = PACKET_BYTES;
    options.slow_links = job->slow_links;
    options.slow_link = job->links.directed;
    return options;
}

static int predict(const cli_bench_job_t *job, const char *algorithm, uint64_t bytes, double *time_ns)
{
    const trv_simulate_options_t options = options_of(job);
    trv_schedule_t *schedule = NULL;
    trv_simulator_t *simulator = NULL;
    trv_simulation_t result;
    const trv_network_t network = cli_bench_network(job);
    int code = trv_schedule_create_on(&schedule, &network, algorithm, job->collective, 0);
    if (code == TRV_OK)
        code = trv_simulator_create(&simulator, schedule);
    if (code == TRV_OK)
        code = trv_simulate(simulator, &options, bytes, &result);
    if (code == TRV_OK) {
        *time_ns = job->start_ns + result.time_ns;
        trv_simulation_clear(&result);
    }
    trv_simulator_destroy(simulator);
    trv_schedule_destroy(schedule);
    return code;
}

int cli_bench_predict(cli_bench_job_t *job)
{
    for (int s = 0; s < job->sizes; s++)
        for (int r = 0; r < job->series_count; r++) {
            cli_bench_cell_t *cell = &job->cell[s][r];
            cell->predicted_ns = NAN;
            if (!cell->measured || !cell->served_by[0] || strcmp(cell->served_by, "mpi") == 0)
                continue;
            int code = predict(job, cell->served_by, job->bytes[s], &cell->predicted_ns);
            if (code < 0)
                return code;
        }
    return TRV_OK;
}
