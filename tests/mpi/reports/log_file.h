/*
 * The log of the library, in the file that TRIVANCE_DEBUG_FILE names.
 */
#ifndef TRIVANCE_TESTS_LOG_FILE_H
#define TRIVANCE_TESTS_LOG_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char log_path[64];

/* Sets the log file. Called before the first line is logged, because the environment is read once. `every_rank`: all
 * ranks log, not only rank 0. */
static void log_file_begin(bool every_rank)
{
    char pattern[sizeof log_path];
    snprintf(log_path, sizeof log_path, "log.%ld", (long)getpid());
    snprintf(pattern, sizeof pattern, every_rank ? "log.%%p" : "%s", log_path);
    setenv("TRIVANCE_DEBUG_FILE", pattern, 1);
    FILE *file = fopen(log_path, "w"); /* the library creates none if it logs nothing */
    if (!file)
        abort();
    fclose(file);
}

/* The lines that were logged since the last call; the caller frees them. */
static char *log_file_read(void)
{
    FILE *file = fopen(log_path, "r+");
    if (!file)
        abort();
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    char *text = calloc(size + 1, 1);
    rewind(file);
    if (!text || fread(text, 1, size, file) != size || ftruncate(fileno(file), 0) != 0)
        abort();
    fclose(file);
    return text;
}

static int count_occurrences(const char *text, const char *words)
{
    int times = 0;
    for (; (text = strstr(text, words)) != NULL; text += strlen(words))
        times++;
    return times;
}

static int log_file_remove(void **state)
{
    (void)state;
    return unlink(log_path);
}

#endif
