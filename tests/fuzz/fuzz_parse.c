/*
 * Fuzzes the parsers of user input: byte counts, times, rates, integers, parameters of the network, lists of these and
 * of algorithms, and lists of blocks.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/nearest.h"
#include "cli/shared/tool.h"
#include "cli/shared/network_options.h"
#include "base/text/parse.h"
#include "cli/shared/select.h"
#include "formats/ranges.h"
#include "fuzz.h"

static void check_numbers(const char *text)
{
    char printed[TRV_BYTES_TEXT_MAX];
    uint64_t bytes, list[8];
    double value;
    int number, count;
    if (trv_parse_bytes(text, &bytes) == 0) {
        fuzz_expect(bytes <= UINT64_C(1) << 50);
        trv_format_bytes(bytes, printed);
    }
    if (trv_parse_bytes_list(text, list, 8, &count) == 0)
        fuzz_expect(count >= 1 && count <= 8);
    if (trv_parse_time_ns(text, &value) == 0)
        fuzz_expect(isfinite(value) && value >= 0);
    if (trv_parse_rate_bps(text, &value) == 0)
        fuzz_expect(isfinite(value) && value > 0);
    if (trv_parse_int(text, "the number", -5, 1000, &number) == 0)
        fuzz_expect(number >= -5 && number <= 1000);
}

/* Parses the text as the value of every parameter; accepted values must yield options that are in range. */
static void check_network(const char *text)
{
    static const trv_torus_t torus = {.dims = 2, .size = {4, 3}, .ranks = 12};
    char printed[CLI_NETWORK_TEXT_MAX];
    for (int i = 0; cli_network_name(i); i++) {
        cli_network_t network;
        cli_network_init(&network);
        if (cli_network_set(&network, cli_network_name(i), text) != 0 || cli_network_finish(&network, &torus) != 0)
            continue;
        const trv_simulate_options_t *options = &network.options;
        fuzz_expect(options->bandwidth_bps > 0 && options->nic_bandwidth_bps > 0 && options->alpha_ns >= 0);
        fuzz_expect(options->packet_bytes >= 256 && options->packet_bytes <= 1 << 20);
        fuzz_expect(options->buffer_bytes == 0 || options->buffer_bytes >= options->packet_bytes);
        fuzz_expect(options->jitter >= 0 && options->jitter <= 1);
        for (int k = 0; k < options->slow_ranks; k++)
            fuzz_expect(options->slow_rank[k].rank < 12 && options->slow_rank[k].factor >= 1);
        for (int k = 0; k < options->slow_links; k++)
            fuzz_expect(options->slow_link[k].port < 4 && options->slow_link[k].factor >= 1);
        cli_network_format(&network, printed);
    }
}

static void check_ranges(const char *text)
{
    trv_numbers_t numbers = {0}, again = {0};
    if (trv_ranges_parse(text, 1000, 4000, &numbers) == 0) {
        fuzz_expect(numbers.count <= 1000);
        for (int64_t i = 0; i < numbers.count; i++)
            fuzz_expect(numbers.number[i] < 1000 && (i == 0 || numbers.number[i] > numbers.number[i - 1]));
        char *printed = trv_ranges_format(numbers.number, numbers.count, 1000);
        fuzz_expect(printed && trv_ranges_parse(printed, 1000, 4000, &again) == 0 && again.count == numbers.count);
        fuzz_expect(numbers.count == 0 ||
                    memcmp(numbers.number, again.number, (size_t)numbers.count * sizeof *numbers.number) == 0);
        free(printed);
    }
    free(numbers.number);
    free(again.number);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const name[] = {"list", "plan", "verify"};
    static cli_selection_t selection;
    trv_collective_t collective;
    char text[256];
    if (size >= sizeof text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    check_numbers(text);
    check_network(text);
    check_ranges(text);
    if (cli_select(text, &selection) == 0)
        fuzz_expect(selection.choices >= 1);
    cli_parse_collective(text, &collective);
    trv_nearest(text, name, 3);
    return 0;
}
