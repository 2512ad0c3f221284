/*
 * The parameters in the names of algorithms: names of random values, which the entries of the algorithms describe, are
 * read as these values; names with random errors are refused with a sentence, or are other names. Families.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <trivance/trivance.h>

#include "algorithms/family.h"
#include "algorithms/registry.h"
#include "base/error.h"
#include "exhaustive.h"
#include "torus/torus.h"

static uint64_t random_state;

/* A random number below `limit`. */
static int draw(int limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int)((random_state >> 33) % (uint64_t)limit);
}

static void draw_text(const trv_field_t *field, char *text, size_t size)
{
    const char *const letters = field->never ? "bl012" : "ab012./_-";
    const bool rest = field->kind == TRV_FIELD_REST;
    const size_t length = rest + (size_t)draw((int)size - 1);
    for (size_t i = 0; i < length; i++)
        text[i] = rest && i > 0 && draw(4) == 0 ? ':' : letters[draw((int)strlen(letters))];
    text[length] = '\0';
}

/* Draws a value of a field, or often the one of a name without it. */
static void draw_value(const trv_field_t *field, const trv_torus_t *torus, trv_value_t *value, char *text, size_t size)
{
    const int max = field->limit ? field->limit(torus) : field->max;
    int dimension[TRV_DIMS_MAX];
    const bool given = draw(3) > 0;
    switch (field->kind) {
    case TRV_FIELD_NUMBER: value->number = given ? 1 + draw(max) : field->value; break;
    case TRV_FIELD_WORD: value->number = given; break;
    case TRV_FIELD_WEIGHTS:
        value->count = given ? trv_torus_active(torus, dimension) : 0;
        for (int i = 0; i < value->count; i++)
            value->list[i] = 1 + draw(max);
        break;
    case TRV_FIELD_FACTORS:
        value->count = 1 + draw(TRV_DIMS_MAX);
        for (int i = 0; i < value->count; i++)
            for (int k = 0, parts = 1 + draw(TRV_FACTOR_PARTS); k < parts; k++)
                value->list[TRV_FACTOR_PARTS * i + k] = 1 + draw(k ? 40 : INT32_MAX - 1);
        break;
    default: draw_text(field, text, size); value->text = text;
    }
}

static bool same_values(const trv_algorithm_t *algorithm, const trv_parameters_t *a, const trv_parameters_t *b)
{
    bool same = true;
    for (int i = 0; same && i < TRV_FIELDS_MAX && algorithm->field[i].kind; i++)
        same = a->value[i].number == b->value[i].number && a->value[i].count == b->value[i].count &&
               memcmp(a->value[i].list, b->value[i].list, sizeof a->value[i].list) == 0 &&
               strcmp(a->value[i].text, b->value[i].text) == 0;
    return same;
}

/* The text after the colon; NULL if there is none. */
static const char *parameters_of(const char *name)
{
    const char *colon = strchr(name, ':');
    return colon ? colon + 1 : NULL;
}

/* Changes a character of the name, removes or inserts one. The result is refused, or printed and read as itself. */
static void try_damaged(const trv_algorithm_t *algorithm, const trv_torus_t *torus, const char *name)
{
    static const char other[] = ":/xo1409.";
    char damaged[TRV_FULL_NAME_MAX], printed[TRV_FULL_NAME_MAX];
    const int first = (int)strlen(algorithm->name) + 1, length = (int)strlen(name);
    static trv_parameters_t values, again;
    if (length <= first)
        return;
    const int at = first + draw(length - first), kept = draw(2), inserted = draw(2);
    snprintf(damaged, sizeof damaged, "%.*s%.*s%s", at, name, inserted, &other[draw((int)sizeof other - 1)],
             name + at + !kept);
    if (trv_name_parse(algorithm, parameters_of(damaged), torus, &values)) {
        assert_non_null(strstr(trv_last_error(), algorithm->example));
        return;
    }
    trv_name_print(algorithm, &values, true, printed, sizeof printed);
    if (trv_name_parse(algorithm, parameters_of(printed), torus, &again) || !same_values(algorithm, &values, &again))
        fail_msg("%s is printed as %s, which is not the same", damaged, printed);
}

static void test_random(void **state)
{
    static const char *const tori[] = {"8", "9m", "8x8", "1x8", "8x9", "4x4x4", "2x3x5", "2x2x2x2x2x2x2x2"};
    static trv_parameters_t values, read;
    char text[TRV_FIELDS_MAX][12], name[TRV_FULL_NAME_MAX];
    (void)state;
    random_state = sample_seed();
    for (int run = 0; run < (exhaustive() ? 20000 : 500); run++)
        for (int a = 0; a < trv_algorithms_count(); a++) {
            const trv_algorithm_t *algorithm = trv_algorithm_at(a);
            trv_torus_t torus;
            assert_int_equal(trv_torus_parse(tori[draw((int)(sizeof tori / sizeof *tori))], &torus), 0);
            assert_true(!algorithm->parameters == !algorithm->field[0].kind);
            trv_name_defaults(algorithm, &values);
            for (int i = 0; i < TRV_FIELDS_MAX && algorithm->field[i].kind; i++)
                draw_value(&algorithm->field[i], &torus, &values.value[i], text[i], sizeof text[i]);
            for (int full = 0; full < 2; full++) {
                const int length = trv_name_print(algorithm, &values, full, name, sizeof name);
                assert_int_equal(length, strlen(name));
                if (trv_name_parse(algorithm, parameters_of(name), &torus, &read))
                    fail_msg("%s: %s", name, trv_last_error());
                if (!same_values(algorithm, &values, &read))
                    fail_msg("%s is not read as it was printed", name);
                try_damaged(algorithm, &torus, name);
            }
        }
}

/* The examples of all entries are names; one parameter more is not. */
static void test_examples(void **state)
{
    (void)state;
    for (int a = 0; a < trv_algorithms_count(); a++) {
        const trv_algorithm_t *algorithm = trv_algorithm_at(a);
        char example[TRV_ALGORITHM_NAME_MAX];
        static trv_parameters_t values;
        trv_torus_t torus;
        assert_int_equal(trv_torus_parse("8x64", &torus), 0);
        if (!algorithm->parameters)
            continue;
        snprintf(example, sizeof example, "%.*s", (int)strcspn(algorithm->example, " "), algorithm->example);
        assert_ptr_equal(trv_algorithm_find(example), algorithm);
        if (trv_name_parse(algorithm, parameters_of(example), &torus, &values))
            fail_msg("%s: %s", example, trv_last_error());
        if (algorithm->field[0].kind == TRV_FIELD_REST)
            continue;
        const trv_field_t *field = algorithm->field;
        if (field[0].kind == TRV_FIELD_NUMBER && field[1].kind == TRV_FIELD_NUMBER) { /* NAME::N has a default */
            assert_int_equal(trv_name_parse(algorithm, ":2", &torus, &values), TRV_OK);
            assert_true(values.value[0].number == field[0].value && values.value[1].number == 2);
        }
        strcat(example, ":1:1:1");
        assert_int_equal(trv_name_parse(algorithm, parameters_of(example), &torus, &values), TRV_ERR_ARGUMENT);
        assert_non_null(strstr(trv_last_error(), "'1' is not a parameter: expected "));
    }
}

/* Every algorithm is a member of its family; of several members all are exact, and those that support a collective are
 * kept in their order. */
static void test_families(void **state)
{
    const trv_algorithm_t *member[TRV_FAMILY_MAX];
    (void)state;
    for (int a = 0; a < trv_algorithms_count(); a++) {
        const trv_algorithm_t *algorithm = trv_algorithm_at(a);
        int members = trv_family_members(algorithm->family, member), found = 0;
        for (int m = 0; m < members; m++) {
            found += member[m] == algorithm;
            assert_true(members == 1 || trv_algorithm_exactness(member[m]) == TRV_EXACT);
        }
        assert_int_equal(found, 1);
        assert_false(trv_is_family(algorithm->name));
    }
    assert_true(trv_is_family("trivance") && !trv_is_family("trivance:9") && !trv_is_family("planned"));
    const int members = trv_family_members("trivance", member);
    assert_true(members > 2 && strcmp(trv_algorithm_name(member[0]), "trivance-l") == 0);
    assert_int_equal(trv_family_restrict(member, members, 1U << TRV_ALLTOALL | 1U << TRV_ALLGATHER), 2);
    assert_string_equal(trv_algorithm_name(member[0]), "trivance-b");
    assert_string_equal(trv_algorithm_name(member[1]), "trivance-tree");
    assert_int_equal(trv_family_restrict(member, 1, 1U << TRV_ALLTOALL), 0);
    assert_string_equal(trv_algorithm_name(member[0]), "trivance-b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_examples),
                                       cmocka_unit_test(test_families)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
