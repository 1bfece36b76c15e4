// SPDX-License-Identifier: Apache-2.0
// XML as text. What has a meaning in XML is written as an entity, and so are line ends and tabulators, which a reader
// of attributes may turn into spaces.
#include "xml_writer.h"

#include <string.h>

static void put(xml_writer *w, const char *bytes, size_t count) {
    if (w->out_of_memory) {
        return;
    }
    if (w->capacity - w->length <= count) {
        size_t capacity = 2 * w->capacity + count + 4096;
        char *text = stn_reallocate(w->context, w->text, w->capacity, capacity, 1);
        if (text == NULL) {
            w->out_of_memory = true;
            return;
        }
        w->text = text;
        w->capacity = capacity;
    }
    memcpy(w->text + w->length, bytes, count);
    w->length += count;
}

static void put_word(xml_writer *w, const char *word) {
    put(w, word, strlen(word));
}

static void put_escaped(xml_writer *w, const char *text) {
    static const char *const entities[] = {['&'] = "&amp;",  ['<'] = "&lt;",   ['>'] = "&gt;", ['"'] = "&quot;",
                                           ['\n'] = "&#10;", ['\r'] = "&#13;", ['\t'] = "&#9;"};
    for (const char *c = text; *c != '\0'; c++) {
        size_t code = (unsigned char)*c;
        const char *entity = code < sizeof entities / sizeof *entities ? entities[code] : NULL;
        if (entity != NULL) {
            put_word(w, entity);
        } else {
            put(w, c, 1);
        }
    }
}

static void put_numbers(xml_writer *w, const double *values, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        char number[40];
        put(w, " ", i > 0);
        put(w, number, stn_print_real(number, sizeof number, values[i] + 0.0)); // no "-0"
    }
}

static void put_line(xml_writer *w) {
    if (w->length > 0) {
        put(w, "\n", 1);
    }
    for (int32_t i = 0; i < w->depth; i++) {
        put(w, "  ", 2);
    }
}

static void close_tag(xml_writer *w) {
    if (w->in_tag) {
        put(w, ">", 1);
    }
    w->in_tag = false;
}

void xml_begin(xml_writer *w, const char *name) {
    if (w->length == 0) {
        put_word(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    }
    close_tag(w);
    put_line(w);
    put(w, "<", 1);
    put_word(w, name);
    if (w->depth < XML_DEEPEST) {
        w->open[w->depth] = name;
    } else {
        w->too_deep = true;
    }
    w->depth++;
    w->in_tag = true;
    w->has_text = false;
}

void xml_end(xml_writer *w) {
    w->depth--;
    if (w->in_tag) {
        put_word(w, "/>");
    } else {
        if (!w->has_text) {
            put_line(w);
        }
        put_word(w, "</");
        put_word(w, w->depth < XML_DEEPEST ? w->open[w->depth] : "");
        put(w, ">", 1);
    }
    w->in_tag = w->has_text = false;
}

void xml_put_text(xml_writer *w, const char *attribute, const char *text) {
    put(w, " ", 1);
    put_word(w, attribute);
    put_word(w, "=\"");
    put_escaped(w, text);
    put(w, "\"", 1);
}

void xml_put_reals(xml_writer *w, const char *attribute, const double *values, int32_t count) {
    put(w, " ", 1);
    put_word(w, attribute);
    put_word(w, "=\"");
    put_numbers(w, values, count);
    put(w, "\"", 1);
}

void xml_put_real(xml_writer *w, const char *attribute, double value) {
    xml_put_reals(w, attribute, &value, 1);
}

void xml_inside_text(xml_writer *w, const char *text) {
    close_tag(w);
    put_escaped(w, text);
    w->has_text = true;
}

void xml_inside_reals(xml_writer *w, const double *values, int32_t count) {
    close_tag(w);
    put_numbers(w, values, count);
    w->has_text = true;
}

void xml_text_element(xml_writer *w, const char *name, const char *text) {
    xml_begin(w, name);
    xml_inside_text(w, text);
    xml_end(w);
}

void xml_reals_element(xml_writer *w, const char *name, const double *values, int32_t count) {
    xml_begin(w, name);
    xml_inside_reals(w, values, count);
    xml_end(w);
}

void xml_real_element(xml_writer *w, const char *name, double value) {
    xml_reals_element(w, name, &value, 1);
}

stn_status xml_finish(xml_writer *w, char **text, size_t *length, stn_error *err) {
    put(w, "\n", 2); // with the zero at its end
    if (w->out_of_memory || w->too_deep) {
        stn_release(w->context, w->text);
        w->text = NULL;
        return w->out_of_memory ? stn_fail(err, STN_ERR_MEMORY, "out of memory for a text of %zu bytes", w->length)
                                : stn_fail(err, STN_ERR_UNSUPPORTED,
                                           "its elements nest deeper than the %d levels that are read", XML_DEEPEST);
    }
    *text = w->text;
    *length = w->length - 1;
    return STN_OK;
}

bool xml_cannot_hold(const char *text) {
    for (const char *c = text; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 && strchr("\t\n\r", *c) == NULL) {
            return true;
        }
    }
    return false;
}
