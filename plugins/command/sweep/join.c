// SPDX-License-Identifier: Apache-2.0
// Run r is in the table of shard r mod N + 1, in which rows rise: one pass over all of them makes the rows in order.
// New columns come in the order of one machine's table: a column that is new to the whole at a row is new to that
// row's own table there too, and such ones stand in the order in which the row brought them.
#include "join.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/stream.h"
#include "run.h"

/// The columns that tell what a table belongs to, among its first ones.
enum { SHARD = 1, RUNS, SWEEP };

typedef struct part {
    cli_table table;
    cli_texts first, cells; // its first row, by which it is known; the row that is due
    bool more;              // there is one
    int32_t script;         // column of the script's hash
} part;

typedef struct join {
    cli_texts paths;
    part *parts;       // (path_count) in their order
    int32_t *of_shard; // (shards) index of a part, -1: none
    int32_t shards, runs;
    const part *known; // the first one that has a row
} join;

// --------------------------------------------------------------------------------------------------------------- paths

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool add_file(cli_texts *paths, const char *folder, const char *name) {
    char *path = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&path, &size);
    if (memory == NULL) {
        return false;
    }
    fprintf(memory, "%s/%s", folder, name);
    bool added = fclose(memory) == 0 && cli_texts_add(paths, path);
    free(path);
    return added;
}

static stn_status add_folder(cli_texts *paths, const char *folder, stn_error *err) {
    DIR *open = opendir(folder);
    if (open == NULL) {
        return stn_fail(err, STN_ERR_FILE, "%s: cannot be read: %s", folder, strerror(errno));
    }
    int32_t before = paths->count;
    bool room = true;
    for (const struct dirent *entry = readdir(open); entry != NULL && room; entry = readdir(open)) {
        room = !cli_ends_with(entry->d_name, ".csv") || add_file(paths, folder, entry->d_name);
    }
    closedir(open);
    if (!room) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    if (paths->count == before) {
        return stn_fail(err, STN_ERR_FILE, "%s: there is no .csv file in it", folder);
    }
    qsort(paths->items + before, (size_t)(paths->count - before), sizeof *paths->items, compare_texts);
    return STN_OK;
}

static stn_status list_paths(const cli_list *given, cli_texts *paths, stn_error *err) {
    stn_status status = STN_OK;
    for (int32_t i = 0; i < given->count && status >= 0; i++) {
        struct stat what;
        if (stat(given->items[i], &what) == 0 && S_ISDIR(what.st_mode)) {
            status = add_folder(paths, given->items[i], err);
        } else if (!cli_texts_add(paths, given->items[i])) {
            status = stn_fail(err, STN_ERR_MEMORY, "out of memory");
        }
    }
    return status;
}

// --------------------------------------------------------------------------------------------------------------- parts

static stn_status next_row(part *p, stn_error *err) {
    return cli_table_next(&p->table, &p->cells, &p->more, err);
}

static stn_status open_part(part *p, const char *path, stn_error *err) {
    stn_status status = cli_table_view(&p->table, path, err);
    if (status < 0) {
        return status;
    }
    const cli_texts *columns = &p->table.columns;
    p->table.fixed = cli_sweep_count_fixed(columns);
    bool sharded = p->table.fixed > CLI_SWEEP_SHARD_COLUMNS && strcmp(columns->items[0], "run") == 0;
    for (int32_t i = 0; i < CLI_SWEEP_SHARD_COLUMNS && sharded; i++) {
        sharded = strcmp(columns->items[1 + i], cli_sweep_shard_columns[i]) == 0;
    }
    if (!sharded) {
        return stn_fail(err, STN_ERR_FILE, "%s: is not the table of a shard, which stiction sweep --shard writes",
                        path);
    }
    p->script = cli_texts_find(columns, 1 + CLI_SWEEP_SHARD_COLUMNS, "script");
    status = next_row(p, err);
    for (int32_t i = 0; i < p->cells.count && p->more && status >= 0; i++) {
        status = cli_texts_add(&p->first, p->cells.items[i]) ? STN_OK : stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    return status;
}

/// Is the row of `p` that is due of the same sweep as the first row of `known`?
static stn_status check_row(const part *p, const part *known, stn_error *err) {
    const char *path = p->table.path, *other = known->table.path;
    if (strcmp(p->cells.items[p->script], known->first.items[known->script]) != 0) {
        return stn_fail(err, STN_ERR_FILE, "%s:%d: is of another version of the script than %s", path,
                        (int)p->table.rows + 1, other);
    }
    if (strcmp(p->cells.items[RUNS], known->first.items[RUNS]) != 0 ||
        strcmp(p->cells.items[SWEEP], known->first.items[SWEEP]) != 0) {
        return stn_fail(err, STN_ERR_FILE,
                        "%s:%d: is of another sweep than %s: its values, seeds or --strict are others", path,
                        (int)p->table.rows + 1, other);
    }
    return STN_OK;
}

/// Finds the part a place among the shards.
static stn_status place_part(join *j, int32_t index, stn_error *err) {
    part *p = &j->parts[index];
    const char *path = p->table.path;
    if (!p->more) {
        return STN_OK; // a shard without rows, or one that has not begun, which is found out
    }
    int32_t shard, shards;
    double runs;
    if (!cli_sweep_read_shard(p->first.items[SHARD], &shard, &shards) || !stn_parse_real(p->first.items[RUNS], &runs) ||
        !(runs >= 1.0 && runs <= INT32_MAX)) {
        return stn_fail(err, STN_ERR_FILE, "%s:2: shard '%s' of %s runs can be none", path, p->first.items[SHARD],
                        p->first.items[RUNS]);
    }
    if (j->known == NULL) {
        j->known = p;
        j->shards = shards;
        j->runs = (int32_t)runs;
        j->of_shard = malloc((size_t)shards * sizeof *j->of_shard);
        for (int32_t i = 0; i < shards && j->of_shard != NULL; i++) {
            j->of_shard[i] = -1;
        }
        if (j->of_shard == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "out of memory");
        }
    }
    stn_status status = check_row(p, j->known, err);
    if (status < 0) {
        return status;
    }
    if (shards != j->shards) {
        return stn_fail(err, STN_ERR_FILE, "%s: is of shard %s and %s of shard %s; one sweep has one number of shards",
                        path, p->first.items[SHARD], j->known->table.path, j->known->first.items[SHARD]);
    }
    if (j->of_shard[shard - 1] >= 0) {
        return stn_fail(err, STN_ERR_FILE, "%s: is of shard %s, as is %s; leave one of them out", path,
                        p->first.items[SHARD], j->parts[j->of_shard[shard - 1]].table.path);
    }
    j->of_shard[shard - 1] = index;
    return STN_OK;
}

static stn_status check_columns(const part *p, const part *known, stn_error *err) {
    for (int32_t i = 0; i < p->table.fixed || i < known->table.fixed; i++) {
        const char *here = i < p->table.fixed ? p->table.columns.items[i] : "";
        const char *there = i < known->table.fixed ? known->table.columns.items[i] : "";
        if (strcmp(here, there) != 0) {
            return stn_fail(err, STN_ERR_FILE, "%s: is of another sweep than %s: column %d is '%s' and '%s'",
                            p->table.path, known->table.path, (int)i + 1, here, there);
        }
    }
    return STN_OK;
}

static stn_status open_parts(join *j, stn_error *err) {
    stn_status status = STN_OK;
    for (int32_t i = 0; i < j->paths.count && status >= 0; i++) {
        status = open_part(&j->parts[i], j->paths.items[i], err);
        if (status >= 0) {
            status = check_columns(&j->parts[i], &j->parts[0], err);
        }
        if (status >= 0) {
            status = place_part(j, i, err);
        }
    }
    if (status >= 0 && j->known == NULL) {
        status = stn_fail(err, STN_ERR_FILE, "%s: has no row, nor has any other table", j->paths.items[0]);
    }
    return status;
}

// ---------------------------------------------------------------------------------------------------------------- rows

/// The row without the columns of a shard; further cells where they say something.
static bool take_row(const part *p, cli_table_cells *row) {
    bool room = true;
    for (int32_t i = 0; i < p->cells.count && room; i++) {
        const char *text = p->cells.items[i];
        if (i < p->table.fixed) {
            room = (i >= 1 && i <= CLI_SWEEP_SHARD_COLUMNS) || cli_texts_add(&row->fixed, text);
        } else if (text[0] != '\0') {
            room = cli_texts_add(&row->names, p->table.columns.items[i]) && cli_texts_add(&row->values, text);
        }
    }
    return room;
}

static stn_status add_run(join *j, int32_t run, cli_table *whole, stn_error *err) {
    int32_t shard = run % j->shards, index = j->of_shard[shard];
    if (index < 0) {
        return stn_fail(err, STN_ERR_FILE, "run %d is missing: no table of shard %d/%d has a row", (int)run,
                        (int)shard + 1, (int)j->shards);
    }
    part *p = &j->parts[index];
    const char *path = p->table.path;
    char due[16];
    snprintf(due, sizeof due, "%d", (int)run);
    if (!p->more) {
        return stn_fail(err, STN_ERR_FILE,
                        "run %d is missing: %s ends before it; the command that made the table goes on with it",
                        (int)run, path);
    }
    if (strcmp(p->cells.items[0], due) != 0 || strcmp(p->cells.items[SHARD], p->first.items[SHARD]) != 0) {
        return stn_fail(err, STN_ERR_FILE, "%s:%d: is run %s of shard %s where run %d of shard %s belongs", path,
                        (int)p->table.rows + 1, p->cells.items[0], p->cells.items[SHARD], (int)run,
                        p->first.items[SHARD]);
    }
    stn_status status = check_row(p, j->known, err);
    cli_table_cells row = {0};
    if (status >= 0) {
        status = take_row(p, &row) ? cli_table_add(whole, &row, err) : stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    cli_table_cells_clear(&row);
    return status >= 0 ? next_row(p, err) : status;
}

static stn_status join_rows(join *j, cli_table *whole, stn_error *err) {
    const cli_table *known = &j->known->table;
    cli_texts columns = {0};
    bool room = true;
    for (int32_t i = 0; i < known->fixed && room; i++) {
        room = (i >= 1 && i <= CLI_SWEEP_SHARD_COLUMNS) || cli_texts_add(&columns, known->columns.items[i]);
    }
    stn_status status =
        room ? cli_table_open(whole, NULL, &columns, NULL, NULL, err) : stn_fail(err, STN_ERR_MEMORY, "out of memory");
    cli_texts_clear(&columns);
    for (int32_t run = 0; run < j->runs && status >= 0; run++) {
        status = add_run(j, run, whole, err);
    }
    for (int32_t i = 0; i < j->paths.count && status >= 0; i++) {
        if (j->parts[i].more) {
            status = stn_fail(err, STN_ERR_FILE, "%s:%d: is a row more than the %d runs of the sweep have",
                              j->parts[i].table.path, (int)j->parts[i].table.rows + 1, (int)j->runs);
        }
    }
    return status;
}

stn_status cli_join(const cli_list *paths, cli_table *whole, stn_error *err) {
    join j = {0};
    stn_status status = list_paths(paths, &j.paths, err);
    if (status >= 0) {
        j.parts = calloc((size_t)j.paths.count, sizeof *j.parts);
        status = j.parts != NULL ? open_parts(&j, err) : stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    if (status >= 0) {
        status = join_rows(&j, whole, err);
    }
    for (int32_t i = 0; i < j.paths.count && j.parts != NULL; i++) {
        cli_table_close(&j.parts[i].table);
        cli_texts_clear(&j.parts[i].first);
        cli_texts_clear(&j.parts[i].cells);
    }
    free(j.parts);
    free(j.of_shard);
    cli_texts_clear(&j.paths);
    return status;
}

// --------------------------------------------------------------------------------------------------------------- write

/// Has the file at `path` these bytes?
static bool is_there(const char *path, FILE *bytes) {
    FILE *there = fopen(path, "r");
    bool same = there != NULL;
    rewind(bytes);
    for (int a = 0, b = 0; same && a != EOF;) {
        a = getc(there);
        b = getc(bytes);
        same = a == b;
    }
    if (there != NULL) {
        fclose(there);
    }
    return same;
}

stn_status cli_join_write(cli_table *whole, const char *path, stn_error *err) {
    struct stat what;
    if (stat(path, &what) == 0 && what.st_size > 0) {
        return is_there(path, whole->file)
                   ? STN_OK
                   : stn_fail(err, STN_ERR_FILE, "%s: is there already and is another table; name another file", path);
    }
    stn_output output;
    stn_status status = stn_output_open(path, STN_OUTPUT_WHOLE, &output, err);
    if (status < 0) {
        return status;
    }
    FILE *stream = cli_stream_of(&output);
    if (stream == NULL || !cli_table_copy(whole, stream)) {
        int error = errno;
        cli_drop_stream(&output, stream);
        return stn_fail(err, STN_ERR_FILE, "%s: cannot be written: %s", path, strerror(error));
    }
    return cli_finish_stream(&output, stream, path, err);
}
