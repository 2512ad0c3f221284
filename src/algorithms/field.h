/*
 * The parameters of an algorithm as fields of its names (name.h), and the values of a name.
 */
#ifndef TRIVANCE_ALGORITHMS_FIELD_H
#define TRIVANCE_ALGORITHMS_FIELD_H

#include <stdbool.h>

#include <trivance/schedule.h>

#define TRV_FIELDS_MAX   7
#define TRV_FACTOR_PARTS 3 /* numbers of a factor */

typedef enum trv_field_kind {
    TRV_FIELD_NONE, /* the end of the fields */
    TRV_FIELD_NUMBER,
    TRV_FIELD_WORD,    /* `word` alone; the value is 1 if the name has it */
    TRV_FIELD_WEIGHTS, /* W/W…: numbers, one for each dimension larger than 1 */
    TRV_FIELD_FACTORS, /* G[/S[/T]][xG…]: for each dimension 1 to TRV_FACTOR_PARTS numbers */
    TRV_FIELD_TEXT,    /* any text, which the algorithm reads; it may be empty */
    TRV_FIELD_REST,    /* the name of another algorithm, which may contain colons: the rest, or what precedes `until` */
} trv_field_kind_t;

typedef struct trv_field {
    trv_field_kind_t kind;
    const char *what; /* for messages: "a number of chunks" */
    /* Numbers are from 1 to `max`, or to limit(torus) where it is set. */
    int max;
    int (*limit)(const trv_torus_t *torus);
    int value;   /* of a NUMBER that the name does not have */
    bool hidden; /* this value is not written in full names */
    /* Before the value in the name: "streams" of "streams4". NULL: the value alone, at its place. */
    const char *word;
    int alone; /* the number of the word without a number; 0: a number has to follow */
    /* Written in full names without this field, and accepted without an effect: "windows", for "grouped". */
    const char *absent;
    bool in_any_order; /* among the fields with this property */
    const char *text;  /* of a TEXT or REST that the name does not have; NULL: "" */
    char until;        /* of a REST, which is omitted if the name does not have this character */
    const char *never; /* of a TEXT: characters by which the text belongs to the next field */
} trv_field_t;

typedef struct trv_value {
    int number;
    int count;                                 /* of weights or factors; 0: the name has none */
    int list[TRV_DIMS_MAX * TRV_FACTOR_PARTS]; /* weight i: list[i]; factor i: list[TRV_FACTOR_PARTS * i] …, 0 beyond */
    const char *text;
} trv_value_t;

typedef struct trv_parameters {
    bool given;                        /* the name has parameters */
    trv_value_t value[TRV_FIELDS_MAX]; /* in the order of the fields */
    char text[TRV_FULL_NAME_MAX];      /* memory of the texts */
} trv_parameters_t;

/* The weights of a value, or NULL if the name has none. */
static inline const int *trv_name_weights(const trv_value_t *value) { return value->count ? value->list : NULL; }

#endif
