/*
 * Fuzzes the reader of schedule files and, with accepted files, all consumers of schedules: no file may crash them, and
 * an accepted schedule is the same after a write and a read.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/trivance.h>

#include "draw/picture.h"
#include "formats/schedule_file.h"
#include "draw/svg.h"
#include "fuzz.h"

static char *write_text(const trv_schedule_t *schedule)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    int rc = trv_schedule_file_write(schedule, 1000, out);
    fclose(out);
    if (rc) {
        free(text);
        return NULL;
    }
    return text;
}

static void check_round_trip(const trv_schedule_t *schedule)
{
    trv_schedule_file_t file;
    char *text = write_text(schedule);
    if (!text)
        return;
    fuzz_expect(trv_schedule_file_parse(text, strlen(text), "again", &file, NULL, NULL) == 0);
    if (file.has_blocks) {
        char *again = write_text(file.schedule);
        fuzz_expect(again && strcmp(text, again) == 0);
        free(again);
    }
    free(text);
    trv_schedule_destroy(file.schedule);
}

static void read_all(const trv_schedule_t *schedule)
{
    trv_cost_t cost;
    trv_verdict_t verdict = {TRV_VERDICT};
    trv_progress_t progress;
    trv_picture_t picture;
    if (trv_cost_measure(schedule, &cost) == 0) {
        if (trv_picture_create(&picture, schedule, NULL, &cost, -1, -1) == 0) {
            FILE *out = fopen("/dev/null", "w");
            trv_svg_options_t options = {"title", "subtitle", 1000, -1, -1, NULL};
            if (out && trv_svg_check(&picture, -1) == 0)
                trv_svg_write(&picture, &options, out);
            if (out)
                fclose(out);
            trv_picture_clear(&picture);
        }
        trv_cost_clear(&cost);
    }
    if (trv_verify(schedule, TRV_VERIFY_EXHAUSTIVE, &verdict, NULL, NULL) == 0)
        fuzz_expect(verdict.valid || strlen(verdict.fault) > 10);
    trv_verify(schedule, TRV_VERIFY_RANDOM, &verdict, NULL, NULL);
    if (trv_progress_create(&progress, schedule, 0) == 0)
        trv_progress_clear(&progress);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trv_schedule_file_t file;
    if (trv_schedule_file_parse((const char *)data, size, "fuzz", &file, NULL, NULL)) {
        fuzz_expect(strlen(trv_last_error()) > 10);
        return 0;
    }
    const trv_schedule_t *schedule = file.schedule;
    int64_t ranks = trv_schedule_torus(schedule)->ranks, units = trv_schedule_units(schedule);
    int64_t work = ranks * ranks * trv_schedule_steps(schedule) * trv_schedule_streams(schedule);
    if (ranks <= 64 && units <= 256 && trv_schedule_registers(schedule) <= 32 && work <= 100000) {
        if (file.has_blocks)
            check_round_trip(schedule);
        read_all(schedule);
    }
    trv_schedule_destroy(file.schedule);
    return 0;
}
