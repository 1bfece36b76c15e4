// SPDX-License-Identifier: Apache-2.0
// The shared folder of broken robot files: outcome and what the message names, as its index asks, each file in a
// process of its own that may use one second of processor time and 64 MiB.
#include <sys/resource.h>
#include <sys/wait.h>

#include "urdf_fixture.h"

#define FOLDER STN_SHARED_DIR "/models/malformed"

typedef struct outcome {
    const char *file;
    const char *expected; // as in the index
    int32_t line;         // 0: any
    const char *element;  // NULL: any
    const char *part;
} outcome;

static const outcome outcomes[] = {
    {"p01_truncated.urdf", "error", 5, NULL, "file ends"},
    {"p02_link_without_name.urdf", "error", 4, "link", "no name"},
    {"p03_joint_without_type.urdf", "error", 5, "joint j", "no type"},
    {"p04_unknown_parent.urdf", "error", 5, "joint j", "'nowhere'"},
    {"p05_cycle.urdf", "error", 4, NULL, "links a, b, c form a cycle through joints j1, j2, j3:"},
    {"p06_two_roots.urdf", "error", 6, NULL, "links a, alone"},
    {"p07_negative_mass.urdf", "error", 4, "link b", "-1 kg"},
    {"p08_nan_origin.urdf", "error", 5, "joint j", "'0 nan 0'"},
    {"p09_zero_axis.urdf", "error", 5, "joint j", "length 0"},
    {"p10_duplicate_link.urdf", "error", 6, "link b", "line 4"},
    {"p11_missing_collision_mesh.urdf", "error", 4, "link b", "meshes/not_there.stl"},
    {"p12_missing_visual_mesh.urdf", "warning", 4, "link b", "meshes/not_there.stl"},
    {"p13_path_traversal/pkg/robot.urdf", "error", 4, "link b", "leaves"},
    {"p14_entity_expansion.urdf", "error", 0, NULL, "never expanded"},
    {"p15_empty.urdf", "error", 1, NULL, "no element"},
    {"p16_limits_swapped.urdf", "error", 5, "joint j", "lower limit 1 rad"},
    {"p17_mimic_itself.urdf", "error", 5, "joint j", "itself"},
    {"p18_degenerate_triangles.urdf", "warning", 4, "link b", "3 triangles without area"},
    {"p19_empty_mesh.urdf", "error", 4, "link b", "no triangle"},
    {"p20_unit_suffix.urdf", "error", 3, "link a", "1.0kg"},
    {"p21_missing_mass.urdf", "error", 3, "link a", "no <mass>"},
    {"p22_unquoted_attribute.urdf", "error", 5, NULL, "quotes"},
    {"p23_moving_massless_leaf.urdf", "warning", 4, "link b", "singular"},
    {"p24_revolute_without_limit.urdf", "warning", 5, "joint j", "without <limit>"},
};

static const char *got(const fixture *f) {
    return f->status != STN_OK ? "error" : f->list.warning_count > 0 ? "warning" : "loads";
}

static bool says(const fixture *f, const outcome *o) {
    stn_severity severity = strcmp(o->expected, "error") == 0 ? STN_SEVERITY_ERROR : STN_SEVERITY_WARNING;
    for (int32_t i = 0; i < f->list.count; i++) {
        const stn_diagnostic *d = &f->list.items[i];
        if (d->severity == severity && (o->line == 0 || d->line == o->line) &&
            (o->element == NULL || strcmp(d->where, o->element) == 0) && strstr(d->text, o->part) != NULL) {
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

enum { AGREED, DISAGREED, TOO_BIG };
static const rlim_t MOST_MEMORY = 64 << 20;

/// In the child: loads under limits and judges.
static int judge(fixture *f, const outcome *o) {
    struct rusage before, after;
    struct rlimit cpu = {1, 2};
    setrlimit(RLIMIT_CPU, &cpu);
#ifndef __SANITIZE_ADDRESS__ // whose shadow is address space too
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file != NULL && fscanf(file, "%lu", &pages) == 1) {
        struct rlimit space = {pages * (rlim_t)sysconf(_SC_PAGESIZE) + MOST_MEMORY, RLIM_INFINITY};
        setrlimit(RLIMIT_AS, &space);
    }
    if (file != NULL) {
        fclose(file);
    }
#endif
    getrusage(RUSAGE_SELF, &before);
    snprintf(f->path, sizeof f->path, FOLDER "/%s", o->file);
    f->request.path = f->path;
    load_request(f);
    getrusage(RUSAGE_SELF, &after);
    bool good = agrees(f, o);
    print_message("%-34s expected %-8s got %-8s %s\n", o->file, o->expected, got(f), good ? "" : "WRONG");
    if (!good) {
        print_findings(f);
    }
    bool small = (rlim_t)(after.ru_maxrss - before.ru_maxrss) * 1024 < MOST_MEMORY;
    return !good ? DISAGREED : small ? AGREED : TOO_BIG;
}

static bool passes(fixture *f, const outcome *o) {
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int result = judge(f, o);
        fflush(NULL);
        _exit(result);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) {
        print_message("%s: ended by signal %d%s\n", o->file, WTERMSIG(status),
                      WTERMSIG(status) == SIGXCPU ? ", out of time" : "");
    } else if (WEXITSTATUS(status) == TOO_BIG) {
        print_message("%s: more than 64 MiB\n", o->file);
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == AGREED;
}

/// Files of the index, its header left out.
static int32_t count_index(void) {
    char line[1024];
    int32_t count = -1;
    FILE *file = fopen(FOLDER "/index.csv", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        count++;
    }
    fclose(file);
    return count;
}

static void every_file_ends_as_its_index_asks(void **state) {
    int32_t wrong = 0;
    skip_without(FOLDER "/index.csv");
    assert_int_equal(count_index(), STN_COUNT(outcomes));
    for (int32_t i = 0; i < STN_COUNT(outcomes); i++) {
        wrong += !passes(*state, &outcomes[i]);
    }
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_file_ends_as_its_index_asks, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
