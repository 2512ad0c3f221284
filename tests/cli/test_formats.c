/*
 * libtrivance_formats as a program calls it: drawings, files and programs written to a stream, refused arguments, and
 * cancellation.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <trivance/algorithms.h>
#include <trivance/formats.h>

static trv_schedule_t *make(const char *torus_text, const char *name)
{
    trv_torus_t torus;
    trv_schedule_t *schedule;
    assert_int_equal(trv_torus_parse(torus_text, &torus), TRV_OK);
    assert_int_equal(trv_schedule_create(&schedule, &torus, name, TRV_ALLREDUCE), TRV_OK);
    return schedule;
}

typedef int draw_t(const trv_schedule_t *schedule, const trv_draw_options_t *options, FILE *out);

/* Returns the drawing, or NULL with the error in *code. */
static char *drawn(draw_t *draw, const trv_schedule_t *schedule, const trv_draw_options_t *options, int *code)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    *code = draw(schedule, options, out);
    fclose(out);
    if (!*code)
        return text;
    assert_int_equal(length, 0);
    free(text);
    return NULL;
}

static void test_default_options(void **state)
{
    (void)state;
    trv_schedule_t *s = make("9", "trivance-l");
    trv_cost_t cost;
    int code;
    assert_int_equal(trv_cost_measure(s, &cost), TRV_OK);
    for (int i = 0; i < 2; i++) {
        draw_t *draw = i ? trv_draw_text : trv_draw_svg;
        trv_draw_options_t options = {TRV_DRAW_OPTIONS};
        char *own = drawn(draw, s, &options, &code);
        options.cost = &cost;
        char *given = drawn(draw, s, &options, &code);
        assert_string_equal(own, given);
        assert_non_null(strstr(own, i ? "step 1: distance 3, congestion 3" : "trivance-l on a ring of 9"));
        free(own);
        free(given);
    }
    trv_cost_clear(&cost);
    trv_schedule_destroy(s);
}

static void test_links_and_note(void **state)
{
    (void)state;
    trv_schedule_t *s = make("9m", "line-l");
    const trv_slow_link_t slow = {3, 0, 4};
    const trv_network_t network = {TRV_NETWORK, .torus = *trv_schedule_torus(s), .slow_links = 1, .slow_link = &slow};
    const trv_draw_options_t options = {TRV_DRAW_OPTIONS, .network = &network, .note = "; a note"};
    int code;
    char *text = drawn(trv_draw_svg, s, &options, &code);
    assert_non_null(strstr(text, "; a note"));
    assert_non_null(strstr(text, "4x"));
    free(text);
    trv_schedule_destroy(s);
}

static void test_bad_arguments(void **state)
{
    (void)state;
    trv_schedule_t *s = make("9", "ring"), *large = make("243", "trivance-l");
    const trv_slow_link_t far = {99, 0, 4};
    const trv_network_t network = {TRV_NETWORK, .torus = *trv_schedule_torus(s), .slow_links = 1, .slow_link = &far};
    trv_draw_options_t bad[] = {{TRV_DRAW_OPTIONS}, {TRV_DRAW_OPTIONS}, {TRV_DRAW_OPTIONS}, {TRV_DRAW_OPTIONS}};
    const trv_draw_options_t defaults = {TRV_DRAW_OPTIONS};
    int code;
    bad[0].rank = 9;
    bad[1].stream = 2;
    bad[2].size = 7;
    bad[3].network = &network;
    for (int i = 0; i < 4; i++) {
        assert_null(drawn(trv_draw_svg, s, &bad[i], &code));
        assert_int_equal(code, TRV_ERR_ARGUMENT);
        assert_null(drawn(trv_draw_text, s, &bad[i], &code));
        assert_int_equal(code, TRV_ERR_ARGUMENT);
    }
    assert_null(drawn(trv_draw_svg, large, &defaults, &code));
    assert_int_equal(code, TRV_ERR_UNSUPPORTED);
    trv_schedule_destroy(s);
    trv_schedule_destroy(large);
}

static int stop(void *context, double fraction)
{
    (void)context;
    (void)fraction;
    return 1;
}

static void test_write_and_export(void **state)
{
    (void)state;
    trv_schedule_t *s = make("9", "trivance-b");
    FILE *nowhere = fopen("/dev/null", "w");
    assert_int_equal(trv_export(s, TRV_FORMAT_GOAL, 1000, 0, NULL, NULL, nowhere), TRV_OK);
    assert_int_equal(trv_export(s, TRV_FORMAT_MSCCLPP, 1000, 0, NULL, NULL, nowhere), TRV_OK);
    assert_int_equal(trv_export(s, TRV_FORMAT_MSCCL, 1000, 0, NULL, NULL, nowhere), TRV_ERR_UNSUPPORTED);
    assert_non_null(strstr(trv_last_error(), "MSCCL++ execution plans in JSON (mscclpp) replace it"));
    assert_int_equal(trv_export(s, TRV_FORMAT_CHAKRA, 1000, 0, NULL, NULL, nowhere), TRV_ERR_ARGUMENT);
    assert_non_null(strstr(trv_last_error(), "call trv_export_chakra"));
    assert_int_equal(trv_export(s, (trv_format_t)4, 1000, 0, NULL, NULL, nowhere), TRV_ERR_ARGUMENT);
    assert_int_equal(trv_export(s, TRV_FORMAT_GOAL, 1000, 0, stop, NULL, nowhere), TRV_ERR_CANCELLED);
    assert_int_equal(trv_schedule_write(s, NULL, 1000, NULL, NULL, nowhere), TRV_OK);
    assert_int_equal(trv_schedule_write(s, NULL, 1000, stop, NULL, nowhere), TRV_ERR_CANCELLED);
    fclose(nowhere);
    trv_schedule_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default_options),
        cmocka_unit_test(test_links_and_note),
        cmocka_unit_test(test_bad_arguments),
        cmocka_unit_test(test_write_and_export),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
