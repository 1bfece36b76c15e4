// SPDX-License-Identifier: Apache-2.0
// The shared folder of broken robot files: outcome and what the message names, as its index asks. Two files are broken
// inside a mesh, which is not read yet.
#include "urdf_fixture.h"

#define FOLDER STN_SHARED_DIR "/models/malformed"

typedef struct outcome {
    const char *file;
    const char *expected; // as in the index
    int32_t line;         // 0: any
    const char *element;  // NULL: any
    const char *part;
    bool inside_mesh;
} outcome;

static const outcome outcomes[] = {
    {"p01_truncated.urdf", "error", 5, NULL, "file ends", false},
    {"p02_link_without_name.urdf", "error", 4, "link", "no name", false},
    {"p03_joint_without_type.urdf", "error", 5, "joint j", "no type", false},
    {"p04_unknown_parent.urdf", "error", 5, "joint j", "'nowhere'", false},
    {"p05_cycle.urdf", "error", 4, NULL, "links a, b, c form a cycle through joints j1, j2, j3:", false},
    {"p06_two_roots.urdf", "error", 6, NULL, "links a, alone", false},
    {"p07_negative_mass.urdf", "error", 4, "link b", "-1 kg", false},
    {"p08_nan_origin.urdf", "error", 5, "joint j", "'0 nan 0'", false},
    {"p09_zero_axis.urdf", "error", 5, "joint j", "length 0", false},
    {"p10_duplicate_link.urdf", "error", 6, "link b", "line 4", false},
    {"p11_missing_collision_mesh.urdf", "error", 4, "link b", "meshes/not_there.stl", false},
    {"p12_missing_visual_mesh.urdf", "warning", 4, "link b", "meshes/not_there.stl", false},
    {"p13_path_traversal/pkg/robot.urdf", "error", 4, "link b", "leaves", false},
    {"p14_entity_expansion.urdf", "error", 0, NULL, "never expanded", false},
    {"p15_empty.urdf", "error", 1, NULL, "no element", false},
    {"p16_limits_swapped.urdf", "error", 5, "joint j", "lower limit 1 rad", false},
    {"p17_mimic_itself.urdf", "error", 5, "joint j", "itself", false},
    {"p18_degenerate_triangles.urdf", "warning", 0, "link b", "3 triangles", true},
    {"p19_empty_mesh.urdf", "error", 0, "link b", "", true},
    {"p20_unit_suffix.urdf", "error", 3, "link a", "1.0kg", false},
    {"p21_missing_mass.urdf", "error", 3, "link a", "no <mass>", false},
    {"p22_unquoted_attribute.urdf", "error", 5, NULL, "quotes", false},
    {"p23_moving_massless_leaf.urdf", "warning", 4, "link b", "singular", false},
    {"p24_revolute_without_limit.urdf", "warning", 5, "joint j", "without <limit>", false},
};

static const char *got(const fixture *f) {
    return f->status != STN_OK ? "error" : f->list.warning_count > 0 ? "warning" : "loads";
}

static bool says(const fixture *f, const outcome *o) {
    stn_severity severity = strcmp(o->expected, "error") == 0 ? STN_SEVERITY_ERROR : STN_SEVERITY_WARNING;
    for (int32_t i = 0; i < f->list.count; i++) {
        const stn_diagnostic *d = &f->list.items[i];
        if (d->severity == severity && (o->line == 0 || d->line == o->line) &&
            (o->element == NULL || strcmp(d->element, o->element) == 0) && strstr(d->text, o->part) != NULL) {
            return true;
        }
    }
    return false;
}

/// One finding, of the asked severity, that names what it must.
static bool agrees(const fixture *f, const outcome *o) {
    int32_t findings = f->list.error_count + f->list.warning_count;
    return strcmp(got(f), o->expected) == 0 && findings == 1 && says(f, o);
}

static void every_file_ends_as_its_index_asks(void **state) {
    fixture *f = *state;
    int32_t wrong = 0;
    skip_without(FOLDER "/index.csv");
    for (int32_t i = 0; i < STN_COUNT(outcomes); i++) {
        const outcome *o = &outcomes[i];
        snprintf(f->path, sizeof f->path, FOLDER "/%s", o->file);
        f->request.path = f->path;
        load_request(f);
        bool good = agrees(f, o);
        print_message("%-34s expected %-8s got %-8s %s\n", o->file, o->expected, got(f),
                      good             ? ""
                      : o->inside_mesh ? "(mesh not read)"
                                       : "WRONG");
        if (!good && !o->inside_mesh) {
            print_findings(f);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_file_ends_as_its_index_asks, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
