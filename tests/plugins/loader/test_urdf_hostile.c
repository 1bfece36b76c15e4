// SPDX-License-Identifier: Apache-2.0
// Broken, mutilated and oversized files, and memory that runs out: an error or a robot, never a crash, a leak or a
// hang.
#include "stn_random.h"
#include "urdf_fixture.h"

static const char valid[] =
    "<?xml version=\"1.0\"?>\n<!-- all that the loader reads -->\n<robot name=\"r\">\n"
    "<material name=\"m\"><color rgba=\"1 0 0 1\"/></material>\n"
    "<joint name=\"k\" type=\"prismatic\"><parent link=\"b\"/><child link=\"c\"/><axis xyz=\"0 1 0\"/>"
    "<limit lower=\"0\" upper=\"1\" effort=\"1\" velocity=\"1\"/><mimic joint=\"j\" multiplier=\"-2\" "
    "offset=\"0.5\"/></joint>\n"
    "<link name=\"a\"><visual><geometry><mesh filename=\"m.stl\" scale=\"1 1 -1\"/></geometry><material "
    "name=\"m\"/></visual>"
    "</link>\n"
    "<link name=\"b\"><inertial><origin xyz=\"0 0 1\" rpy=\"0.1 0.2 0.3\"/><mass value=\"2.5\"/>"
    "<inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0.1\" ixz=\"0\" iyz=\"0\"/></inertial>"
    "<collision name=\"s\"><geometry><sphere radius=\"0.1\"/></geometry><drake:proximity_properties>"
    "<drake:mu_dynamic value=\"0.5\"/></drake:proximity_properties></collision>"
    "<collision name=\"s\"><geometry><box size=\"1 2 3\"/></geometry></collision></link>\n"
    "<link name=\"c\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" "
    "iyz=\"0\"/>"
    "</inertial><odd/></link>\n"
    "<joint name=\"j\" type=\"revolute\"><parent link=\"a\"/><child link=\"b\"/><axis xyz=\"0 0 2\"/>"
    "<limit lower=\"-1\" upper=\"1\" effort=\"1\" velocity=\"1\"/><dynamics damping=\"1\" friction=\"1\"/></joint>\n"
    "<transmission name=\"t\"><joint name=\"j\"/><actuator><drake:rotor_inertia "
    "value=\"1e-4\"/></actuator></transmission>\n"
    "<drake:collision_filter_group name=\"g\"><drake:member link=\"a\"/><drake:member link=\"c\"/>"
    "<drake:ignored_collision_filter_group name=\"g\"/></drake:collision_filter_group>\n"
    "</robot>";

static void valid_file_loads(void **state) {
    fixture *f = *state;
    write_mesh(f, "m.stl");
    good_model(f, valid);
    assert_int_equal(f->model->link_count, 3);
    assert_int_equal(f->model->geometry_count, 3);
}

static void file_cut_at_any_byte_is_an_error(void **state) {
    fixture *f = *state;
    write_mesh(f, "m.stl");
    for (size_t length = 0; length + 1 < sizeof valid; length++) {
        load_bytes(f, "robot.urdf", valid, length);
        if (f->status != STN_ERR_PARSE) {
            fail_msg("the first %d bytes: %s", (int)length, f->err.text);
        }
        assert_int_equal(f->list.error_count, 1);
        assert_true(f->list.items[0].line >= 1);
    }
}

/// A few random edits: another byte, bytes taken away, a piece put elsewhere.
static size_t mutate(stn_random *r, char *text, size_t length) {
    static const char interesting[] = "<>/\"'=&;:-!?[]{}$#0123456789.eEnaif \n\t\\%\x01\x7f\x80\xc3\xff";
    for (int32_t edits = 1 + random_below(r, 2); edits > 0 && length > 0; edits--) {
        size_t at = (size_t)random_below(r, (int32_t)length);
        size_t span = (size_t)random_below(r, 12);
        span = at + span > length ? length - at : span;
        size_t to = (size_t)random_below(r, (int32_t)(length - span) + 1);
        switch (random_below(r, 4)) {
        case 0:
            text[at] = interesting[random_below(r, (int32_t)sizeof interesting)]; // the zero at the end included
            break;
        case 1:
            memmove(text + at, text + at + span, length - at - span);
            length -= span;
            break;
        case 2:
            memmove(text + to, text + at, span);
            break;
        default:
            text[at] = (char)(text[at] ^ (1 << random_below(r, 8)));
            break;
        }
    }
    return length;
}

static void mutated_file_is_an_error_or_a_robot(void **state) {
    fixture *f = *state;
    stn_random r = {20240607};
    int32_t loaded = 0, refused = 0;
    write_mesh(f, "m.stl");
    for (int32_t i = 0; i < 2000; i++) {
        char text[sizeof valid];
        memcpy(text, valid, sizeof valid);
        size_t length = mutate(&r, text, sizeof valid - 1);
        load_bytes(f, "robot.urdf", text, length);
        if (f->status == STN_OK) {
            loaded++;
        } else {
            refused++;
            if (f->err.text[0] == '\0' || (f->list.error_count == 0 && f->status == STN_ERR_PARSE)) {
                fail_msg("case %d: status %d without a reason", (int)i, (int)f->status);
            }
            assert_true(f->list.error_count > 0); // what the loader lets through compiles
        }
    }
    print_message("%d of 2000 loaded, %d refused\n", (int)loaded, (int)refused);
    assert_true(loaded > 100 && refused > 100);
}

static void every_failed_allocation_is_said_and_leaks_nothing(void **state) {
    fixture *f = *state;
    write_mesh(f, "m.stl");
    load_text(f, valid); // plugins are found now
    assert_int_equal(f->status, STN_OK);
    stn_model_destroy(f->model);
    f->model = NULL;
    stn_diagnostics_clear(&f->list);
    long long live = f->heap.live;
    int32_t failures = 0;
    for (long long n = 1;; n++) {
        stn_heap_arm(&f->heap, n);
        load_text(f, valid);
        bool reached = f->heap.requests >= n;
        stn_heap_arm(&f->heap, 0);
        stn_status status = f->status;
        stn_model_destroy(f->model);
        f->model = NULL;
        stn_diagnostics_clear(&f->list);
        assert_int_equal(f->heap.live, live);
        if (!reached) {
            assert_int_equal(status, STN_OK);
            break;
        }
        if (status != STN_OK) { // a finding whose text found no room is not fatal
            assert_int_equal(status, STN_ERR_MEMORY);
            failures++;
        }
    }
    print_message("%d allocations failed\n", (int)failures);
    assert_true(failures > 5);
}

// --------------------------------------------------------------------------------------------------------- size

typedef struct text {
    char *bytes;
    size_t length, capacity;
} text;

static void append(text *t, const char *format, ...) STN_PRINTF(2, 3);
static void append(text *t, const char *format, ...) {
    if (t->capacity < t->length + 1000) {
        t->capacity = 2 * t->capacity + 1000;
        t->bytes = realloc(t->bytes, t->capacity);
        assert_non_null(t->bytes);
    }
    va_list arguments;
    va_start(arguments, format);
    t->length += (size_t)vsnprintf(t->bytes + t->length, 1000, format, arguments);
    va_end(arguments);
}

static void load_and_free(fixture *f, text *t) {
    load_bytes(f, "robot.urdf", t->bytes, t->length);
    free(t->bytes);
    *t = (text){0};
}

static void file_at_the_limits_of_size_is_read_or_refused(void **state) {
    fixture *f = *state;
    text t = {0};
    append(&t, "<robot name='r'>");
    for (int32_t i = 0; i < 150000; i++) {
        append(&t, "<link name='%d'/>", (int)i); // many names, one root each
    }
    append(&t, "</robot>");
    load_and_free(f, &t);
    expect_finding(f, STN_SEVERITY_ERROR, "two_roots", 0, NULL, "...");

    append(&t, "<robot name='r'><link name='a'");
    for (int32_t i = 0; i < 1100; i++) {
        append(&t, " a%d=''", (int)i);
    }
    append(&t, "/></robot>");
    load_and_free(f, &t);
    expect_finding(f, STN_SEVERITY_ERROR, "size", 1, NULL, "1000 attributes");

    for (int32_t i = 0; i < 100000; i++) {
        append(&t, "<robot>");
    }
    load_and_free(f, &t);
    expect_finding(f, STN_SEVERITY_ERROR, "xml", 1, NULL, "deep");

    append(&t, "<robot name='r'><link name='a'/></robot>");
    for (int32_t i = 0; i < 10000; i++) {
        append(&t, "%900s", "\n");
    }
    load_and_free(f, &t);
    expect_finding(f, STN_SEVERITY_ERROR, "size", 0, NULL, "9000040 bytes");
}

// Each of these would take minutes if the work grew with the square of the file; the test has a time limit.

static void chain_of_thousands_of_followers_is_cut(void **state) {
    fixture *f = *state;
    text t = {0};
    append(&t, "<robot name='r'><link name='0'/>");
    for (int32_t i = 1; i < 20000; i++) {
        append(&t,
               "<link name='%d'/><joint name='j%d' type='continuous'><parent link='%d'/><child link='%d'/>"
               "<mimic joint='j%d'/></joint>",
               (int)i, (int)i, (int)i - 1, (int)i, (int)(i + 1) % 20000);
    }
    append(&t, "</robot>");
    load_and_free(f, &t);
    assert_true(f->list.error_count > 100);
    expect_finding(f, STN_SEVERITY_ERROR, "mimic", 1, NULL, "more than 100 joints");
}

static void nested_groups_of_many_links_are_bounded(void **state) {
    fixture *f = *state;
    for (int32_t k = 0; k < 2; k++) {
        int32_t groups = k == 0 ? 3000 : 40, links = k == 0 ? 6000 : 40;
        text t = {0};
        append(&t, "<robot name='r'>");
        for (int32_t i = 0; i < links; i++) {
            append(&t, "<link name='%d'/>", (int)i);
        }
        for (int32_t i = 0; i < groups; i++) {
            append(&t,
                   "<drake:collision_filter_group name='g%d'><drake:member link='%d'/><drake:member_group name='g%d'/>"
                   "<drake:ignored_collision_filter_group name='g%d'/></drake:collision_filter_group>",
                   (int)i, (int)(i % links), (int)((i + 1) % groups), (int)i);
        }
        append(&t, "</robot>");
        load_and_free(f, &t);
        expect_finding(f, STN_SEVERITY_ERROR, "size", 1, "robot", k == 0 ? "too many" : "nested too deep");
    }
}

static void many_names_that_exist_nowhere_are_said_quickly(void **state) {
    fixture *f = *state;
    text t = {0};
    append(&t, "<robot name='r'><link name='a'>");
    for (int32_t i = 0; i < 15000; i++) {
        append(&t, "<visual><geometry><mesh filename='package://p%d/m.stl'/></geometry></visual>", (int)i);
    }
    append(&t, "</link>");
    for (int32_t i = 0; i < 15000; i++) {
        append(&t, "<joint name='%d' type='revolut%d'><parent link='x%d'/><child link='y%d'/></joint>", (int)i, (int)i,
               (int)i, (int)i);
    }
    append(&t, "</robot>");
    load_and_free(f, &t);
    assert_int_equal(f->list.error_count, 45000);
    assert_int_equal(f->list.warning_count, 15000);
}

static void binary_file_is_refused(void **state) {
    fixture *f = *state;
    load_bytes(f, "robot.urdf", "\xff\xfe<\0r\0", 6);
    expect_finding(f, STN_SEVERITY_ERROR, "encoding", 0, NULL, "UTF-16");
    load_bytes(f, "robot.urdf", "<robot name='r'>\0</robot>", 25);
    expect_finding(f, STN_SEVERITY_ERROR, "encoding", 0, NULL, "binary");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(valid_file_loads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(file_cut_at_any_byte_is_an_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mutated_file_is_an_error_or_a_robot, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_failed_allocation_is_said_and_leaks_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(file_at_the_limits_of_size_is_read_or_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(chain_of_thousands_of_followers_is_cut, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nested_groups_of_many_links_are_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_names_that_exist_nowhere_are_said_quickly, set_up, tear_down),
        cmocka_unit_test_setup_teardown(binary_file_is_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
