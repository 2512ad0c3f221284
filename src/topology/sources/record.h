/*
 * The record of a rank: everything that the rank alone knows of its location in the machine. The ranks send their
 * records to rank 0, which interprets them (sources.h). A record is plain data of one size; all ranks of a job have the
 * same version of Trivance, so they have the same layout.
 */
#ifndef TRIVANCE_TOPOLOGY_SOURCES_RECORD_H
#define TRIVANCE_TOPOLOGY_SOURCES_RECORD_H

#include <stdint.h>

#include <trivance/torus.h>

enum { TRV_RECORD_HOST_MAX = 64, TRV_RECORD_ADDRESS_MAX = 160, TRV_RECORD_PATTERN_MAX = 64, TRV_RECORD_TYPE_MAX = 32 };

/* Variables of Slurm; "" if they are not set. A value that does not fit ends with "…". */
typedef struct trv_slurm_record {
    char address[TRV_RECORD_ADDRESS_MAX]; /* SLURM_TOPOLOGY_ADDR */
    char pattern[TRV_RECORD_PATTERN_MAX]; /* SLURM_TOPOLOGY_ADDR_PATTERN */
} trv_slurm_record_t;

/* Results of the functions of Fujitsu MPI. */
typedef struct trv_fujitsu_record {
    int32_t present; /* the MPI library has the functions */
    int32_t code;    /* 0, or the error code of the first function that failed */
    int32_t dims;    /* of the logical coordinates, as are shape and logical */
    int32_t shape[3], logical[3];
    int32_t has_tofu; /* the coordinates on the Tofu network are known: X, Y, Z, A, B, C */
    int32_t tofu[6];
} trv_fujitsu_record_t;

/* Attributes of PMIx. */
typedef struct trv_pmix_record {
    int32_t present;                /* PMIX_FABRIC_COORDINATES is set */
    char type[TRV_RECORD_TYPE_MAX]; /* of its value, if that is none that has coordinates; else "" */
    int32_t locations;              /* number of different coordinates of the node's devices */
    int32_t dims;                   /* of the coordinates of the first device */
    uint32_t at[TRV_DIMS_MAX];
    int32_t fabric_dims; /* PMIX_FABRIC_DIMS; 0: not set */
    int32_t shape_dims;  /* entries of PMIX_FABRIC_SHAPE; 0: not set */
    uint32_t shape[TRV_DIMS_MAX];
} trv_pmix_record_t;

typedef struct trv_rank_record {
    char host[TRV_RECORD_HOST_MAX]; /* the name of the rank's host */
    trv_slurm_record_t slurm;
    trv_fujitsu_record_t fujitsu;
    trv_pmix_record_t pmix;
} trv_rank_record_t;

#endif
