/*
 * The table of the tool's copy that the test builds: what there is, and one line more.
 */
#include "../../../src/algorithms/lines.h"
ALGORITHM(toy)
