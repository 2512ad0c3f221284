/*
 * Only in builds with a sanitizer: programs that the test program starts (the sanitizer's symbolizer, a shell) have no
 * sanitizer and could not load the preloaded library.
 */
#include <stdlib.h>

__attribute__((constructor)) static void leave_no_preload(void) { unsetenv("LD_PRELOAD"); }
