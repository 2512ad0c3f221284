/*
 * Tags of XML files, one after another: elements and attributes, comments, a declaration. Text between tags must be
 * blank, and references (&amp;) in values are left as they are.
 */
#ifndef TRIVANCE_FORMATS_XML_H
#define TRIVANCE_FORMATS_XML_H

#include <stdbool.h>
#include <stdint.h>

#define XML_ATTRIBUTES_MAX 24

typedef struct xml {
    const char *file; /* its name for error messages */
    char *at;         /* the position in the text, which the reader modifies */
    int line;
} xml_t;

typedef struct xml_tag {
    const char *name, *key[XML_ATTRIBUTES_MAX], *value[XML_ATTRIBUTES_MAX];
    int attributes;
    bool closing, empty; /* </name>, <name/> */
} xml_tag_t;

/* Reads the next tag. Returns 1; 0 at the end of the text; or TRV_ERR_INVALID with the line and the fault. */
int trv_xml_next(xml_t *xml, xml_tag_t *tag);
/* Returns TRV_ERR_INVALID, and sets an error message prefixed with the file and line. */
int trv_xml_fail(const xml_t *xml, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns the value of the attribute `key`, or NULL. */
const char *trv_xml_text(const xml_tag_t *tag, const char *key);
/* Reads the attribute `key`, which must exist and be an integer from min to max. */
int trv_xml_integer(const xml_t *xml, const xml_tag_t *tag, const char *key, int64_t min, int64_t max, int *value);

#endif
