// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

stn_status table_open(table *t, const char *path, int32_t digits, stn_error *err) {
    *t = (table){.path = strdup(path), .digits = digits};
    if (t->path == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", path);
    }
    t->room = 1 << 16;
    t->text = malloc(t->room);
    stn_status status = t->text != NULL ? stn_output_open(path, STN_OUTPUT_STREAM, &t->output, err)
                                        : stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", path);
    if (status != STN_OK) {
        free(t->text);
        free(t->path);
        *t = (table){0};
    }
    return status;
}

stn_status table_flush(table *t, stn_error *err) {
    const size_t size = t->used;
    t->used = 0;
    if (t->lost) {
        t->lost = false;
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", t->path);
    }
    return stn_output_append(&t->output, t->path, t->text, size, err);
}

stn_status table_close(table *t, stn_output_end end, bool said, stn_error *err) {
    if (t->text == NULL) {
        return STN_OK;
    }
    const stn_status flushed = table_flush(t, said ? NULL : err); // a head that no row followed
    end = flushed != STN_OK && end == STN_OUTPUT_KEEP ? STN_OUTPUT_LEAVE : end;
    const stn_status closed = stn_output_close(&t->output, end, said || flushed != STN_OK ? NULL : err);
    free(t->text);
    free(t->path);
    *t = (table){0};
    return said ? STN_OK : flushed != STN_OK ? flushed : closed;
}

// ----------------------------------------------------------------------------------------------------------- fields

/// Where `size` more characters go; NULL: no memory, the next flush says so.
static char *reserve(table *t, size_t size) {
    if (size > t->room - t->used) {
        const size_t room = 2 * t->room + size;
        char *text = realloc(t->text, room);
        if (text == NULL) {
            t->lost = true;
            return NULL;
        }
        t->text = text;
        t->room = room;
    }
    return t->text + t->used;
}

static void put(table *t, const char *text, size_t size) {
    char *at = reserve(t, size);
    if (at != NULL) {
        memcpy(at, text, size);
        t->used += size;
    }
}

void table_put(table *t, const char *text) {
    put(t, text, strlen(text));
}

void table_whole(table *t, int64_t value) {
    char text[24];
    put(t, text, (size_t)snprintf(text, sizeof text, "%lld", (long long)value));
}

void table_number(table *t, double value) {
    enum { LONGEST = 40 };
    char *at = reserve(t, LONGEST);
    if (at == NULL) {
        return;
    }
    *at = ',';
    t->used += 1;
    if (!isnan(value)) {
        t->used += t->digits == 17 ? stn_print_real(at + 1, LONGEST - 1, value)
                                   : stn_print_rounded(at + 1, LONGEST - 1, value, t->digits);
    }
}

static bool needs_quotes(const char *text) {
    return strpbrk(text, ",\"\r\n") != NULL;
}

static void put_name(table *t, const char *text, bool quoted) {
    for (; *text != '\0'; text++) {
        if (quoted && *text == '"') {
            put(t, text, 1);
        }
        put(t, text, 1);
    }
}

void table_text(table *t, const char *text) {
    bool quoted = needs_quotes(text);
    table_put(t, quoted ? ",\"" : ",");
    put_name(t, text, quoted);
    table_put(t, quoted ? "\"" : "");
}

void table_column(table *t, column c) {
    bool quoted = needs_quotes(c.name) || needs_quotes(c.qualifier);
    bool bracketed = c.letter[0] != '\0';
    table_put(t, quoted ? ",\"" : ",");
    table_put(t, c.letter);
    table_put(t, bracketed ? "[" : "");
    put_name(t, c.qualifier, quoted);
    table_put(t, c.qualifier[0] != '\0' ? "/" : "");
    put_name(t, c.name, quoted);
    table_put(t, bracketed ? "]" : "");
    table_put(t, c.part[0] != '\0' ? "." : "");
    table_put(t, c.part);
    table_put(t, quoted ? "\"" : "");
}

void table_output_name(const stn_constraint_output *told, int32_t element, char text[96]) {
    char unit[24] = "";
    int32_t length = 0;
    for (const char *u = told->unit; strcmp(told->unit, "1") != 0 && *u != '\0' && length < 20; u++) {
        length += *u != ' ' ? snprintf(unit + length, sizeof unit - (size_t)length, length == 0 ? "_%c" : "%c", *u) : 0;
    }
    (void)snprintf(text, 96, told->size > 1 ? "%.60s%s_%d" : "%.60s%s", told->name, unit, (int)element + 1);
}
