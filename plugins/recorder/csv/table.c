// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "table.h"

FILE *table_stream(const stn_output *output) {
    int descriptor = fcntl(output->descriptor, F_DUPFD_CLOEXEC, 0);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (file == NULL && descriptor >= 0) {
        close(descriptor);
    }
    return file;
}

static stn_status failed(const table *t, stn_error *err) {
    return stn_fail(err, STN_ERR_FILE, "%s: cannot be written: %s", t->path, strerror(errno));
}

stn_status table_open(table *t, const char *path, int32_t digits, stn_error *err) {
    *t = (table){.path = strdup(path), .digits = digits};
    if (t->path == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", path);
    }
    stn_status status = stn_output_open(path, STN_OUTPUT_STREAM, &t->output, err);
    if (status == STN_OK) {
        t->file = table_stream(&t->output);
        if (t->file == NULL) {
            status = failed(t, err);
            stn_output_close(&t->output, STN_OUTPUT_DROP, NULL);
        }
    }
    if (status != STN_OK) {
        free(t->path);
        *t = (table){0};
        return status;
    }
    setvbuf(t->file, NULL, _IOFBF, 1 << 16);
    return STN_OK;
}

stn_status table_flush(table *t, stn_error *err) {
    if (fflush(t->file) != 0 || ferror(t->file)) { // what was written of a row that did not fit is dropped
        char remains[STN_OUTPUT_PATH + 80];
        stn_status status = stn_fail(err, STN_ERR_FILE, "%s: cannot be written: %s%s", t->path, strerror(errno),
                                     stn_output_remains(&t->output, remains, sizeof remains));
        __fpurge(t->file);                               // or closing would try the rest of the row again
        if (ftruncate(fileno(t->file), t->whole) == 0) { // a device cannot be cut
            lseek(fileno(t->file), t->whole, SEEK_SET);
        }
        return status;
    }
    t->whole = ftello(t->file);
    return STN_OK;
}

stn_status table_close(table *t, stn_output_end end, bool said, stn_error *err) {
    if (t->file == NULL) {
        return STN_OK;
    }
    bool bad = ferror(t->file) != 0;
    bad = fclose(t->file) != 0 || bad;
    stn_status status = bad && !said ? failed(t, err) : STN_OK;
    said = said || status != STN_OK;
    end = bad && end == STN_OUTPUT_KEEP ? STN_OUTPUT_LEAVE : end;
    stn_status closed = stn_output_close(&t->output, end, said ? NULL : err);
    free(t->path);
    *t = (table){0};
    return status != STN_OK || said ? status : closed;
}

// ----------------------------------------------------------------------------------------------------------- fields

void table_number(const table *t, double value) {
    char text[40] = ",";
    size_t length = 1;
    if (!isnan(value)) {
        length += t->digits == 17 ? stn_print_real(text + 1, sizeof text - 1, value)
                                  : stn_print_rounded(text + 1, sizeof text - 1, value, t->digits);
    }
    fwrite_unlocked(text, 1, length, t->file);
}

static bool needs_quotes(const char *text) {
    return strpbrk(text, ",\"\r\n") != NULL;
}

static void put_name(FILE *file, const char *text, bool quoted) {
    for (; *text != '\0'; text++) {
        if (quoted && *text == '"') {
            fputc('"', file);
        }
        fputc(*text, file);
    }
}

void table_text(const table *t, const char *text) {
    bool quoted = needs_quotes(text);
    fputs(quoted ? ",\"" : ",", t->file);
    put_name(t->file, text, quoted);
    fputs(quoted ? "\"" : "", t->file);
}

void table_column(const table *t, column c) {
    bool quoted = needs_quotes(c.name) || needs_quotes(c.qualifier);
    bool bracketed = c.letter[0] != '\0';
    fprintf(t->file, ",%s%s%s", quoted ? "\"" : "", c.letter, bracketed ? "[" : "");
    put_name(t->file, c.qualifier, quoted);
    fputs(c.qualifier[0] != '\0' ? "/" : "", t->file);
    put_name(t->file, c.name, quoted);
    fprintf(t->file, "%s%s%s%s", bracketed ? "]" : "", c.part[0] != '\0' ? "." : "", c.part, quoted ? "\"" : "");
}

void table_output_name(const stn_constraint_output *told, int32_t element, char text[96]) {
    char unit[24] = "";
    int32_t length = 0;
    for (const char *u = told->unit; strcmp(told->unit, "1") != 0 && *u != '\0' && length < 20; u++) {
        length += *u != ' ' ? snprintf(unit + length, sizeof unit - (size_t)length, length == 0 ? "_%c" : "%c", *u) : 0;
    }
    (void)snprintf(text, 96, told->size > 1 ? "%.60s%s_%d" : "%.60s%s", told->name, unit, (int)element + 1);
}
