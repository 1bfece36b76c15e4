// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include <stiction/loader.h>

#include "stn_test.h"

static void *allocate_never(void *user, size_t size) {
    bool *refuse = user;
    return *refuse ? NULL : malloc(size);
}

static void release(void *user, void *memory) {
    (void)user;
    free(memory);
}

typedef struct fixture {
    stn_context *context;
    stn_diagnostics list;
    bool refuse; // memory
} fixture;

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    stn_context_options options = {.allocate = allocate_never, .release = release, .allocator_user = &f->refuse};
    assert_int_equal(stn_context_create(&options, &f->context, NULL), STN_OK);
    stn_diagnostics_init(&f->list, f->context);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    f->refuse = false;
    stn_diagnostics_clear(&f->list);
    stn_context_destroy(f->context);
    free(f);
    return 0;
}

static void finding_keeps_copies_of_its_texts(void **state) {
    fixture *f = *state;
    char file[] = "a.urdf", element[] = "link b";
    stn_diagnostics_add(&f->list, STN_SEVERITY_WARNING, "code", file, 7, element, "mass %d", 3);
    file[0] = element[0] = 'x';
    assert_int_equal(f->list.count, 1);
    assert_int_equal(f->list.warning_count, 1);
    assert_int_equal(f->list.error_count, 0);
    assert_string_equal(f->list.items[0].file, "a.urdf");
    assert_string_equal(f->list.items[0].where, "link b");
    assert_string_equal(f->list.items[0].text, "mass 3");
    assert_string_equal(f->list.items[0].code, "code");
    assert_int_equal(f->list.items[0].line, 7);
    assert_int_equal(stn_diagnostics_status(&f->list, NULL), STN_OK);
}

static void status_names_the_first_error_and_counts_the_others(void **state) {
    fixture *f = *state;
    stn_error err = {0};
    stn_diagnostics_add(&f->list, STN_SEVERITY_WARNING, "w", "a.urdf", 1, "robot", "no matter");
    stn_diagnostics_add(&f->list, STN_SEVERITY_ERROR, "e", "a.urdf", 5, "link b", "mass = -1 kg must be >= 0");
    assert_int_equal(stn_diagnostics_status(&f->list, &err), STN_ERR_PARSE);
    assert_string_equal(err.text, "a.urdf:5: link b: mass = -1 kg must be >= 0");
    stn_diagnostics_add(&f->list, STN_SEVERITY_ERROR, "e", "a.urdf", 6, "link c", "again");
    assert_int_equal(stn_diagnostics_status(&f->list, &err), STN_ERR_PARSE);
    assert_string_equal(err.text, "a.urdf:5: link b: mass = -1 kg must be >= 0 (and 1 more)");
}

static void unknown_line_and_element_leave_no_trace(void **state) {
    fixture *f = *state;
    stn_error err = {0};
    stn_diagnostics_add(&f->list, STN_SEVERITY_ERROR, "e", "a.urdf", 0, NULL, "empty");
    assert_int_equal(stn_diagnostics_status(&f->list, &err), STN_ERR_PARSE);
    assert_string_equal(err.text, "a.urdf: empty");
}

static void errors_beyond_a_hundred_are_counted_only(void **state) {
    fixture *f = *state;
    for (int32_t i = 0; i < 250; i++) {
        stn_diagnostics_add(&f->list, STN_SEVERITY_ERROR, "e", "a.urdf", i + 1, "link", "%d", (int)i);
    }
    stn_diagnostics_add(&f->list, STN_SEVERITY_NOTE, "n", "a.urdf", 1, "link", "kept");
    assert_int_equal(f->list.error_count, 250);
    assert_int_equal(f->list.count, 101);
    assert_string_equal(f->list.items[99].text, "99");
    assert_string_equal(f->list.items[100].text, "kept");
}

static void one_finding_is_one_line(void **state) {
    fixture *f = *state;
    stn_diagnostics_add(&f->list, STN_SEVERITY_ERROR, "e", "a.urdf", 1, "link a\nb", "two\r\nlines\x1b");
    assert_string_equal(f->list.items[0].where, "link a b");
    assert_string_equal(f->list.items[0].text, "two  lines ");
    stn_diagnostics_add(&f->list, STN_SEVERITY_ERROR, "e", "a.urdf", 1,
                        "link \xc2\x9b"
                        "31m",
                        "\xc2\x80\xc2\x9f\xc2\xa0");
    assert_string_equal(f->list.items[1].where, "link  31m"); // U+009B begins a command of terminals, as escape [
    assert_string_equal(f->list.items[1].text, "  \xc2\xa0"); // U+00A0 is a space
}

static void bytes_that_are_not_utf8_become_question_marks(void **state) {
    fixture *f = *state;
    stn_diagnostics_add(&f->list, STN_SEVERITY_ERROR, "e", "a.urdf", 1, "link \xd0\xbb\xff",
                        "\xc3(\xe2\x82\xac\xf0\x9f");
    assert_string_equal(f->list.items[0].where, "link \xd0\xbb?");
    assert_string_equal(f->list.items[0].text, "?(\xe2\x82\xac??");
}

static void long_text_is_cut_between_characters(void **state) {
    fixture *f = *state;
    char text[1201];
    memset(text, 'a', sizeof text);
    for (size_t i = 1; i + 1 < sizeof text; i += 2) { // 'a', then two-byte characters
        memcpy(text + i, "\xc3\xa4", 2);
    }
    text[1200] = '\0';
    stn_diagnostics_add(&f->list, STN_SEVERITY_ERROR, "e", "a.urdf", 1, "link", "%s", text);
    const char *kept = f->list.items[0].text;
    size_t length = strlen(kept);
    assert_true(length > 1000 && length < 1024);
    assert_int_equal((unsigned char)kept[length - 2], 0xc3);
    assert_int_equal((unsigned char)kept[length - 1], 0xa4);
}

static void error_counts_even_without_memory(void **state) {
    fixture *f = *state;
    stn_error err = {0};
    f->refuse = true;
    stn_diagnostics_add(&f->list, STN_SEVERITY_ERROR, "e", "a.urdf", 1, "link", "lost");
    assert_int_equal(f->list.count, 0);
    assert_int_equal(stn_diagnostics_status(&f->list, &err), STN_ERR_MEMORY);
}

static void clear_makes_the_list_new(void **state) {
    fixture *f = *state;
    stn_diagnostics_add(&f->list, STN_SEVERITY_ERROR, "e", "a.urdf", 1, "link", "x");
    stn_diagnostics_clear(&f->list);
    assert_int_equal(f->list.count, 0);
    assert_int_equal(f->list.error_count, 0);
    stn_diagnostics_add(&f->list, STN_SEVERITY_NOTE, "n", "a.urdf", 1, "link", "y");
    assert_int_equal(f->list.count, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(finding_keeps_copies_of_its_texts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(status_names_the_first_error_and_counts_the_others, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unknown_line_and_element_leave_no_trace, set_up, tear_down),
        cmocka_unit_test_setup_teardown(errors_beyond_a_hundred_are_counted_only, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_finding_is_one_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bytes_that_are_not_utf8_become_question_marks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_text_is_cut_between_characters, set_up, tear_down),
        cmocka_unit_test_setup_teardown(error_counts_even_without_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(clear_makes_the_list_new, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
