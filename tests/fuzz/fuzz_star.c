/*
 * Fuzzes the reader of star chains: "TORUS CHAIN" is accepted, or refused with an error sentence; an accepted chain is
 * the same after it is printed and read again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "search/stars/stars.h"

#define TEXT_MAX 4096

static void check(const trv_torus_t *torus, const char *text, bool covering)
{
    static trv_star_chain_t chain, again;
    static char printed[4 * TEXT_MAX];
    if (trv_star_parse(&chain, torus, text, covering)) {
        fuzz_expect(strlen(trv_last_error()) > 10);
        return;
    }
    fuzz_expect(trv_star_format(&chain, printed, sizeof printed) < sizeof printed);
    fuzz_expect(trv_star_parse(&again, torus, printed, covering) == 0 && memcmp(&chain, &again, sizeof chain) == 0);
    fuzz_expect(chain.direct || covering);
    int64_t sums = 1;
    for (int k = 0; k < chain.steps; k++) {
        sums *= chain.step[k].vectors + 1;
        fuzz_expect(trv_star_hops(&chain, k) > 0 && trv_star_load(&chain, k) > 0);
    }
    fuzz_expect(chain.direct ? sums == torus->ranks : sums > torus->ranks);
    fuzz_expect(!chain.direct || trv_star_is_subgroup(&chain, (1u << chain.steps) - 1));
    trv_star_has_subgroup_tails(&chain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[TEXT_MAX];
    trv_torus_t torus;
    if (size >= sizeof text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    char *space = strchr(text, ' ');
    if (!space)
        return 0;
    *space = '\0';
    if (trv_torus_parse(text, &torus) || torus.ranks > 1 << 16)
        return 0;
    check(&torus, space + 1, false);
    check(&torus, space + 1, true);
    return 0;
}
