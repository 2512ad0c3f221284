/*
 * Star chains that are known. Generated; do not edit.
 */
#include "stars/store.h"

const trv_star_row_t trv_star_table[] = {
    {0, 0},
};
