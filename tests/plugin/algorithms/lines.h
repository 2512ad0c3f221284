/*
 * The table of algorithms of the tool's copy that the test builds: the project's table and one additional line.
 */
#include "../../../src/algorithms/lines.h"
ALGORITHM(toy)
