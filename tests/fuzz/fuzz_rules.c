/*
 * Fuzzes both forms of rules: any text is refused with an error sentence, or yields rules that stay within their bounds
 * and can be matched.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/torus.h>

#include "collective/algorithm_names.h"
#include "fuzz.h"
#include "settings/rules.h"

static void keep(void *context, const char *sentence)
{
    (void)context;
    fuzz_expect(strlen(sentence) > 10);
}

static void check(trv_rules_t *rules, int code)
{
    static const uint64_t bytes[] = {0, 1, 65536, UINT64_MAX};
    const int size[] = {3, 3};
    trv_torus_t torus;
    if (code < 0) {
        fuzz_expect(strlen(trv_last_error()) > 10 && rules->count == 0);
        return;
    }
    trv_torus_init(&torus, 2, size);
    for (int i = 0; i < rules->count; i++) {
        const trv_rule_t *rule = &rules->rule[i];
        fuzz_expect(rule->ranks_min <= rule->ranks_max && rule->bytes_min <= rule->bytes_max && rule->algorithm[0]);
    }
    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++) {
        const trv_rule_t *rule = trv_rules_match(rules, TRV_ALLREDUCE, &torus, torus.ranks, bytes[i]);
        fuzz_expect(!rule || (rule->bytes_min <= bytes[i] && bytes[i] <= rule->bytes_max));
    }
    trv_rules_clear(rules);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trv_rules_t rules;
    check(&rules, trv_rules_parse_file(&rules, "fuzz", (const char *)data, size,
                                       &(trv_rules_reader_t){trv_algorithm_check, keep, NULL}));
    char *line = malloc(size + 1);
    if (!line)
        return 0;
    memcpy(line, data, size);
    line[size] = '\0';
    check(&rules, trv_rules_parse_line(&rules, line, trv_algorithm_check));
    free(line);
    return 0;
}
