/*
 * Fuzzes the torus parser: any text is a torus or is refused with an error sentence, and an accepted torus is printed
 * as what was parsed.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/torus.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[256], printed[TRV_TORUS_TEXT_MAX];
    trv_torus_t torus, again;
    if (size >= sizeof text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (trv_torus_parse(text, &torus)) {
        fuzz_expect(strlen(trv_last_error()) > 10);
        return 0;
    }
    int64_t ranks = 1;
    for (int d = 0; d < torus.dims; d++)
        ranks *= torus.size[d];
    fuzz_expect(torus.dims >= 1 && torus.dims <= TRV_DIMS_MAX && ranks == torus.ranks && ranks <= 1 << 30);
    trv_torus_format(&torus, printed, sizeof printed);
    fuzz_expect(trv_torus_parse(printed, &again) == 0 && memcmp(&torus, &again, sizeof torus) == 0);
    int at[TRV_DIMS_MAX], last = torus.ranks - 1;
    trv_torus_coordinates(&torus, last, at);
    fuzz_expect(trv_torus_rank(&torus, at) == last);
    return 0;
}
