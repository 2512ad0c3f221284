/*
 * The capacity for a copy of the last error that an object keeps.
 */
#ifndef TRIVANCE_BASE_REASON_H
#define TRIVANCE_BASE_REASON_H

enum { TRV_REASON_MAX = 768 };

#endif
