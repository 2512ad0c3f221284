/*
 * Only in builds with a sanitizer: what the program starts (the sanitizer's symbolizer, a shell) has no sanitizer, and
 * could not load the library that is preloaded here.
 */
#include <stdlib.h>

__attribute__((constructor)) static void leave_no_preload(void) { unsetenv("LD_PRELOAD"); }
