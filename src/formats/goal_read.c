/*
 * Reads GOAL text. The grammar is that of LogGOPSim's txt2bin: words, numbers and punctuation; a statement ends with
 * its line; both operations of a dependency must have been defined before it, in the same rank.
 *
 *     num_ranks 2
 *     rank 0 {
 *     c: calc 1500 cpu 0
 *     s: send 4096b to 1 tag 7 cpu 0 nic 0
 *     s requires c
 *     }
 *     rank 1 { …
 *
 * The reader is stricter than txt2bin where txt2bin hides mistakes: labels must be unique, ranks complete and
 * ascending, and peers must exist. Receives from any source or with any tag (-1) are errors, because the message that
 * they match would depend on the network's timing.
 */
#include "formats/goal_file.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/network_limits.h"
#include "base/array.h"
#include "base/number.h"
#include "base/text/whole_file.h"

#define BYTES_MAX   (UINT64_C(1) << 50)
#define CALC_NS_MAX ((uint64_t)TRV_TIME_MAX_NS)
#define OPS_MAX     TRV_ARRAY_MAX

typedef enum token_kind { WORD, NUMBER, SYMBOL, NEWLINE, END } token_kind_t;

typedef struct token {
    token_kind_t kind;
    const char *start;
    size_t length;
    uint64_t number;
    uint32_t line;
} token_t;

typedef struct label { /* of an operation; its text points into the file's text */
    const char *start;
    uint32_t length, op; /* length 0: free */
} label_t;

typedef struct reader {
    const char *at, *end, *name;
    token_t token; /* the next one */
    uint32_t line;
    trv_goal_t *goal;
    int64_t op_capacity, dependency_capacity;
    label_t *label; /* a hash table of the labels of all ranks; a power of two in size */
    uint64_t labels, label_capacity;
    int rank;
} reader_t;

static int fail_at(const reader_t *reader, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int fail_at(const reader_t *reader, uint32_t line, const char *format, ...)
{
    char sentence[512];
    va_list arguments;
    va_start(arguments, format);
    trv_vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return trv_fail(TRV_ERR_INVALID, "%.200s, line %u: %s", reader->name, line, sentence);
}

/* ---- Tokens ------------------------------------------------------------------------------------------------------ */

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool starts_with(const reader_t *reader, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(reader->end - reader->at) >= length && memcmp(reader->at, text, length) == 0;
}

/* Skips blanks and comments, but not the line break after a line comment, which is a token. */
static void skip(reader_t *reader)
{
    for (;;) {
        bool blank = reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\t');
        if (blank || starts_with(reader, "\r\n")) {
            reader->at++;
        } else if (starts_with(reader, "//")) {
            while (reader->at < reader->end && *reader->at != '\n')
                reader->at++;
        } else if (starts_with(reader, "/*")) {
            for (reader->at += 2; reader->at < reader->end && !starts_with(reader, "*/"); reader->at++)
                reader->line += *reader->at == '\n';
            reader->at += reader->at < reader->end ? 2 : 0;
        } else {
            return;
        }
    }
}

/* Moves to the next token. A number that does not fit becomes UINT64_MAX. */
static void advance(reader_t *reader)
{
    skip(reader);
    token_t *token = &reader->token;
    *token = (token_t){.kind = END, .start = reader->at, .line = reader->line};
    if (reader->at == reader->end)
        return;
    char c = *reader->at++;
    if (c == '\n') {
        token->kind = NEWLINE;
        reader->line++;
    } else if (is_letter(c)) {
        token->kind = WORD;
        while (reader->at < reader->end && (is_letter(*reader->at) || is_digit(*reader->at) || *reader->at == '_'))
            reader->at++;
    } else if (is_digit(c)) {
        token->kind = NUMBER;
        for (reader->at--; reader->at < reader->end && is_digit(*reader->at); reader->at++) {
            uint64_t digit = (uint64_t)(*reader->at - '0');
            token->number = token->number > (UINT64_MAX - digit) / 10 ? UINT64_MAX : token->number * 10 + digit;
        }
    } else {
        token->kind = SYMBOL;
        while (c == '-' && reader->at < reader->end && is_digit(*reader->at))
            reader->at++;
    }
    token->length = (size_t)(reader->at - token->start);
}

static bool is(const token_t *token, const char *text)
{
    return (token->kind == WORD || token->kind == SYMBOL) && token->length == strlen(text) &&
           memcmp(token->start, text, token->length) == 0;
}

/* Consumes the next token if it is `text`. */
static bool accept(reader_t *reader, const char *text)
{
    if (!is(&reader->token, text))
        return false;
    advance(reader);
    return true;
}

/* Fails because the next token violates the format. */
static int unexpected(const reader_t *reader, const char *expected)
{
    const token_t *token = &reader->token;
    if (token->kind == NEWLINE || token->kind == END)
        return fail_at(reader, token->line, "%s is missing at the end of the %s", expected,
                       token->kind == END ? "file" : "line");
    int length = token->length > 40 ? 40 : (int)token->length;
    bool printable = token->start[0] > ' ' && token->start[0] < 127;
    return fail_at(reader, token->line, "expected %s, not '%.*s'", expected, printable ? length : 1,
                   printable ? token->start : "?");
}

static int expect(reader_t *reader, const char *text, const char *expected)
{
    return accept(reader, text) ? TRV_OK : unexpected(reader, expected);
}

static int number(reader_t *reader, const char *expected, uint64_t max, uint64_t *value)
{
    if (reader->token.kind != NUMBER)
        return unexpected(reader, expected);
    if (reader->token.number > max)
        return fail_at(reader, reader->token.line, "%s can be at most %llu", expected, (unsigned long long)max);
    *value = reader->token.number;
    advance(reader);
    return TRV_OK;
}

static int end_of_line(reader_t *reader)
{
    return reader->token.kind == NEWLINE || reader->token.kind == END ? TRV_OK
                                                                      : unexpected(reader, "the end of the line");
}

/* ---- Labels ------------------------------------------------------------------------------------------------------ */

static uint64_t hash(int rank, const char *start, size_t length)
{
    uint64_t h = trv_hash(TRV_HASH_SEED ^ (uint64_t)rank, start, length);
    /* The hash is mixed, because the table's size is a power of two. */
    h = (h ^ h >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 32;
}

/* Returns the slot of a label of this rank, or the free slot where it belongs. */
static label_t *find_label(const reader_t *reader, int rank, const char *start, size_t length)
{
    uint64_t mask = reader->label_capacity - 1, at = hash(rank, start, length) & mask;
    for (;; at = (at + 1) & mask) {
        label_t *label = &reader->label[at];
        if (label->length == 0 || (label->length == length && reader->goal->op[label->op].rank == rank &&
                                   memcmp(label->start, start, length) == 0))
            return label;
    }
}

/* Keeps the table at most half full. */
static int grow_labels(reader_t *reader)
{
    if (2 * (reader->labels + 1) <= reader->label_capacity)
        return TRV_OK;
    label_t *old = reader->label;
    uint64_t old_capacity = reader->label_capacity;
    reader->label_capacity = old_capacity ? 2 * old_capacity : 64;
    reader->label = calloc(reader->label_capacity, sizeof *reader->label);
    for (uint64_t i = 0; reader->label && i < old_capacity; i++)
        if (old[i].length > 0)
            *find_label(reader, reader->goal->op[old[i].op].rank, old[i].start, old[i].length) = old[i];
    free(old);
    return reader->label ? TRV_OK : trv_fail_memory();
}

static int add_label(reader_t *reader, const token_t *name, uint32_t op)
{
    int rc = grow_labels(reader);
    if (rc)
        return rc;
    label_t *label = find_label(reader, reader->rank, name->start, name->length);
    if (label->length > 0)
        return fail_at(reader, name->line, "the label '%.*s' is already defined in line %u",
                       (int)(name->length > 40 ? 40 : name->length), name->start, reader->goal->op[label->op].line);
    if (name->length > UINT32_MAX)
        return fail_at(reader, name->line, "the label is too long");
    *label = (label_t){name->start, (uint32_t)name->length, op};
    reader->labels++;
    return TRV_OK;
}

/* ---- Statements -------------------------------------------------------------------------------------------------- */

/* Reads what a message is matched by: its peer or tag. Other programs write -1 for any. */
static int read_matched(reader_t *reader, const char *expected, uint64_t max, uint64_t *value)
{
    if (is(&reader->token, "-1"))
        return fail_at(reader, reader->token.line,
                       "-1 is neither a rank nor a tag; receives from any source or with any tag are not supported, "
                       "because the order of arrival would decide which message they take; state the rank and the tag, "
                       "for example from 3 tag 5");
    return number(reader, expected, max, value);
}

/* Reads "send 10b to 3 tag 5 cpu 0 nic 1" after its first word. */
static int read_message(reader_t *reader, trv_goal_op_t *op)
{
    bool send = op->kind == TRV_GOAL_SEND;
    uint64_t value = 0;
    int rc = number(reader, "a number of bytes", BYTES_MAX, &op->amount);
    if (!rc)
        rc = expect(reader, "b", "'b' after the number of bytes");
    if (!rc)
        rc = send ? expect(reader, "to", "'to'") : expect(reader, "from", "'from'");
    if (!rc)
        rc = read_matched(reader, "the rank of the peer", (uint64_t)reader->goal->ranks - 1, &value);
    op->peer = (int)value;
    value = 0;
    if (!rc && accept(reader, "tag"))
        rc = read_matched(reader, "a tag", UINT32_MAX, &value);
    op->tag = (uint32_t)value;
    return rc;
}

static int read_operation(reader_t *reader, const token_t *label)
{
    trv_goal_t *goal = reader->goal;
    trv_goal_op_t op = {.rank = reader->rank, .nic = -1, .line = reader->token.line};
    uint64_t value = 0;
    int rc;
    if (accept(reader, "calc")) {
        op.kind = TRV_GOAL_CALC;
        rc = number(reader, "a number of ns", CALC_NS_MAX, &op.amount);
    } else {
        op.kind = is(&reader->token, "send") ? TRV_GOAL_SEND : TRV_GOAL_RECV;
        if (op.kind == TRV_GOAL_RECV && !is(&reader->token, "recv"))
            return unexpected(reader, "send, recv or calc");
        advance(reader);
        rc = read_message(reader, &op);
    }
    if (!rc && accept(reader, "cpu")) {
        rc = number(reader, "a CPU number", 255, &value);
        op.cpu = (int)value;
    }
    if (!rc && op.kind != TRV_GOAL_CALC && accept(reader, "nic")) {
        rc = number(reader, "a NIC number", 255, &value);
        op.nic = (int)value;
    }
    if (!rc)
        rc = end_of_line(reader);
    if (!rc && goal->ops == OPS_MAX)
        rc = fail_at(reader, op.line, "there are more than 2^30 operations");
    if (rc)
        return rc;
    if (trv_array_reserve(&goal->op, &reader->op_capacity, goal->ops, 1, sizeof *goal->op))
        return TRV_ERR_MEMORY;
    goal->op[goal->ops++] = op;
    return label ? add_label(reader, label, goal->ops - 1) : TRV_OK;
}

static int find_operation(const reader_t *reader, const token_t *name, uint32_t *op)
{
    const label_t *label = reader->labels ? find_label(reader, reader->rank, name->start, name->length) : NULL;
    if (!label || label->length == 0)
        return fail_at(reader, name->line, "the label '%.*s' is not defined before this line in rank %d",
                       (int)(name->length > 40 ? 40 : name->length), name->start, reader->rank);
    *op = label->op;
    return TRV_OK;
}

/* Reads "a requires b" or "a irequires b" after its first word. */
static int read_dependency(reader_t *reader, const token_t *name)
{
    trv_goal_t *goal = reader->goal;
    trv_goal_dependency_t dependency = {.start = is(&reader->token, "irequires")};
    advance(reader);
    if (reader->token.kind != WORD)
        return unexpected(reader, "a label");
    token_t other = reader->token;
    advance(reader);
    int rc = end_of_line(reader);
    if (!rc)
        rc = find_operation(reader, name, &dependency.op);
    if (!rc)
        rc = find_operation(reader, &other, &dependency.on);
    if (!rc && dependency.op == dependency.on)
        rc = fail_at(reader, name->line, "an operation cannot wait for itself");
    if (!rc && goal->dependencies == OPS_MAX)
        rc = fail_at(reader, name->line, "there are more than 2^30 dependencies");
    if (rc)
        return rc;
    if (trv_array_reserve(&goal->dependency, &reader->dependency_capacity, goal->dependencies, 1,
                          sizeof *goal->dependency))
        return TRV_ERR_MEMORY;
    goal->dependency[goal->dependencies++] = dependency;
    return TRV_OK;
}

static int read_statement(reader_t *reader)
{
    token_t name = reader->token;
    if (name.kind != WORD)
        return unexpected(reader, "a label, send, recv, calc or '}'");
    if (is(&name, "send") || is(&name, "recv") || is(&name, "calc"))
        return read_operation(reader, NULL);
    advance(reader);
    if (accept(reader, ":"))
        return read_operation(reader, &name);
    if (is(&reader->token, "requires") || is(&reader->token, "irequires"))
        return read_dependency(reader, &name);
    return unexpected(reader, "':', requires or irequires");
}

static void skip_lines(reader_t *reader)
{
    while (reader->token.kind == NEWLINE)
        advance(reader);
}

static int read_rank(reader_t *reader)
{
    uint64_t rank = 0;
    uint32_t line = reader->token.line;
    int rc = expect(reader, "rank", "'rank' and its number");
    if (!rc)
        rc = number(reader, "a rank number", (uint64_t)reader->goal->ranks - 1, &rank);
    if (!rc && rank != (uint64_t)reader->rank)
        return fail_at(reader, line, "expected rank %d, not rank %llu; ranks must be in ascending order", reader->rank,
                       (unsigned long long)rank);
    if (!rc)
        rc = expect(reader, "{", "'{'");
    for (skip_lines(reader); !rc && !accept(reader, "}"); skip_lines(reader))
        rc = read_statement(reader);
    reader->rank++;
    return rc;
}

static int read_program(reader_t *reader)
{
    uint64_t ranks = 0;
    advance(reader);
    skip_lines(reader);
    int rc = expect(reader, "num_ranks", "'num_ranks' and the number of ranks");
    if (!rc)
        rc = number(reader, "the number of ranks", 1 << 30, &ranks);
    if (!rc && ranks == 0)
        return fail_at(reader, reader->token.line, "the number of ranks must be at least 1");
    reader->goal->ranks = (int)ranks;
    for (skip_lines(reader); !rc && reader->token.kind != END && reader->rank < (int)ranks; skip_lines(reader))
        rc = read_rank(reader);
    if (!rc && reader->rank < (int)ranks)
        rc = fail_at(reader, reader->token.line, "rank %d is missing; the program has %d ranks", reader->rank,
                     (int)ranks);
    if (!rc && reader->token.kind != END)
        rc = unexpected(reader, "the end of the file");
    return rc;
}

int trv_goal_file_parse(const char *text, size_t length, const char *name, trv_goal_t *goal)
{
    *goal = (trv_goal_t){.name = strdup(name)};
    reader_t reader = {.at = text, .end = text + length, .name = name, .line = 1, .goal = goal};
    int rc = goal->name ? read_program(&reader) : trv_fail_memory();
    free(reader.label);
    if (rc)
        trv_goal_clear(goal);
    return rc;
}

int trv_goal_file_read(const char *path, trv_goal_t *goal)
{
    const char *name;
    char *text;
    size_t length;
    int rc = trv_whole_file_read(path, &name, &text, &length);
    if (rc)
        return rc;
    rc = trv_goal_file_parse(text, length, name, goal);
    free(text);
    return rc;
}
