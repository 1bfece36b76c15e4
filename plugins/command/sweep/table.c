// SPDX-License-Identifier: Apache-2.0
// Every row goes to the file in one write that ends with its line end: whatever ends the process, only the last line
// can be half a row.
#include "table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stiction/input.h>

#include "common/stream.h"

// -------------------------------------------------------------------------------------------------------------- texts

bool cli_texts_add(cli_texts *list, const char *text) {
    if (list->count == list->capacity) {
        int32_t capacity = 2 * list->capacity + 16;
        char **grown = realloc(list->items, (size_t)capacity * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        list->items = grown;
        list->capacity = capacity;
    }
    list->items[list->count] = strdup(text);
    return list->items[list->count] != NULL && ++list->count > 0;
}

int32_t cli_texts_find(const cli_texts *list, int32_t first, const char *text) {
    for (int32_t i = first; i < list->count; i++) {
        if (strcmp(list->items[i], text) == 0) {
            return i;
        }
    }
    return -1;
}

void cli_texts_clear(cli_texts *list) {
    for (int32_t i = 0; i < list->count; i++) {
        free(list->items[i]);
    }
    free(list->items);
    *list = (cli_texts){0};
}

// --------------------------------------------------------------------------------------------------------------- lines

static void put_line(FILE *to, const cli_texts *cells) {
    for (int32_t i = 0; i < cells->count; i++) {
        if (i > 0) {
            fputc(',', to);
        }
        // RFC 4180, but that a line end is a space: a row is a line.
        const char *text = cells->items[i];
        bool quoted = strpbrk(text, ",\"") != NULL;
        if (quoted) {
            fputc('"', to);
        }
        for (; *text != '\0'; text++) {
            if (*text == '"') {
                fputc('"', to);
            }
            fputc((unsigned char)*text < ' ' ? ' ' : *text, to);
        }
        if (quoted) {
            fputc('"', to);
        }
    }
    fputc('\n', to);
}

/// Takes quotes away in place; `*at` moves behind the cell and its comma, NULL at the end of the line.
static char *take_cell(char **at) {
    char *from = *at, *to = *at, *cell = *at;
    bool quoted = false;
    for (; *from != '\0' && (quoted || *from != ','); from++) {
        if (*from != '"') {
            *to++ = *from;
        } else if (quoted && from[1] == '"') {
            *to++ = *++from;
        } else {
            quoted = !quoted;
        }
    }
    *at = *from == ',' ? from + 1 : NULL;
    *to = '\0';
    return cell;
}

// ---------------------------------------------------------------------------------------------------------------- file

static const char *name_of(const cli_table *table) {
    return table->path != NULL ? table->path : "a temporary file";
}

static stn_status fail_file(const cli_table *table, const char *what, stn_error *err) {
    return stn_fail(err, STN_ERR_FILE, "%s: cannot be %s: %s", name_of(table), what, strerror(errno));
}

static stn_status no_memory(stn_error *err) {
    return stn_fail(err, STN_ERR_MEMORY, "out of memory");
}

/// For this process alone, where the file system can do that.
static stn_status lock(const cli_table *table, FILE *file, stn_error *err) {
    if (flock(fileno(file), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        return stn_fail(err, STN_ERR_FILE, "%s: another sweep is writing it; name another file", name_of(table));
    }
    return STN_OK;
}

/// The header that is there may have further columns, which rows brought.
static stn_status take_header(cli_table *table, const cli_texts *found, stn_error *err) {
    for (int32_t i = 0; i < table->fixed; i++) {
        if (i >= found->count || strcmp(found->items[i], table->columns.items[i]) != 0) {
            return stn_fail(
                err, STN_ERR_FILE,
                "%s: is not the table of this sweep: column %d is '%s' there and '%s' here; name another file",
                name_of(table), (int)i + 1, i < found->count ? found->items[i] : "", table->columns.items[i]);
        }
    }
    for (int32_t i = table->fixed; i < found->count; i++) {
        if (!cli_texts_add(&table->columns, found->items[i])) {
            return no_memory(err);
        }
    }
    return STN_OK;
}

/// Is the whole file, which has no end of a line, the beginning of this table's header?
static bool is_begun_header(const cli_table *table, bool *same) {
    char *header = NULL;
    size_t size = 0, at = 0;
    FILE *memory = open_memstream(&header, &size);
    if (memory == NULL) {
        return false;
    }
    put_line(memory, &table->columns);
    bool made = fclose(memory) == 0;
    rewind(table->file);
    *same = made;
    for (int c = fgetc(table->file); c != EOF && *same; c = fgetc(table->file), at++) {
        *same = at + 1 > size || c == (unsigned char)(at + 1 == size ? ',' : header[at]); // further columns may follow
    }
    free(header);
    return made && ferror(table->file) == 0;
}

/// Half a row, of a process that was ended. A whole file of half a line is a header that was not completed, or not
/// ours.
static stn_status repair_end(cli_table *table, long end, stn_error *err) {
    if (end > 0) {
        return ftruncate(fileno(table->file), end) == 0 ? STN_OK : fail_file(table, "written", err);
    }
    bool begun = false;
    if (!is_begun_header(table, &begun)) {
        return fail_file(table, "read", err);
    }
    if (!begun) {
        return stn_fail(err, STN_ERR_FILE, "%s: is not the table of a sweep; name another file", name_of(table));
    }
    rewind(table->file);
    if (ftruncate(fileno(table->file), 0) != 0) {
        return fail_file(table, "written", err);
    }
    put_line(table->file, &table->columns);
    return fflush(table->file) == 0 ? STN_OK : fail_file(table, "written", err);
}

/// The next line without its end in `*line`; `*more` is false at the end of the file, where half a row does not count.
static stn_status next_line(const cli_table *table, char **line, size_t *size, bool *more, stn_error *err) {
    errno = 0;
    ssize_t length = getline(line, size, table->file);
    *more = length > 0 && (*line)[length - 1] == '\n';
    if (*more) {
        (*line)[length - 1] = '\0';
        return STN_OK;
    }
    if (length <= 0 && feof(table->file) == 0) { // no memory for the line is no end of the file
        return errno == ENOMEM ? no_memory(err) : fail_file(table, "read", err);
    }
    return STN_OK;
}

/// Cells of a line, which is taken apart.
static bool take_cells(char *line, cli_texts *cells) {
    bool room = true;
    cli_texts_clear(cells);
    for (char *at = line; at != NULL && room;) {
        room = cli_texts_add(cells, take_cell(&at));
    }
    return room;
}

static stn_status check_count(const cli_table *table, int32_t row, const cli_texts *cells, stn_error *err) {
    return cells->count == table->columns.count
               ? STN_OK
               : stn_fail(err, STN_ERR_FILE, "%s:%d: has %d cells, its header %d; name another file", name_of(table),
                          (int)row + 2, (int)cells->count, (int)table->columns.count);
}

static stn_status read_rows(cli_table *table, cli_table_row *row, void *user, int32_t *rows, stn_error *err) {
    char *line = NULL;
    size_t size = 0;
    cli_texts cells = {0};
    stn_status status = STN_OK;
    *rows = -1; // the header is none
    rewind(table->file);
    for (bool more = true;; (*rows)++) {
        if (status >= 0) {
            status = next_line(table, &line, &size, &more, err);
        }
        if (status < 0 || !more) {
            break;
        }
        if (!take_cells(line, &cells)) {
            status = no_memory(err);
        } else if (*rows < 0) {
            status = table->columns.count == table->fixed ? take_header(table, &cells, err) : STN_OK;
        } else if (check_count(table, *rows, &cells, err) < 0) {
            status = STN_ERR_FILE;
        } else {
            status = row(user, *rows, &cells, err);
        }
    }
    cli_texts_clear(&cells);
    free(line);
    return status;
}

stn_status cli_table_read(cli_table *table, cli_table_row *row, void *user, stn_error *err) {
    int32_t rows;
    stn_status status = read_rows(table, row, user, &rows, err);
    fseek(table->file, 0, SEEK_END);
    return status;
}

stn_status cli_table_view(cli_table *table, const char *path, stn_error *err) {
    *table = (cli_table){.path = path};
    size_t size;
    int descriptor = stn_open_regular(path, 0, &size);
    table->file = descriptor >= 0 ? fdopen(descriptor, "r") : NULL;
    if (table->file == NULL) {
        int error = errno;
        if (descriptor >= 0) {
            close(descriptor);
        }
        return stn_fail(err, STN_ERR_FILE, "%s: cannot be read: %s", path,
                        error == EINVAL ? "it is no regular file" : strerror(error));
    }
    if (flock(fileno(table->file), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        return stn_fail(err, STN_ERR_FILE, "%s: a sweep is writing it; wait for its end", path);
    }
    bool more;
    table->rows = -1; // the header is none
    return cli_table_next(table, &table->columns, &more, err);
}

stn_status cli_table_next(cli_table *table, cli_texts *cells, bool *more, stn_error *err) {
    char *line = NULL;
    size_t size = 0;
    stn_status status = next_line(table, &line, &size, more, err);
    if (status >= 0 && *more) {
        status = take_cells(line, cells) ? STN_OK : no_memory(err);
        if (status >= 0 && table->rows >= 0) {
            status = check_count(table, table->rows, cells, err);
        }
        table->rows++;
    }
    free(line);
    return status;
}

stn_status cli_table_open(cli_table *table, const char *path, const cli_texts *columns, cli_table_row *row, void *user,
                          stn_error *err) {
    *table = (cli_table){.path = path, .fixed = columns->count};
    for (int32_t i = 0; i < columns->count; i++) {
        if (!cli_texts_add(&table->columns, columns->items[i])) {
            return no_memory(err);
        }
    }
    if (path == NULL) {
        table->file = tmpfile();
        if (table->file == NULL) {
            return fail_file(table, "made", err);
        }
    } else {
        struct stat what;
        if (stat(path, &what) == 0 && !S_ISREG(what.st_mode)) {
            return stn_fail(err, STN_ERR_FILE, "%s: cannot be written: it is not a regular file; name another", path);
        }
        int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        table->file = descriptor >= 0 ? fdopen(descriptor, "r+") : NULL;
        if (table->file == NULL && descriptor >= 0) {
            int error = errno;
            close(descriptor);
            errno = error;
        }
        stn_status status = table->file != NULL ? lock(table, table->file, err) : fail_file(table, "written", err);
        if (status < 0) {
            return status;
        }
    }
    // Nothing is changed before all of the file was accepted.
    long end = 0, at = 0; // of the last whole line
    rewind(table->file);
    for (int c = fgetc(table->file); c != EOF; c = fgetc(table->file)) {
        at++;
        end = c == '\n' ? at : end;
    }
    stn_status status = ferror(table->file) == 0 ? STN_OK : fail_file(table, "read", err);
    if (status >= 0 && end > 0) {
        status = read_rows(table, row, user, &table->rows, err);
    }
    if (status >= 0) {
        status = repair_end(table, end, err);
    }
    if (status >= 0) {
        fseek(table->file, 0, SEEK_END);
    }
    return status;
}

void cli_table_close(cli_table *table) {
    if (table->file != NULL) {
        fclose(table->file);
    }
    cli_texts_clear(&table->columns);
    *table = (cli_table){0};
}

// ---------------------------------------------------------------------------------------------------------------- rows

/// The rows again, under the header of now, with empty cells in the new columns.
static stn_status put_rows(cli_table *table, FILE *to, int32_t added, stn_error *err) {
    char *line = NULL;
    size_t size = 0;
    stn_status status = STN_OK;
    bool more = true;
    put_line(to, &table->columns);
    rewind(table->file);
    for (int32_t i = -1; i < table->rows; i++) {
        status = next_line(table, &line, &size, &more, err);
        if (status < 0 || !more) {
            break;
        }
        if (i < 0) {
            continue; // the old header
        }
        fputs(line, to);
        for (int32_t k = 0; k < added; k++) {
            fputc(',', to);
        }
        fputc('\n', to);
    }
    free(line);
    if (status >= 0 && !more) {
        status = stn_fail(err, STN_ERR_FILE, "%s: became shorter while it was written", name_of(table));
    }
    if (status < 0) {
        return status;
    }
    return ferror(table->file) == 0 && fflush(to) == 0 && ferror(to) == 0 ? STN_OK : fail_file(table, "written", err);
}

/// A file with `added` columns more takes the place of the one that is there; locked like that.
static stn_status widen(cli_table *table, int32_t added, stn_error *err) {
    stn_output output = {.descriptor = -1};
    FILE *file = NULL;
    stn_status status = STN_OK;
    if (table->path == NULL) {
        file = tmpfile();
    } else {
        status = stn_output_open(table->path, STN_OUTPUT_WHOLE, &output, err);
        if (status != STN_OK) {
            return status;
        }
        file = cli_stream_of(&output);
    }
    status = file != NULL ? lock(table, file, err) : fail_file(table, "written", err);
    if (status >= 0) {
        status = put_rows(table, file, added, err);
    }
    if (output.descriptor >= 0) {
        stn_status ended = stn_output_close(&output, status >= 0 ? STN_OUTPUT_KEEP : STN_OUTPUT_DROP, err);
        status = status >= 0 ? ended : status;
    }
    if (status < 0) {
        if (file != NULL) {
            fclose(file);
        }
        return status;
    }
    fclose(table->file);
    table->file = file;
    return STN_OK;
}

void cli_table_cells_clear(cli_table_cells *cells) {
    cli_texts_clear(&cells->fixed);
    cli_texts_clear(&cells->names);
    cli_texts_clear(&cells->values);
}

stn_status cli_table_add(cli_table *table, const cli_table_cells *cells, stn_error *err) {
    const cli_texts *names = &cells->names;
    struct stat named, open;
    bool in_place = table->path == NULL || (stat(table->path, &named) == 0 && fstat(fileno(table->file), &open) == 0 &&
                                            named.st_dev == open.st_dev && named.st_ino == open.st_ino);
    if (!in_place) { // rows of a file that was removed would be nobody's
        return stn_fail(err, STN_ERR_FILE, "%s: was removed or replaced while it was written", name_of(table));
    }
    int32_t before = table->columns.count;
    for (int32_t i = 0; i < names->count; i++) {
        if (cli_texts_find(&table->columns, table->fixed, names->items[i]) < 0 &&
            !cli_texts_add(&table->columns, names->items[i])) {
            return no_memory(err);
        }
    }
    if (table->columns.count > before) {
        stn_status status = widen(table, table->columns.count - before, err);
        if (status < 0) {
            return status;
        }
    }
    cli_texts row = {0};
    bool room = true;
    for (int32_t i = 0; i < table->columns.count && room; i++) {
        const char *text = i < table->fixed ? cells->fixed.items[i] : "";
        int32_t at = i < table->fixed ? -1 : cli_texts_find(names, 0, table->columns.items[i]);
        room = cli_texts_add(&row, at >= 0 ? cells->values.items[at] : text);
    }
    char *line = NULL;
    size_t size = 0;
    FILE *memory = room ? open_memstream(&line, &size) : NULL;
    if (memory != NULL) {
        put_line(memory, &row);
    }
    bool made = memory != NULL && fclose(memory) == 0;
    bool written = made && fwrite(line, 1, size, table->file) == size && fflush(table->file) == 0; // one write
    stn_status status = written ? STN_OK : made ? fail_file(table, "written", err) : no_memory(err);
    table->rows += written;
    free(line);
    cli_texts_clear(&row);
    return status;
}

bool cli_table_copy(cli_table *table, FILE *to) {
    char bytes[4096];
    rewind(table->file);
    for (size_t size = fread(bytes, 1, sizeof bytes, table->file); size > 0;
         size = fread(bytes, 1, sizeof bytes, table->file)) {
        fwrite(bytes, 1, size, to);
    }
    fseek(table->file, 0, SEEK_END);
    return fflush(to) == 0 && ferror(to) == 0;
}
