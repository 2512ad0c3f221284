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
    const char *file; /* its name in sentences */
    char *at;         /* in a text that the reader cuts up */
    int line;
} xml_t;

typedef struct xml_tag {
    const char *name, *key[XML_ATTRIBUTES_MAX], *value[XML_ATTRIBUTES_MAX];
    int attributes;
    bool closing, empty; /* </name>, <name/> */
} xml_tag_t;

/* 1: the next tag; 0: the end of the text; TRV_ERR_INVALID with the line and what is wrong. */
int trv_xml_next(xml_t *xml, xml_tag_t *tag);
/* TRV_ERR_INVALID with the place before the sentence. */
int trv_xml_fail(const xml_t *xml, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The value at `key`, or NULL. */
const char *trv_xml_text(const xml_tag_t *tag, const char *key);
/* The value at `key`, which must be a whole number from min to max; where there is none it fails. */
int trv_xml_integer(const xml_t *xml, const xml_tag_t *tag, const char *key, int64_t min, int64_t max, int *value);

#endif
