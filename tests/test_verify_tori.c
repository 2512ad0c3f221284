/*
 * Every algorithm on tori of all shapes: small and medium ones by counting every contribution, larger ones by random
 * 64-bit values. The quick tier takes those of up to 81 ranks, and 3x5x8 by random values; the exhaustive tier takes
 * the others.
 */
#include "verify_all.h"

static void test_tori_exhaustively(void **state)
{
    static const char *const quick[] = {"1",
                                        "1x1x1",
                                        "2x2",
                                        "2x3",
                                        "3x3",
                                        "4x4",
                                        "5x7",
                                        "8x8",
                                        "9x9",
                                        "4x8",
                                        "3x3x3",
                                        "4x4x4",
                                        "2x3x5",
                                        "3x9x2",
                                        "5x1x4",
                                        "3x3x3x3",
                                        "1x2x2x1x2x2x1x2"};
    static const char *const more[] = {"8x16", "16x16", "8x8x8", "2x2x2x2x2x2x2x2"};
    (void)state;
    for (size_t i = 0; !exhaustive() && i < sizeof quick / sizeof quick[0]; i++)
        verify_text(quick[i], TRV_VERIFY_EXHAUSTIVE, TRV_ALLREDUCE, TRV_ALLGATHER);
    for (size_t i = 0; exhaustive() && i < sizeof more / sizeof more[0]; i++)
        verify_text(more[i], TRV_VERIFY_EXHAUSTIVE, TRV_ALLREDUCE, TRV_ALLGATHER);
}

static void test_larger_tori(void **state)
{
    static const char *const tori[] = {"27x27", "32x32", "6x10x15"};
    (void)state;
    if (!exhaustive())
        verify_text("3x5x8", TRV_VERIFY_RANDOM, TRV_ALLREDUCE, TRV_ALLGATHER);
    for (size_t i = 0; exhaustive() && i < sizeof tori / sizeof tori[0]; i++)
        verify_text(tori[i], TRV_VERIFY_RANDOM, TRV_ALLREDUCE, TRV_ALLGATHER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tori_exhaustively),
        cmocka_unit_test(test_larger_tori),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
