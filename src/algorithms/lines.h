/*
 * The table of algorithms: one line for each, in the order in which commands, documents and tests list them. The
 * description of an algorithm is in its own file. This file is included more than once (registry.h declares the
 * entries, registry.c lists them in the table), so it has no include guard.
 */
ALGORITHM(trivance_l)
ALGORITHM(trivance_l_grouped)
ALGORITHM(trivance_l_gathered)
ALGORITHM(trivance_l_overlap)
ALGORITHM(trivance_b)
ALGORITHM(ring)
ALGORITHM(bucket)
ALGORITHM(recdoub_l)
ALGORITHM(recdoub_b)
ALGORITHM(recdoub_b_split)
ALGORITHM(swing_l)
ALGORITHM(swing_b)
ALGORITHM(bruck_l)
ALGORITHM(bruck_b)
ALGORITHM(hybrid)
ALGORITHM(line_l)
ALGORITHM(line_b)
ALGORITHM(line_pipelined)
ALGORITHM(star)
