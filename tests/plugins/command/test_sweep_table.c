// SPDX-License-Identifier: Apache-2.0
// A sweep's table when memory ends while its file is read: an error, and the file stays as it was. It was taken for the
// end of the file: rows were made again, or gone from the file that got another column.
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "stn_test.h"

#include "sweep/table.h"

static int fail_line; // 1 is the next line that is read; 0: none

/// In place of the C library's.
ssize_t getline(char **line, size_t *size, FILE *file) {
    if (fail_line > 0 && --fail_line == 0) {
        errno = ENOMEM;
        return -1;
    }
    return getdelim(line, size, '\n', file);
}

static stn_status count_row(void *user, int32_t index, const cli_texts *cells, stn_error *err) {
    (void)index;
    (void)cells;
    (void)err;
    ++*(int32_t *)user;
    return STN_OK;
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void expect_file(const char *path, const char *text) {
    char now[256] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    now[fread(now, 1, sizeof now - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(now, text);
}

static const char rows[] = "run,mu\n1,0.1\n2,0.2\n3,0.3\n";

static stn_status open_table(cli_table *table, const char *path, int32_t *seen, stn_error *err) {
    cli_texts columns = {0};
    assert_true(cli_texts_add(&columns, "run") && cli_texts_add(&columns, "mu"));
    stn_status status = cli_table_open(table, path, &columns, count_row, seen, err);
    cli_texts_clear(&columns);
    return status;
}

static void memory_that_ends_is_no_end_of_the_file(void **state) {
    (void)state;
    char path[] = "/tmp/stiction_table_XXXXXX";
    close(mkstemp(path));
    for (int32_t line = 0; line <= 5; line++) { // header, three rows, the end
        write_file(path, rows);
        cli_table table;
        int32_t seen = 0;
        stn_error err = {STN_OK, ""};
        fail_line = line;
        stn_status status = open_table(&table, path, &seen, &err);
        fail_line = 0;
        assert_int_equal(status, line == 0 ? STN_OK : STN_ERR_MEMORY);
        assert_int_equal(seen, line == 0 ? 3 : line >= 2 ? line - 2 : 0);
        cli_table_close(&table);
        expect_file(path, rows);
    }
    unlink(path);
}

static void memory_that_ends_drops_no_row_of_a_table_that_gets_a_column(void **state) {
    (void)state;
    char path[] = "/tmp/stiction_table_XXXXXX";
    close(mkstemp(path));
    for (int32_t line = 0; line <= 4; line++) {
        write_file(path, rows);
        cli_table table;
        int32_t seen = 0;
        stn_error err = {STN_OK, ""};
        assert_ok(open_table(&table, path, &seen, &err), err);
        cli_table_cells row = {0};
        assert_true(cli_texts_add(&row.fixed, "4") && cli_texts_add(&row.fixed, "0.4"));
        assert_true(cli_texts_add(&row.names, "energy") && cli_texts_add(&row.values, "7"));
        fail_line = line;
        stn_status status = cli_table_add(&table, &row, &err);
        fail_line = 0;
        assert_int_equal(status, line == 0 ? STN_OK : STN_ERR_MEMORY);
        cli_table_close(&table);
        cli_table_cells_clear(&row);
        expect_file(path, line == 0 ? "run,mu,energy\n1,0.1,\n2,0.2,\n3,0.3,\n4,0.4,7\n" : rows);
    }
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_that_ends_is_no_end_of_the_file),
        cmocka_unit_test(memory_that_ends_drops_no_row_of_a_table_that_gets_a_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
