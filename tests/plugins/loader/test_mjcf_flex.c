// SPDX-License-Identifier: Apache-2.0
// Deformables in MuJoCo's XML: the points, masses, holders and materials that come of <flexcomp>, where they start, and
// what is refused.
#include <stiction/soft.h>

#include "errors_fixture.h"
#include "mjcf_fixture.h"

#define SOFT     "<elasticity young='1e4' poisson='0.25' damping='0.01'/>"
#define SHEET    "<elasticity young='1e4' thickness='0.001' elastic2d='both'/>"
#define MAKE(at) MUJOCO(WORLD("\n<flexcomp name='f' " at "</flexcomp>"))

/// Coordinates of a node of the first cloud at the start.
static const double *node(const fixture *f, int32_t i) {
    const stn_model *m = f->model;
    for (int32_t t = 0; t < m->tree_count; t++) {
        if (m->trees[t].kind == STN_TREE_NODAL) {
            return &m->q0[m->trees[t].q_start + 3 * i];
        }
    }
    fail_msg("no nodes");
    return NULL;
}

static void expect_node(const fixture *f, int32_t i, double x, double y, double z) {
    const double *p = node(f, i);
    assert_near(p[0], x, 1e-15);
    assert_near(p[1], y, 1e-15);
    assert_near(p[2], z, 1e-15);
}

static double total_mass(const stn_model *m) {
    double sum = 0.0;
    for (int32_t i = 0; i < m->node_count; i++) {
        sum += m->node_mass[i];
    }
    return sum;
}

/// Six times the volume of an element of the first group, at the start.
static double six_volumes(const fixture *f, int32_t e) {
    const int32_t *n = &f->model->element_groups[0].index[4 * e];
    stn_vec3 x[4];
    for (int k = 0; k < 4; k++) {
        const double *p = node(f, n[k] - f->model->trees[f->model->element_groups[0].tree].node_start);
        x[k] = stn_vec3_make(p[0], p[1], p[2]);
    }
    return stn_vec3_dot(stn_vec3_cross(stn_vec3_sub(x[1], x[0]), stn_vec3_sub(x[2], x[0])), stn_vec3_sub(x[3], x[0]));
}

static double volume(const fixture *f) {
    double sum = 0.0;
    for (int32_t e = 0; e < f->model->element_groups[0].element_count; e++) {
        assert_true(six_volumes(f, e) > 0.0);
        sum += six_volumes(f, e) / 6.0;
    }
    return sum;
}

/// Numbers and places as MuJoCo documents them: x slowest, about the middle; mass over points, pinned or not.
static void a_grid_of_tetrahedra(void **state) {
    fixture *f = *state;
    const stn_model *m =
        good_mjcf(f, MAKE("type='grid' dim='3' count='4 3 2' spacing='.1 .2 .3' mass='2.4' pos='0 0 1' "
                          "radius='0.001'>" SOFT "<pin grid='0 0 0' gridrange='3 0 0 3 2 1'/>"));
    assert_int_equal(m->node_count, 24);
    assert_int_equal(m->element_groups[0].element_count, 6 * 3 * 2 * 1);
    assert_string_equal(m->element_groups[0].instance->desc->id, "fem");
    expect_node(f, 0, -0.15, -0.2, 0.85);
    expect_node(f, 1, -0.15, -0.2, 1.15);
    expect_node(f, 2, -0.15, 0.0, 0.85);
    expect_node(f, 6, -0.05, -0.2, 0.85);
    assert_near(volume(f), 0.3 * 0.4 * 0.3, 1e-16);
    assert_near(total_mass(m), 2.4, 1e-14);
    assert_near(m->node_mass[5], 0.1, 1e-16);
    assert_int_equal(m->attachment_count, 1 + 6);
    for (int32_t i = 0; i < 24; i++) {
        assert_int_equal(m->node_attachment[i] >= 0, i == 0 || i >= 18);
    }
    assert_int_equal(f->list.count, 0);
}

static void a_sheet_with_its_contact_and_looks(void **state) {
    fixture *f = *state;
    const stn_model *m =
        good_mjcf(f, MAKE("count='3 4 1' spacing='.1 .1 .1' mass='1' radius='0.004' rgba='1 0 0 1'>" SHEET
                          "<contact friction='0.7 0.1' contype='2' conaffinity='6' selfcollide='none'/><pin id='0 2'/>"
                          "<pin range='4 6'/>"));
    assert_int_equal(m->node_count, 12);
    assert_int_equal(m->element_groups[0].element_count, 12);
    assert_string_equal(m->element_groups[0].instance->desc->id, "shell");
    expect_node(f, 1, -0.1, -0.05, 0.0);
    expect_node(f, 4, 0.0, -0.15, 0.0);
    const int32_t held[] = {0, 2, 4, 5, 6};
    assert_int_equal(m->attachment_count, 5);
    for (int32_t i = 0; i < 5; i++) {
        assert_true(m->node_attachment[held[i]] >= 0);
    }
    const stn_surface *surface = &m->surfaces[0];
    assert_near(surface->thickness, 0.004, 0.0);
    assert_false(surface->self_collision);
    const stn_geometry *g = &m->geometries[surface->geometry];
    assert_near(g->material.mu, 0.7, 0.0);
    assert_int_equal(g->category & 1u, 0); // not that of MuJoCo's default,
    assert_int_equal(g->mask & 1u, 0);     // whose conaffinity 1 meets neither 2 nor is met by 6
    assert_near(g->rgba[0], 1.0, 0.0);
    assert_near(g->rgba[1], 0.0, 0.0);
    assert_string_equal(g->name, "m/f");
}

/// MuJoCo's boxes have points on their faces alone and one in the middle, which every tetrahedron has.
static void boxes_cylinders_and_ellipsoids(void **state) {
    const struct {
        const char *type;
        double volume; // of 5 x 5 x 5 points 0.1 apart
    } shapes[] = {{"box", 0.064},
                  // a prism over 16 points of a circle, of which eight angles are atan(1/2), eight atan(1) - atan(1/2)
                  {"cylinder", 0.4 * 4.0 * 0.04 * (sin(atan(0.5)) + sin(atan(1.0) - atan(0.5)))},
                  {"ellipsoid", 0.0}};
    fixture *f = *state;
    char text[400];
    for (int32_t i = 0; i < STN_COUNT(shapes); i++) {
        snprintf(text, sizeof text, MAKE("type='%s' dim='3' count='5 5 5' spacing='.1 .1 .1'>" SOFT), shapes[i].type);
        const stn_model *m = good_mjcf(f, text);
        assert_int_equal(m->node_count, 125 - 27 + 1);
        assert_int_equal(m->element_groups[0].element_count, 6 * 16 * 2);
        for (int32_t e = 0; e < 192; e++) {
            bool centre = false;
            for (int32_t k = 0; k < 4; k++) {
                centre = centre || m->element_groups[0].index[4 * e + k] == 0;
            }
            assert_true(centre);
        }
        expect_node(f, 0, 0.0, 0.0, 0.0);
        if (i == 2) {
            for (int32_t k = 1; k < m->node_count; k++) {
                const double *p = node(f, k);
                assert_near(sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]), 0.2, 1e-15);
            }
            assert_true(volume(f) < 4.18879 * 0.008);
        } else {
            assert_near(volume(f), shapes[i].volume, 1e-15);
        }
    }
    expect_node(f, 1, -0.2 / sqrt(3.0), -0.2 / sqrt(3.0), -0.2 / sqrt(3.0));
    const stn_model *m = good_mjcf(f, MAKE("type='box' dim='2' count='3 3 3' spacing='.1 .1 .1'>" SHEET));
    assert_int_equal(m->node_count, 25 - 0); // open above: 27 without the middle and the centre of the lid
    assert_int_equal(m->element_groups[0].element_count, 5 * 8);
    expect_node(f, 9, -0.1, -0.1, 0.0); // after the 9 of the floor: side y_min, x slowest
    expect_node(f, 10, -0.1, -0.1, 0.1);
    expect_node(f, 11, 0.0, -0.1, 0.0);
}

static void a_disc(void **state) {
    fixture *f = *state;
    const stn_model *m = good_mjcf(f, MAKE("type='disc' count='3 3 1' spacing='1 1 1'>" SHEET));
    assert_int_equal(m->node_count, 9);
    for (int32_t i = 0; i < 9; i++) {
        const double *p = node(f, i);
        assert_near(hypot(p[0], p[1]), i == 4 ? 0.0 : 1.0, 1e-15);
    }
    expect_node(f, 0, -sqrt(0.5), -sqrt(0.5), 0.0);
}

/// Unused points take no part; tetrahedra may be listed either way round; the scale comes before the pose.
static void listed_points(void **state) {
    fixture *f = *state;
    const stn_model *m = good_mjcf(f, MAKE("type='direct' dim='3' mass='4' scale='2 1 1' pos='1 0 0' euler='0 0 90' "
                                           "radius='0' point='0 0 0 9 9 9 1 0 0 "
                                           "0 1 0 0 0 1' element='0 3 2 4'>" SOFT "<pin id='2'/>"));
    assert_int_equal(m->node_count, 4);
    expect_node(f, 0, 1.0, 0.0, 0.0);
    expect_node(f, 1, 1.0, 2.0, 0.0);
    expect_node(f, 2, 0.0, 0.0, 0.0);
    assert_near(six_volumes(f, 0), 2.0, 1e-15);
    assert_near(m->node_mass[0], 1.0, 0.0);
    assert_true(m->node_attachment[1] >= 0);
    assert_int_equal(m->attachment_count, 1);
}

/// A surface from a file, and tetrahedra between it and a point.
static void files(void **state) {
    fixture *f = *state;
    write_text(f, "tetra.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n");
    const stn_model *m = good_mjcf(f, MAKE("type='mesh' file='tetra.obj' scale='.1 .1 .1'>" SHEET "<pin id='1'/>"));
    assert_int_equal(m->node_count, 4);
    assert_int_equal(m->element_groups[0].element_count, 4);
    expect_node(f, 1, 0.1, 0.0, 0.0);
    assert_true(m->node_attachment[1] >= 0);
    m = good_mjcf(f, MAKE("type='mesh' dim='3' file='tetra.obj' origin='.2 .2 .2'>" SOFT "<pin id='0'/>"));
    assert_int_equal(m->node_count, 5);
    assert_int_equal(m->element_groups[0].element_count, 4);
    expect_node(f, 0, 0.2, 0.2, 0.2);
    assert_near(volume(f), 1.0 / 6.0, 1e-15);
    write_text(f, "tetra.msh",
               "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"
               "$Elements\n1\n1 4 2 0 1 1 2 3 4\n$EndElements\n");
    m = good_mjcf(f, MAKE("type='gmsh' file='tetra.msh'>" SOFT)); // dim is what the file holds
    assert_int_equal(m->node_count, 4);
    assert_string_equal(m->element_groups[0].instance->desc->id, "fem");
    load_mjcf(f, MAKE("type='mesh' file='nowhere.obj'>" SHEET));
    expect_finding(f, STN_SEVERITY_ERROR, "missing_mesh", 3, "flexcomp f", "nowhere.obj");
}

/// Soft bodies stand on the robot: where its base is put, and where its joints start.
static void they_start_where_the_robot_does(void **state) {
    fixture *f = *state;
    const char *text = MUJOCO(WORLD("<body name='a' pos='0 0 1'>" SOLID "<freejoint/><body name='b' pos='1 0 0'>" SOLID
                                    "<joint name='j' range='90 120'/>\n<flexcomp name='f' count='2 2 1' spacing='.2 .2 "
                                    ".2' mass='4' pos='.5 0 0'>" SHEET "<pin id='3'/></flexcomp></body></body>"));
    const stn_model *m = good_mjcf(f, text);
    expect_node(f, 0, 1.0 + 0.1, 0.5 - 0.1, 1.0); // b is turned by 90 degrees
    expect_node(f, 3, 1.0 - 0.1, 0.5 + 0.1, 1.0);
    expect_finding(f, STN_SEVERITY_WARNING, "pinned_mass", 3, "flexcomp f", "1 pinned points weigh 1 kg each");
    assert_string_equal(m->links[m->attachments[0].link].name, "b");
    f->base = (stn_pose){stn_mat3_from_rpy(0.0, 0.0, 1.5707963267948966), {0.0, 2.0, 0.0}};
    f->free = true;
    load_bytes(f, "robot.xml", text, strlen(text));
    f->as_proposed = false;
    load_request(f);
    assert_int_equal(f->status, STN_OK);
    const double *p = node(f, 0); // (1.1, 0.4, 0) of the base, turned
    assert_near(p[0], -0.4, 1e-15);
    assert_near(p[1], 3.1, 1e-15);
    assert_near(p[2], 0.0, 1e-15);
}

/// MuJoCo's qpos holds the points between the joints, in the order of the file.
static void keyframes_step_over_points(void **state) {
    fixture *f = *state;
    good_mjcf(f, MUJOCO(WORLD("<flexcomp name='f' count='2 2 1' spacing='.2 .2 .2'>" SHEET "<pin id='0'/></flexcomp>"
                              "<body name='a'>" SOLID "<joint name='j'/><joint name='k'/>"
                              "<flexcomp name='g' count='2 2 1' spacing='.2 .2 .2'>" SHEET "</flexcomp></body>"
                              "<body name='b'>" SOLID
                              "<joint name='l'/></body>") "<keyframe><key name='key' qpos='0 0 0 0 0 0 0 0 0 1 2 0 0 0 "
                                                          "0 0 0 0 0 0 0 0 0 3'/>"
                                                          "\n<key name='moved' qpos='0 0 0 0 0 0 0 0 0 1 2 0 0 0 5 0 0 "
                                                          "0 0 0 0 0 0 3'/></keyframe>"));
    const double *q = f->model->keyframes[0].q;
    assert_near(q[0], 1.0, 0.0);
    assert_near(q[1], 2.0, 0.0);
    assert_near(q[2], 3.0, 0.0);
    expect_finding(f, STN_SEVERITY_WARNING, "keyframe", 4, "key moved", "points of soft bodies");
}

#define E(at, code, part) \
    { MAKE(at), code, 3, "flexcomp f", part }
static const wrong refused[] = {
    {MUJOCO(WORLD("\n<flexcomp count='2 2 1'>" SHEET "</flexcomp>")), "name", 3, "flexcomp", "has no name"},
    E("count='3'>" SHEET, "number", "count"),
    E("count='3 3 10'>" SHEET, "range", "count of <flexcomp> = 3 3 10: number 3 must be a whole number from 1 to 1"),
    E("count='1 3 1'>" SHEET, "range", "number 1 must be a whole number from 2"),
    E("count='3 2.5 1'>" SHEET, "range", "number 2"),
    E("count='2 2 0' dim='3'>" SOFT, "range", "number 3 must be a whole number from 2"),
    E("count='1000 1000 10' dim='3'>" SOFT, "size", "makes 1e+07 points, at most 1000000"),
    E("count='3 3 1' spacing='.1 0 .1'>" SHEET, "range", "spacing of <flexcomp> = 0.1 0 0.1 m: number 2 must be > 0"),
    E("count='3 3 1' mass='0'>" SHEET, "range", "mass of <flexcomp> = 0 kg must be > 0"),
    E("count='3 3 1' radius='0'>" SHEET, "range", "radius of <flexcomp> = 0 m must be > 0 for dim=\"2\""),
    E("count='3 3 1' radius='1e60'>" SHEET, "range", "radius of <flexcomp> = 1e+60 m must be > 0 and at most 1e+50"),
    E("count='3 3 1' mass='1e60'>" SHEET, "range", "mass of <flexcomp> = 1e+60 kg"),
    E("count='3 3 1' spacing='1e60 1 1'>" SHEET, "soft", "1e+60"),
    E("count='3 3 1' pos='0 0 1e60'>" SHEET, "soft", "1e+60"),
    E("count='1000 1000 1000' dim='3'>" SOFT, "size", "makes 1e+09 points, at most 1000000"),
    E("dim='3' count='2 2 2'><elasticity young='1e60'/>", "range", "young of <elasticity> = 1e+60 Pa"),
    E("dim='3' count='2 2 2'><elasticity young='1' damping='1e60'/>", "elasticity", "at most 1e+50"),
    E("count='2 2 1'><elasticity young='1' thickness='1e60' elastic2d='both'/>", "range", "thickness of <elasticity>"),
    E("count='3 3 1' scale='1 0 1'>" SHEET, "range", "scale of <flexcomp> = 1 0 1 must be > 0"),
    E("dim='1' count='3 1 1'>" SOFT, "unsupported", "composite type=\"cable\""),
    E("type='circle' count='9 1 1'>" SOFT, "unsupported", "composite type=\"cable\""),
    E("dim='4'>" SOFT, "range", "dim of <flexcomp> = 4 must be 2 or 3"),
    E("type='torus'>" SOFT, "word", "'torus' must be one of: grid box"),
    E("dof='trilinear' dim='3'>" SOFT, "unsupported", "dof=\"trilinear\" of <flexcomp> is not read"),
    E("rigid='true' count='2 2 1'>" SHEET, "unsupported", "geom type=\"mesh\""),
    E("count='2 2 1'>" SHEET "<pin range='0 3'/>", "unsupported", "all points are pinned"),
    E("count='2 2 1'>" SHEET "<pin id='4'/>", "range", "id of <pin> = 4 must be below 4"),
    E("count='2 2 1'>" SHEET "<pin id='-1'/>", "number", "-1 is no whole number"),
    E("count='2 2 1'>" SHEET "<pin grid='0'/>", "number", "grid of <pin> has 1 numbers, not 2 for each entry"),
    E("count='2 2 1'>" SHEET "<pin grid='0 2'/>", "range", "grid of <pin> = 2 must be below 2"),
    E("type='box' dim='3' count='2 2 2'>" SOFT "<pin grid='0 0 0'/>", "conflict", "type=\"grid\""),
    E("count='2 2 1'>" SHEET "<plugin plugin='mujoco.elasticity.shell'/>", "unsupported", "<plugin> of <flexcomp>"),
    E("count='2 2 1'>" SHEET "<edge equality='true'/>", "unsupported", "equality=\"true\" of <edge>"),
    E("count='2 2 1'>" SHEET "<edge stiffness='1'/>", "unsupported", "stiffness of <edge>"),
    E("count='2 2 1'>", "elasticity", "young of <elasticity> = 0 Pa must be > 0"),
    E("count='2 2 1'><elasticity young='-1' thickness='.1' elastic2d='both'/>", "elasticity", "= -1 Pa"),
    E("dim='3' count='2 2 2'><elasticity young='1' poisson='0.5'/>", "elasticity", "take 0.45"),
    E("dim='3' count='2 2 2'><elasticity young='1' poisson='-0.1'/>", "elasticity", "0 to below 0.5"),
    E("dim='3' count='2 2 2'><elasticity young='1' damping='-1'/>", "elasticity", "damping of <elasticity> = -1 s"),
    E("dim='3' count='2 2 2'><elasticity young='1' elastic2d='both'/>", "elasticity", "dim=\"2\""),
    E("count='2 2 1'><elasticity young='1' elastic2d='both'/>", "elasticity", "thickness of <elasticity> = -1 m"),
    E("count='2 2 1'><elasticity young='1' thickness='.1'/>", "unsupported", "elastic2d=\"none\""),
    E("count='2 2 1'><elasticity young='1' thickness='.1' elastic2d='bend'/>", "unsupported", "elastic2d=\"bend\""),
    E("count='2 2 1'>" SHEET "<contact friction='-1'/>", "range", "friction of <contact> = -1 must be >= 0"),
    E("count='2 2 1'>" SHEET "<contact contype='0.5'/>", "range", "contype of <contact> = 0.5"),
    E("type='direct' point='0 0 0'>" SHEET, "missing", "needs point and element"),
    E("type='direct' point='0 0' element='0 1 2'>" SHEET, "number", "three and three, not 2"),
    E("type='direct' point='0 0 0 1 0 0 0 1 0' element='0 1'>" SHEET, "number", "not 3 for each element"),
    E("type='direct' point='0 0 0 1 0 0 0 1 0' element='0 1 3'>" SHEET, "number", "names point 3, there are 3"),
    E("type='direct' point='0 0 0 1 0 0 0 1 nan' element='0 1 2'>" SHEET, "number", "finite"),
    E("type='direct' point='0 0 0 1 0 0 2 0 0' element='0 1 2'>" SHEET, "soft", "area"),
    E("type='direct' point='0 0 0 1 0 0 0 1 0' element='0 1 1'>" SHEET, "soft", "triangle"),
    E("type='direct' point='0 0 0 1 0 0 0 1 0 0 -1 0 0 0 1' element='0 1 2 1 0 3 0 1 4'>" SHEET, "soft", "edge"),
    E("type='direct' dim='3' point='0 0 0 1 0 0 0 1 0 1 1 0' element='0 1 2 3'>" SOFT, "soft", "volume"),
    {MAKE("count='2 2 1'>" SHEET "</flexcomp>\n<flexcomp name='f' count='2 2 1'>" SHEET), "duplicate_soft", 4,
     "flexcomp f", "same name"},
    {MUJOCO(WORLD("\n<flexcomp name='a/b' count='2 2 1'>" SHEET "</flexcomp>")), "soft", 3, "flexcomp a/b", "no '/'"},
    {MUJOCO(WORLD("<frame pos='0 0 1'>\n<flexcomp name='f' count='2 2 1'>" SHEET "</flexcomp></frame>")), "unsupported",
     3, "flexcomp f", "MuJoCo leaves the frame out"},
};

static void what_is_not_the_same_is_refused(void **state) {
    fixture *f = *state;
    f->file = "robot.xml";
    f->as_proposed = true;
    for (int32_t i = 0; i < STN_COUNT(refused); i++) {
        expect_one_error(f, &refused[i]);
    }
}

static void what_is_left_out_is_told(void **state) {
    fixture *f = *state;
    good_mjcf(f, MAKE("count='2 2 1' inertiabox='.01' flatskin='true' squash='1'>" SHEET
                      "<edge damping='1'/><contact condim='6' internal='true' passive='true' activelayers='2' "
                      "solref='.1 1' margin='0'/>"));
    expect_finding(f, STN_SEVERITY_WARNING, "flex", 3, "flexcomp f", "damping of <edge>");
    expect_finding(f, STN_SEVERITY_WARNING, "flex", 3, "flexcomp f", "internal");
    expect_finding(f, STN_SEVERITY_WARNING, "flex", 3, "flexcomp f", "passive");
    expect_finding(f, STN_SEVERITY_WARNING, "flex", 3, "flexcomp f", "activelayers");
    expect_finding(f, STN_SEVERITY_WARNING, "friction", 3, "flexcomp f", "condim = 6");
    expect_finding(f, STN_SEVERITY_WARNING, "skipped", 3, "flexcomp f", "'squash'");
    expect_finding(f, STN_SEVERITY_NOTE, "skipped", 3, "flexcomp f", "'solref'");
    assert_int_equal(f->list.warning_count, 6);
}

static void nothing_of_a_refused_file_stays(void **state) {
    const char *good = "<mujoco><worldbody><geom size='1'/></worldbody></mujoco>";
    expect_nothing_stays(*state, "good.xml", good, "bad.xml",
                         MAKE("count='2 2 1'>" SHEET "</flexcomp><flexcomp name='g' count='2 2 1'>"));
    fixture *f = *state;
    assert_int_equal(f->model->node_count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_grid_of_tetrahedra, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_sheet_with_its_contact_and_looks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(boxes_cylinders_and_ellipsoids, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_disc, set_up, tear_down),
        cmocka_unit_test_setup_teardown(listed_points, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(they_start_where_the_robot_does, set_up, tear_down),
        cmocka_unit_test_setup_teardown(keyframes_step_over_points, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_the_same_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_left_out_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_of_a_refused_file_stays, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
