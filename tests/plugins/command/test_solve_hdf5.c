// SPDX-License-Identifier: Apache-2.0
// stiction solve on HDF5 files as no FCLIB writer makes them, made here by the HDF5 library itself: what can be read is
// read, anything else is one line and exit status 2.
#include <hdf5.h>

#include <math.h>

#include "stn_command.h"

static const char *const path = STN_BINARY_DIR "/tests/strange.hdf5";
static const char *const data = STN_BINARY_DIR "/tests/strange.raw";

// One block of 2 kg that slides: rows n, t1, t2.
static const double W[9] = {0.5, 0, 0, 0, 0.5, 0, 0, 0, 0.5}, q[3] = {-1, 3, 0}, mu = 0.5;
static const int rows[9] = {0, 0, 0, 1, 1, 1, 2, 2, 2}, columns[9] = {0, 1, 2, 0, 1, 2, 0, 1, 2};

/// How the numbers of a file are stored, and what is left out for a case to put there.
typedef struct recipe {
    hid_t file, integers, reals; // types in the file
    hid_t layout;                // of data sets
    const char *without;
} recipe;

static void put(const recipe *r, const char *name, hid_t stored, hid_t memory, int rank, const hsize_t *size,
                const void *values) {
    if (r->without != NULL && strcmp(name, r->without) == 0) {
        return;
    }
    hid_t links = H5Pcreate(H5P_LINK_CREATE), space = H5Screate_simple(rank, size, NULL);
    H5Pset_create_intermediate_group(links, 1);
    hid_t set = H5Dcreate2(r->file, name, stored, space, links, r->layout, H5P_DEFAULT);
    assert_true(set >= 0);
    assert_true(values == NULL || H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(links);
}

static void put_integers(const recipe *r, const char *name, const int *values, hsize_t count) {
    put(r, name, r->integers, H5T_NATIVE_INT, 1, &count, values);
}

static void put_reals(const recipe *r, const char *name, const double *values, hsize_t count) {
    put(r, name, r->reals, H5T_NATIVE_DOUBLE, 1, &count, values);
}

static void put_problem(const recipe *r) {
    static const int three = 3, nine = 9;
    put_integers(r, "fclib_local/spacedim", &three, 1);
    put_integers(r, "fclib_local/W/m", &three, 1);
    put_integers(r, "fclib_local/W/n", &three, 1);
    put_integers(r, "fclib_local/W/nz", &nine, 1);
    put_integers(r, "fclib_local/W/i", rows, 9);
    put_integers(r, "fclib_local/W/p", columns, 9);
    put_reals(r, "fclib_local/W/x", W, 9);
    put_reals(r, "fclib_local/vectors/q", q, 3);
    put_reals(r, "fclib_local/vectors/mu", &mu, 1);
}

static recipe begin(const char *without) {
    recipe r = {.file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                .integers = H5T_STD_I32LE,
                .reals = H5T_IEEE_F64LE,
                .layout = H5P_DEFAULT,
                .without = without};
    assert_true(r.file >= 0);
    return r;
}

static recipe good_but(const char *without) {
    recipe r = begin(without);
    put_problem(&r);
    r.without = NULL;
    return r;
}

// --------------------------------------------------------------------------------------- files that can be read

static hid_t as_it_is(void) {
    return good_but(NULL).file;
}

static hid_t with_other_numbers(void) {
    recipe r = begin(NULL);
    r.integers = H5T_STD_U8BE;
    r.reals = H5T_IEEE_F32BE;
    put_problem(&r);
    return r.file;
}

static hid_t compressed(void) {
    recipe r = begin("fclib_local/W/x");
    put_problem(&r);
    const hsize_t size[2] = {3, 3}, chunk[2] = {2, 2};
    r.layout = H5Pcreate(H5P_DATASET_CREATE);
    r.without = NULL;
    H5Pset_chunk(r.layout, 2, chunk);
    H5Pset_shuffle(r.layout);
    H5Pset_deflate(r.layout, 6);
    H5Pset_fletcher32(r.layout);
    put(&r, "fclib_local/W/x", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 2, size, W);
    return r.file;
}

static hid_t with_groups_in_themselves(void) {
    recipe r = good_but(NULL);
    H5Lcreate_hard(r.file, "/", r.file, "/fclib_local/whole", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_hard(r.file, "/fclib_local", r.file, "/fclib_local/W/up", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/fclib_local/again", r.file, "/fclib_local/again", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/nowhere", r.file, "/fclib_local/lost", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("/etc/passwd", "/", r.file, "/fclib_local/else", H5P_DEFAULT, H5P_DEFAULT);
    return r.file;
}

/// A text of any length is of a kind that is not asked for: there is no name then.
static hid_t with_a_title_of_any_length(void) {
    recipe r = good_but(NULL);
    const char *const title = "a title";
    const hsize_t one = 1;
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    put(&r, "fclib_local/info/title", type, type, 1, &one, &title);
    return r.file;
}

// ---------------------------------------------------------------------------------------- files that cannot be

static hid_t empty(void) {
    return begin(NULL).file;
}

static hid_t with_a_real_size(void) {
    recipe r = good_but("fclib_local/W/m");
    const double three = 3.0;
    put_reals(&r, "fclib_local/W/m", &three, 1);
    return r.file;
}

static hid_t with_two_sizes(void) {
    recipe r = good_but("fclib_local/W/n");
    put_integers(&r, "fclib_local/W/n", rows, 2);
    return r.file;
}

static hid_t with_letters(void) {
    recipe r = good_but("fclib_local/W/x");
    const hsize_t nine = 9;
    put(&r, "fclib_local/W/x", H5T_C_S1, H5T_C_S1, 1, &nine, "123456789");
    return r.file;
}

static hid_t with_pairs(void) {
    recipe r = good_but("fclib_local/vectors/q");
    const hsize_t three = 3;
    hid_t pair = H5Tcreate(H5T_COMPOUND, 16);
    H5Tinsert(pair, "a", 0, H5T_IEEE_F64LE);
    H5Tinsert(pair, "b", 8, H5T_IEEE_F64LE);
    put(&r, "fclib_local/vectors/q", pair, pair, 1, &three, NULL);
    return r.file;
}

static hid_t with_nothing_in_it(void) {
    recipe r = good_but("fclib_local/vectors/mu");
    hid_t space = H5Screate(H5S_NULL);
    H5Dclose(
        H5Dcreate2(r.file, "fclib_local/vectors/mu", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    return r.file;
}

/// 2^50 numbers that nobody has written.
static hid_t far_too_large(void) {
    recipe r = good_but("fclib_local/W/x");
    const hsize_t size = (hsize_t)1 << 50, chunk = 1024;
    r.layout = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(r.layout, 1, &chunk);
    put(&r, "fclib_local/W/x", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 1, &size, NULL);
    return r.file;
}

/// Numbers in a file beside it, in a data set of another file, a group of another file.
static hid_t with_numbers_elsewhere(void) {
    recipe r = good_but("fclib_local/W/x");
    const hsize_t nine = 9;
    FILE *file = fopen(data, "wb");
    assert_true(file != NULL && fwrite(W, 1, sizeof W, file) == sizeof W && fclose(file) == 0);
    r.layout = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(r.layout, data, 0, sizeof W);
    put(&r, "fclib_local/W/x", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 1, &nine, NULL);
    return r.file;
}

static hid_t with_a_view_of_numbers_elsewhere(void) {
    recipe r = good_but("fclib_local/W/x");
    const hsize_t nine = 9;
    hid_t space = H5Screate_simple(1, &nine, NULL);
    r.layout = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_virtual(r.layout, space, "other.hdf5", "x", space);
    put(&r, "fclib_local/W/x", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 1, &nine, NULL);
    return r.file;
}

static hid_t with_a_group_elsewhere(void) {
    recipe r = good_but(NULL);
    H5Ldelete(r.file, "/fclib_local/W", H5P_DEFAULT);
    H5Lcreate_external("other.hdf5", "/W", r.file, "/fclib_local/W", H5P_DEFAULT, H5P_DEFAULT);
    return r.file;
}

static hid_t with_a_matrix_for_a_group(void) {
    recipe r = good_but(NULL);
    H5Ldelete(r.file, "/fclib_local/W", H5P_DEFAULT);
    put_reals(&r, "fclib_local/W", W, 9);
    return r.file;
}

static hid_t with_an_infinite_velocity(void) {
    recipe r = good_but("fclib_local/vectors/q");
    const double bad[3] = {-1, (double)INFINITY, 0};
    put_reals(&r, "fclib_local/vectors/q", bad, 3);
    return r.file;
}

static hid_t with_a_negative_count(void) {
    recipe r = good_but("fclib_local/W/n");
    const int less = -3;
    put_integers(&r, "fclib_local/W/n", &less, 1);
    return r.file;
}

static hid_t with_more_entries_than_there_are(void) {
    recipe r = good_but("fclib_local/W/nz");
    const int more = 10;
    put_integers(&r, "fclib_local/W/nz", &more, 1);
    return r.file;
}

/// A global problem; H is as W.
static hid_t global(const double M[9]) {
    static const double f[3] = {0, 0, 0};
    static const int three = 3, nine = 9;
    recipe r = begin(NULL);
    put_integers(&r, "fclib_global/spacedim", &three, 1);
    static const char *const matrices[] = {"M", "H"};
    for (int k = 0; k < 2; k++) {
        char name[64];
        const struct {
            const char *part;
            const int *values;
            hsize_t count;
        } parts[] = {{"m", &three, 1}, {"n", &three, 1}, {"nz", &nine, 1}, {"i", rows, 9}, {"p", columns, 9}};
        for (int i = 0; i < STN_COUNT(parts); i++) {
            snprintf(name, sizeof name, "fclib_global/%s/%s", matrices[k], parts[i].part);
            put_integers(&r, name, parts[i].values, parts[i].count);
        }
        snprintf(name, sizeof name, "fclib_global/%s/x", matrices[k]);
        put_reals(&r, name, k == 0 ? M : W, 9);
    }
    put_reals(&r, "fclib_global/vectors/f", f, 3);
    put_reals(&r, "fclib_global/vectors/w", q, 3);
    put_reals(&r, "fclib_global/vectors/mu", &mu, 1);
    return r.file;
}

static hid_t with_an_indefinite_mass(void) {
    return global((const double[9]){1, 2, 0, 2, 1, 0, 0, 0, 1});
}

/// Skew beside an energy below zero; and beside a good one.
static hid_t with_a_skew_indefinite_mass(void) {
    return global((const double[9]){1, 3, 0, 1, 1, 0, 0, 0, 1});
}

static hid_t with_a_skew_mass(void) {
    return global((const double[9]){2, 0.1, 0, -0.1, 2, 0, 0, 0, 2});
}

// --------------------------------------------------------------------------------------------------------------- tests

typedef hid_t (*maker)(void);

static void solve(maker make, int status, const char *part) {
    char words[512];
    assert_true(H5Fclose(make()) >= 0);
    assert_int_equal(H5close(), 0); // whatever a case left open
    snprintf(words, sizeof words, "solve %s --solver nsgs 2>&1", path);
    const char *text = stn_run_to(words, status)->out;
    if (strstr(text, part) == NULL) {
        fail_msg("no \"%s\" in: %s", part, text);
    }
    if (status != 0) {
        assert_non_null(strstr(text, "strange.hdf5: "));
        assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1); // one line
    }
}

static void whatever_holds_the_numbers_is_read(void **state) {
    (void)state;
    const maker cases[] = {
        as_it_is,        with_other_numbers, compressed, with_groups_in_themselves, with_a_title_of_any_length,
        with_a_skew_mass};
    for (int i = 0; i < STN_COUNT(cases); i++) {
        solve(cases[i], 0, "contacts 1");
    }
}

static void what_cannot_be_read_is_one_line(void **state) {
    (void)state;
    static const struct {
        maker make;
        const char *words;
    } cases[] = {
        {empty, "no FCLIB problem"},
        {with_a_real_size, "fclib_local/W/m: must be one integer"},
        {with_two_sizes, "fclib_local/W/n: must be one integer"},
        {with_letters, "fclib_local/W/x: is no array of numbers"},
        {with_pairs, "fclib_local/vectors/q: is missing"},
        {with_nothing_in_it, "is 3 x 3, but 0 friction coefficients make 0 rows"},
        {far_too_large, "fclib_local/W/x holds 1125899906842624 numbers: more than"},
        {with_numbers_elsewhere, "fclib_local/W/x: is missing"},
        {with_a_view_of_numbers_elsewhere, "fclib_local/W/x: is missing"},
        {with_a_group_elsewhere, "fclib_local/W/m: is missing"},
        {with_a_matrix_for_a_group, "fclib_local/W/m: is missing"},
        {with_an_infinite_velocity, "fclib_local/vectors/q: [1] is inf, must be finite"},
        {with_a_negative_count, "fclib_local/W/n: is -3, must be from 0"},
        {with_more_entries_than_there_are, "fclib_local/W/p: has 9 entries, expected at least 10"},
        {with_an_indefinite_mass, "fclib_global/M is not positive definite: A of tree 0 (source 0) is indefinite: its "
                                  "elimination fails at dof 1"},
        {with_a_skew_indefinite_mass,
         "fclib_global/M: its symmetric part is not positive semidefinite: entry (1, 0) = 2"},
    };
    for (int i = 0; i < STN_COUNT(cases); i++) {
        solve(cases[i].make, 2, cases[i].words);
    }
}

static int tear_down(void **state) {
    (void)state;
    remove(path);
    remove(data);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(whatever_holds_the_numbers_is_read),
                                       cmocka_unit_test(what_cannot_be_read_is_one_line)};
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
