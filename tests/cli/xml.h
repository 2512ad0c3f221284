/*
 * Checks whether a text is well-formed XML of the subset that the pictures use: elements, attributes, text, and
 * references to the five predefined entities. Returns NULL, or a description of the error.
 */
#ifndef TRIVANCE_TESTS_XML_H
#define TRIVANCE_TESTS_XML_H

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define XML_DEPTH_MAX 32

static const char *xml_reference(const char **p)
{
    static const char *const name[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
    for (int i = 0; i < 5; i++)
        if (strncmp(*p, name[i], strlen(name[i])) == 0) {
            *p += strlen(name[i]);
            return NULL;
        }
    return "an ampersand that is no reference";
}

static const char *xml_attributes(const char **p)
{
    while (isspace((unsigned char)**p)) {
        while (isspace((unsigned char)**p))
            ++*p;
        if (**p == '/' || **p == '>')
            return NULL;
        const char *name = *p;
        while (isalnum((unsigned char)**p) || **p == '-' || **p == ':')
            ++*p;
        if (*p == name || strncmp(*p, "=\"", 2) != 0)
            return "an attribute without name or value";
        for (*p += 2; **p && **p != '"';) {
            const char *error = **p == '<' ? "a < in an attribute" : **p == '&' ? xml_reference(p) : NULL;
            if (error)
                return error;
            if (**p != '&')
                ++*p;
        }
        if (!**p)
            return "an attribute without end";
        ++*p;
    }
    return NULL;
}

static const char *xml_check(const char *text)
{
    char open[XML_DEPTH_MAX][32];
    int depth = 0, roots = 0;
    const char *p = text;
    while (*p) {
        const char *error = NULL;
        if (*p == '&') {
            error = xml_reference(&p);
        } else if (*p == '>') {
            return "a > outside of a tag";
        } else if (*p != '<') {
            if (depth == 0 && !isspace((unsigned char)*p))
                return "text outside of the root";
            p++;
        } else {
            int closing = p[1] == '/', length = 0;
            p += 1 + closing;
            while (isalnum((unsigned char)p[length]))
                length++;
            if (length == 0 || length > 31)
                return "a tag without name";
            if (closing) {
                if (depth == 0 || (int)strlen(open[depth - 1]) != length ||
                    strncmp(open[depth - 1], p, (size_t)length) != 0)
                    return "an end tag that fits no start tag";
                depth--;
                p += length;
            } else {
                if (depth == XML_DEPTH_MAX || (depth == 0 && roots++ > 0))
                    return "too deep, or a second root";
                snprintf(open[depth++], 32, "%.*s", length, p);
                p += length;
                error = xml_attributes(&p);
                if (!error && *p == '/') {
                    depth--;
                    p++;
                }
            }
            if (!error && *p++ != '>')
                return "a tag without end";
        }
        if (error)
            return error;
    }
    return depth ? "an element without end" : roots == 1 ? NULL : "no root";
}

#endif
