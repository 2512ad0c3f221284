/*
 * Runs a fuzz target without libFuzzer: first with every file of a corpus folder, then with random mutations of these
 * files for some seconds.
 *
 *     fuzz_torus CORPUS [SECONDS [SEED]]
 *     fuzz_torus FILE                          one input
 *
 * The current input is kept in <program>.last in the working directory, where it is available after a crash.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

#define INPUT_MAX  65536
#define INPUTS_MAX 4096

typedef struct input {
    size_t size;
    uint8_t *data;
} input_t;

static input_t inputs[INPUTS_MAX];
static int input_count;
static uint64_t random_state;
static uint64_t *last; /* the size, then the bytes, of the current input */

/* xorshift64* (Marsaglia; Vigna): small, and the same on every platform. */
static uint64_t random_bits(void)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * UINT64_C(2685821657736338717);
}

static size_t random_below(size_t limit) { return limit ? (size_t)(random_bits() % limit) : 0; }

static void load(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || input_count == INPUTS_MAX)
        exit(2);
    input_t *input = &inputs[input_count++];
    input->data = malloc(INPUT_MAX);
    input->size = input->data ? fread(input->data, 1, INPUT_MAX, file) : 0;
    fclose(file);
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Loads files in the order of their names, so that a seed reproduces the same run on every machine. */
static void load_folder(const char *folder)
{
    char *name[INPUTS_MAX], path[4096];
    int names = 0;
    DIR *directory = opendir(folder);
    if (!directory) {
        load(folder);
        return;
    }
    for (const struct dirent *entry; names < INPUTS_MAX && (entry = readdir(directory)) != NULL;)
        if (entry->d_name[0] != '.')
            name[names++] = strdup(entry->d_name);
    closedir(directory);
    qsort(name, (size_t)names, sizeof *name, by_name);
    for (int i = 0; i < names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, name[i]);
        load(path);
        free(name[i]);
    }
}

static void run(const uint8_t *data, size_t size)
{
    /* An exact copy on the heap, so that a sanitizer detects every read beyond its end. */
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        exit(2);
    memcpy(copy, data, size);
    if (last) {
        *last = size;
        memcpy(last + 1, data, size);
    }
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void map_last(const char *program)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.last", strrchr(program, '/') ? strrchr(program, '/') + 1 : program);
    int descriptor = open(path, O_RDWR | O_CREAT, 0644);
    if (descriptor < 0 || ftruncate(descriptor, INPUT_MAX + 8))
        return;
    void *memory = mmap(NULL, INPUT_MAX + 8, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    last = memory == MAP_FAILED ? NULL : memory;
    close(descriptor);
}

static size_t insert(uint8_t *data, size_t size, size_t at, const uint8_t *piece, size_t length)
{
    if (size + length > INPUT_MAX)
        return size;
    memmove(data + at + length, data + at, size - at);
    memcpy(data + at, piece, length);
    return size + length;
}

/* Words with a meaning for one of the targets. */
static const char *const word[] = {
    "0",
    "1",
    "9",
    "-1",
    "2147483647",
    "9999999999",
    "4294967296",
    ",",
    "x",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "null",
    "true",
    "all",
    "0-8/2",
    "\"blocks\":\"all\"",
    "\"slots\":\"0-1\"",
    "KiB",
    "Gb/s",
    "us",
    "1e9",
    "-",
    "+0",
    "\"units\":1,",
    "\"registers\":3,",
    "\"symmetry\":\"translation\",",
    "\n",
    " requires ",
    " irequires ",
    "calc 5\n",
    "send 8b to 1\n",
    "recv 8b from 0\n",
    " tag 1",
    " nic 2",
};

/* Makes one random change; returns the new size. */
static size_t mutate(uint8_t *data, size_t size)
{
    size_t at = random_below(size + 1), length;
    switch (random_below(7)) {
    case 0: /* a bit */
        if (at < size)
            data[at] ^= (uint8_t)(1 << random_below(8));
        return size;
    case 1: /* a byte */
        if (at < size)
            data[at] = (uint8_t)random_bits();
        return size;
    case 2: /* a digit, if there is one */
        for (size_t i = at; i < size; i++)
            if (data[i] >= '0' && data[i] <= '9') {
                data[i] = (uint8_t)('0' + random_below(10));
                break;
            }
        return size;
    case 3: /* remove a piece */
        length = random_below(size - at + 1) % 64;
        memmove(data + at, data + at + length, size - at - length);
        return size - length;
    case 4: /* repeat a piece */
        length = random_below(size - at + 1) % 64;
        {
            uint8_t piece[64];
            memcpy(piece, data + at, length);
            return insert(data, size, random_below(size + 1), piece, length);
        }
    case 5: { /* insert a word from the list */
        const char *w = word[random_below(sizeof word / sizeof word[0])];
        return insert(data, size, at, (const uint8_t *)w, strlen(w));
    }
    default: { /* a piece of another input */
        const input_t *other = &inputs[random_below((size_t)input_count)];
        size_t from = random_below(other->size + 1);
        length = random_below(other->size - from + 1) % 256;
        return insert(data, size, at, other->data + from, length);
    }
    }
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv)
{
    static uint8_t data[INPUT_MAX];
    double seconds = argc > 2 ? atof(argv[2]) : 0;
    uint64_t runs = 0;
    random_state = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
    if (argc < 2 || random_state == 0)
        return 2;
    map_last(argv[0]);
    load_folder(argv[1]);
    if (input_count == 0)
        return 2;
    for (int i = 0; i < input_count; i++)
        run(inputs[i].data, inputs[i].size);
    for (double end = now() + seconds; now() < end; runs++) {
        const input_t *start = &inputs[random_below((size_t)input_count)];
        size_t size = start->size;
        memcpy(data, start->data, size);
        for (size_t changes = 1 + random_below(6); changes > 0; changes--)
            size = mutate(data, size);
        run(data, size);
    }
    printf("%d inputs, %" PRIu64 " mutations\n", input_count, runs);
    for (int i = 0; i < input_count; i++)
        free(inputs[i].data);
    return 0;
}
