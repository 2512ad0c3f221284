/*
 * Reads the tags of an XML text in place: a zero replaces the quote or blank after a name or value.
 */
#include "formats/xml.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"

#define BLANK " \t\r\n"
#define NAME  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:"

int trv_xml_fail(const xml_t *xml, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    trv_vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return trv_fail(TRV_ERR_INVALID, "%.200s:%d: %s", xml->file, xml->line, text);
}

static void skip(xml_t *xml, size_t length)
{
    for (; length > 0; length--)
        xml->line += *xml->at++ == '\n';
}

static void skip_blank(xml_t *xml) { skip(xml, strspn(xml->at, BLANK)); }

/* Moves past the next `end`; returns false if it is missing. */
static bool skip_past(xml_t *xml, const char *end)
{
    const char *found = strstr(xml->at, end);
    skip(xml, found ? (size_t)(found - xml->at) + strlen(end) : strlen(xml->at));
    return found != NULL;
}

static int read_attribute(xml_t *xml, xml_tag_t *tag)
{
    const size_t length = strspn(xml->at, NAME);
    char *key = xml->at;
    if (length == 0 || tag->attributes == XML_ATTRIBUTES_MAX)
        return trv_xml_fail(xml, length ? "there are more than %d attributes" : "a tag must end with > or />",
                            XML_ATTRIBUTES_MAX);
    skip(xml, length);
    char *key_end = xml->at;
    skip_blank(xml);
    const bool equals = *xml->at == '=';
    skip(xml, equals);
    skip_blank(xml);
    const char quote[] = {*xml->at, '\0'};
    if (!equals || !strchr("\"'", quote[0]) || !quote[0])
        return trv_xml_fail(xml, "the attribute %.*s has no value in quotes", (int)length, key);
    skip(xml, 1);
    char *value = xml->at;
    skip(xml, strcspn(xml->at, quote));
    if (!*xml->at)
        return trv_xml_fail(xml, "the value of %.*s has no closing quote", (int)length, key);
    *key_end = *xml->at = '\0';
    xml->at++;
    if (trv_xml_text(tag, key))
        return trv_xml_fail(xml, "the attribute %s appears twice", key);
    tag->key[tag->attributes] = key;
    tag->value[tag->attributes++] = value;
    return TRV_OK;
}

/* Reads a tag after its <. */
static int read_tag(xml_t *xml, xml_tag_t *tag)
{
    tag->closing = *xml->at == '/';
    skip(xml, tag->closing);
    char *name = xml->at;
    const size_t length = strspn(name, NAME);
    if (length == 0)
        return trv_xml_fail(xml, "a tag has no name");
    skip(xml, length);
    while (skip_blank(xml), *xml->at && !strchr("/>", *xml->at)) {
        int rc = read_attribute(xml, tag);
        if (rc)
            return rc;
    }
    tag->empty = *xml->at == '/';
    skip(xml, tag->empty);
    if (*xml->at != '>')
        return trv_xml_fail(xml, "the tag <%.*s has no closing >", (int)length, name);
    name[length] = *xml->at = '\0'; /* ends the name if no blank follows it */
    xml->at++;
    tag->name = name;
    return 1;
}

int trv_xml_next(xml_t *xml, xml_tag_t *tag)
{
    *tag = (xml_tag_t){.attributes = 0};
    for (;;) {
        skip_blank(xml);
        if (!*xml->at)
            return 0;
        if (*xml->at != '<')
            return trv_xml_fail(xml, "there is text outside of tags: '%.20s'", xml->at);
        const bool comment = strncmp(xml->at, "<!--", 4) == 0, declaration = strncmp(xml->at, "<?", 2) == 0;
        if (!comment && !declaration)
            break;
        if (!skip_past(xml, comment ? "-->" : "?>"))
            return trv_xml_fail(xml, "a comment or declaration is not closed");
    }
    skip(xml, 1);
    return read_tag(xml, tag);
}

const char *trv_xml_text(const xml_tag_t *tag, const char *key)
{
    for (int i = 0; i < tag->attributes; i++)
        if (strcmp(tag->key[i], key) == 0)
            return tag->value[i];
    return NULL;
}

int trv_xml_integer(const xml_t *xml, const xml_tag_t *tag, const char *key, int64_t min, int64_t max, int *value)
{
    const char *text = trv_xml_text(tag, key);
    char *end;
    if (!text)
        return trv_xml_fail(xml, "<%.40s> has no attribute %s", tag->name, key);
    const long long number = strtoll(text, &end, 10);
    if (!*text || *end || number < min || number > max)
        return trv_xml_fail(xml, "%s=\"%.40s\" is not a whole number from %lld to %lld", key, text, (long long)min,
                            (long long)max);
    *value = (int)number;
    return TRV_OK;
}
