/*
 * Search for the known name that is nearest to an unknown one, by edit distance.
 */
#include <string.h>

#include "base/text/nearest.h"

/* Levenshtein distance, with a swap of adjacent characters as one edit. Names are truncated to 64 characters. */
static int edit_distance(const char *a, const char *b)
{
    int row[3][65];
    int length_a = (int)strnlen(a, 64), length_b = (int)strnlen(b, 64);
    for (int j = 0; j <= length_b; j++)
        row[0][j] = j;
    for (int i = 1; i <= length_a; i++) {
        int *now = row[i % 3], *before = row[(i + 2) % 3], *earlier = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= length_b; j++) {
            int min = before[j - 1] + (a[i - 1] != b[j - 1]);
            if (before[j] + 1 < min)
                min = before[j] + 1;
            if (now[j - 1] + 1 < min)
                min = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && earlier[j - 2] + 1 < min)
                min = earlier[j - 2] + 1;
            now[j] = min;
        }
    }
    return row[length_a % 3][length_b];
}

const char *trv_nearest(const char *text, const char *const *name, int count)
{
    const char *best = NULL;
    int min = 0;
    for (int i = 0; i < count; i++) {
        int distance = edit_distance(text, name[i]);
        if (strlen(text) >= 2 && strncmp(text, name[i], strlen(text)) == 0)
            distance = 0; /* a prefix is nearer than any other text */
        if (!best || distance < min) {
            best = name[i];
            min = distance;
        }
    }
    int allowed = (int)strlen(text) / 3; /* a third of the characters differ at most */
    return best && min <= (allowed < 4 ? allowed : 4) ? best : NULL;
}
