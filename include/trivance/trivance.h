/*
 * Trivance: collectives (AllReduce, Broadcast, All-to-All and others) on direct-connect networks. This header and the
 * library trivance contain no MPI and no connections. Other libraries have headers of their own: trivance_mpi_*
 * (trivance/trivance_mpi.h) runs collectives in MPI programs, trivance_net (trivance/net.h) over its own connections,
 * and trivance_formats (trivance/formats.h) has drawings and files.
 *
 *     trivance/common.h      errors, version
 *     trivance/torus.h       tori, ports, routes
 *     trivance/schedule.h    schedules and their steps; explicit schedules
 *     trivance/algorithms.h  the table of algorithms
 *     trivance/verify.h      proof that a schedule is exact and consistent
 *     trivance/cost.h        steps, bytes, congestion, time by the Hockney model
 *     trivance/network.h     slow and cut links; schedules for such networks
 *     trivance/simulate.h    time on a torus, packet by packet
 *     trivance/planner.h     the fastest schedule for a torus, a size and a network
 *     trivance/compare.h     algorithms, families, plans and schedules, compared at many points
 *     trivance/reduce.h      element types, operations, reduction kernels
 *     trivance/parameters.h  the parameters of networks, and their values as text
 *     trivance/execute.h     real data over a transport
 *
 * Each header states whether it is stable (from 1.0 on only a major version breaks it) or experimental (a minor version
 * may, too). Structs that callers hand over and that may grow begin with their size, which the header's initializer
 * sets; plain records (a message, a link, a time) and the results of experimental headers do not.
 */
#ifndef TRIVANCE_TRIVANCE_H
#define TRIVANCE_TRIVANCE_H

#include <trivance/algorithms.h>
#include <trivance/common.h>
#include <trivance/compare.h>
#include <trivance/cost.h>
#include <trivance/execute.h>
#include <trivance/network.h>
#include <trivance/parameters.h>
#include <trivance/planner.h>
#include <trivance/reduce.h>
#include <trivance/schedule.h>
#include <trivance/simulate.h>
#include <trivance/torus.h>
#include <trivance/verify.h>

#endif
