// SPDX-License-Identifier: Apache-2.0
// The list of findings about a file. Counting never fails, keeping may: an error without memory for its text still
// counts as one.
#include <stdio.h>
#include <string.h>

#include <stiction/loader.h>

enum { ERRORS_KEPT = 100, OTHERS_KEPT = 1000, LONGEST_TEXT = 1024 };

void stn_diagnostics_init(stn_diagnostics *list, stn_context *context) {
    *list = (stn_diagnostics){.context = context};
}

void stn_diagnostics_clear(stn_diagnostics *list) {
    for (int32_t i = 0; i < list->count; i++) {
        // The four texts of an item are one block that begins with the file's name.
        stn_release(list->context, (void *)(uintptr_t)list->items[i].file);
    }
    stn_release(list->context, list->items);
    stn_diagnostics_init(list, list->context);
}

/// Appends `text` with its zero, without line ends or other control characters (one finding is one line), and with '?'
/// for bytes that are not UTF-8.
static const char *append_line(char **end, const char *text) {
    char *start = *end;
    while (*text != '\0') {
        size_t length = stn_utf8_length(text);
        unsigned char c = (unsigned char)*text;
        // One of U+0080 to U+009F: a terminal may take them for the beginning of a command, as it takes escape.
        if (length == 2 && c == 0xc2 && (unsigned char)text[1] < 0xa0) {
            **end = ' ';
            *end += 1;
            text += length;
            continue;
        }
        if (length > 1) {
            memcpy(*end, text, length);
        } else {
            **end = (char)(length == 0 ? '?' : c < 0x20 || c == 0x7f ? ' ' : c);
            length = 1;
        }
        *end += length;
        text += length;
    }
    *(*end)++ = '\0';
    return start;
}

/// Without memory for it nothing is kept.
static void keep(stn_diagnostics *list, stn_diagnostic item) {
    if (list->count == list->capacity) {
        int32_t capacity = list->capacity == 0 ? 16 : 2 * list->capacity;
        stn_diagnostic *items =
            stn_reallocate(list->context, list->items, (size_t)list->capacity, (size_t)capacity, sizeof *items);
        if (items == NULL) {
            return;
        }
        list->items = items;
        list->capacity = capacity;
    }
    size_t size = strlen(item.file) + strlen(item.code) + strlen(item.where) + strlen(item.text) + 4;
    char *end = stn_allocate(list->context, size, 1);
    if (end == NULL) {
        return;
    }
    item.file = append_line(&end, item.file);
    item.code = append_line(&end, item.code);
    item.where = append_line(&end, item.where);
    item.text = append_line(&end, item.text);
    list->items[list->count++] = item;
}

void stn_diagnostics_add(stn_diagnostics *list, stn_severity severity, const char *code, const char *file, int32_t line,
                         const char *element, const char *format, ...) {
    list->error_count += severity == STN_SEVERITY_ERROR;
    list->warning_count += severity == STN_SEVERITY_WARNING;
    int32_t errors_kept = list->error_count < ERRORS_KEPT ? list->error_count : ERRORS_KEPT;
    bool wanted =
        severity == STN_SEVERITY_ERROR ? list->error_count <= ERRORS_KEPT : list->count - errors_kept < OTHERS_KEPT;
    if (!wanted) {
        return;
    }
    char text[LONGEST_TEXT];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof text) { // cut: it must not stop inside a UTF-8 character
        size_t whole = strlen(text), start = whole;
        while (start > 0 && whole - start < 4 && ((unsigned char)text[start - 1] & 0xc0) == 0x80) {
            start--;
        }
        if (start > 0 && ((unsigned char)text[start - 1] & 0xc0) == 0xc0) {
            text[start - 1] = '\0';
        }
    }
    keep(list, (stn_diagnostic){.severity = severity,
                                .code = code != NULL ? code : "",
                                .file = file != NULL ? file : "",
                                .line = line,
                                .where = element != NULL ? element : "",
                                .text = length < 0 ? "" : text});
}

stn_status stn_diagnostics_status(const stn_diagnostics *list, stn_error *err) {
    if (list->error_count == 0) {
        return STN_OK;
    }
    const stn_diagnostic *first = NULL;
    for (int32_t i = 0; i < list->count && first == NULL; i++) {
        first = list->items[i].severity == STN_SEVERITY_ERROR ? &list->items[i] : NULL;
    }
    if (first == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory while reporting %d errors", (int)list->error_count);
    }
    char line[16] = "", more[32] = "";
    if (first->line > 0) {
        snprintf(line, sizeof line, ":%d", (int)first->line);
    }
    if (list->error_count > 1) {
        snprintf(more, sizeof more, " (and %d more)", (int)list->error_count - 1);
    }
    const char *colon = first->where[0] != '\0' ? ": " : "";
    // The text gives way, so that the count at its end survives in a buffer of fixed size.
    return stn_fail(err, STN_ERR_PARSE, "%.400s%s: %.200s%s%.350s%s", first->file, line, first->where, colon,
                    first->text, more);
}
