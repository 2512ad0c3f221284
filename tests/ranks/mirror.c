/*
 * Another user's star chains: as right as those in $XDG_CACHE_HOME, and not the same.
 *
 *     mirror KEY FOLDER    FOLDER is what XDG_CACHE_HOME is for the other user
 *
 * The last coordinate of every vector is turned round, which a torus allows.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stars/store.h"

/* A vector's end, from `at` on, is where its last coordinate ends. */
static void turn(const char *from, char *to)
{
    for (const char *at = from; *at;) {
        size_t length = strcspn(at, "/_\n"), last = length;
        while (last > 0 && at[last - 1] != '.')
            last--;
        to += sprintf(to, "%.*s", (int)last, at);
        if (at[last] == '-')
            last++;
        else if (at[last] != '0')
            *to++ = '-';
        to += sprintf(to, "%.*s", (int)(length - last), at + last);
        at += length;
        if (*at)
            *to++ = *at++;
    }
    *to = '\0';
}

int main(int argc, char **argv)
{
    char *text = NULL;
    if (argc != 3 || trv_star_read(argv[1], &text) != 1)
        return fprintf(stderr, "mirror: there are no such chains\n"), 1;
    char *turned = malloc(2 * strlen(text) + 1), *written = NULL;
    if (!turned)
        return 1;
    turn(text, turned);
    setenv("XDG_CACHE_HOME", argv[2], 1);
    trv_star_write(argv[1], turned);
    bool there = trv_star_read(argv[1], &written) == 1 && strcmp(written, text) != 0;
    printf("%s%s", text, turned);
    free(text);
    free(turned);
    free(written);
    return there ? 0 : 1;
}
