// SPDX-License-Identifier: Apache-2.0
// What pictures show: colours, light, shadows and places against closed forms, decoded by libpng. The constants of
// light are those of the plugin's page.
#include "png_fixture.h"

static const double LAMP_ASIDE = -50.0 * STN_PI / 180.0, LAMP_ABOVE = 52.0 * STN_PI / 180.0;

/// Towards the lamp when the camera stands at this azimuth [rad].
static stn_vec3 to_lamp(double azimuth) {
    double a = azimuth + LAMP_ASIDE;
    return stn_vec3_make(cos(LAMP_ABOVE) * cos(a), cos(LAMP_ABOVE) * sin(a), sin(LAMP_ABOVE));
}

static double linear(double srgb) {
    return srgb <= 0.04045 ? srgb / 12.92 : pow((srgb + 0.055) / 1.055, 2.4);
}

static double encoded(double value) {
    return value <= 0.0031308 ? 12.92 * value : 1.055 * pow(value, 1.0 / 2.4) - 0.055;
}

/// The part of its colour that a surface with this normal shows.
static double shade(stn_vec3 normal, stn_vec3 to_eye, stn_vec3 lamp, double reaching) {
    double a = 0.30 + 0.08 * normal.z + 0.12 * fmax(stn_vec3_dot(normal, to_eye), 0.0);
    return a + (1.0 - a) * fmax(stn_vec3_dot(normal, lamp), 0.0) * reaching;
}

/// The camera stands on the x axis and looks at the origin from `distance` [m]; a picture of 200 x 150.
static void stand(fixture *f, double distance, double elevation_deg) {
    set_number(f, "width", 200);
    set_number(f, "height", 150);
    set_number(f, "azimuth", 0.0);
    set_number(f, "elevation", elevation_deg);
    set_number(f, "field_of_view", 2.0 * atan(0.5) * 180.0 / STN_PI); // 150 pixels show 1 m at 1 m
    set_number(f, "distance", distance);
    set_text(f, "target", "0 0 0");
}

/// A box of half size h at `centre`, part of the world.
static void add_box(fixture *f, stn_vec3 centre, stn_vec3 h, const float rgba[4]) {
    stn_geometry_spec spec = painted(stn_shape_box(h), rgba[0], rgba[1], rgba[2], rgba[3]);
    spec.pose.position = centre;
    add_geometry(f, STN_WORLD, &spec);
}

static const float ORANGE[4] = {0.85f, 0.45f, 0.15f, 1.0f}, BLUE[4] = {0.20f, 0.45f, 0.70f, 1.0f};

static void a_face_towards_the_lamp_shows_its_colour(void **state) {
    fixture *f = *state;
    stn_geometry_spec spec = painted(stn_shape_box(stn_vec3_make(0.2, 0.2, 0.2)), 0.85f, 0.45f, 0.15f, 1.0f);
    spec.pose.rotation = stn_contact_frame(to_lamp(0.0));
    add_geometry(f, STN_WORLD, &spec);
    compile(f);
    stand(f, 2.0, 50.0);
    draw(f);
    assert_int_equal(f->width, 200);
    assert_int_equal(f->height, 150);
    // the middle of the upper face: 0.2 m from the centre along the lamp's direction
    stn_vec3 p = stn_vec3_scale(0.2, to_lamp(0.0));
    double e = 50.0 * STN_PI / 180.0, depth = 2.0 - (p.x * cos(e) + p.z * sin(e));
    int32_t column = (int32_t)(100.0 + 150.0 * p.y / depth);
    int32_t row = (int32_t)(75.0 - 150.0 * (p.z * cos(e) - p.x * sin(e)) / depth);
    expect_colour(f, column, row, 0.85, 0.45, 0.15);
}

static void faces_away_from_the_lamp_show_ambient_light(void **state) {
    fixture *f = *state;
    add_box(f, stn_vec3_make(-1.0, 0.0, 0.0), stn_vec3_make(1.0, 0.3, 0.3), BLUE);
    compile(f);
    stand(f, 3.0, 0.0);
    set_number(f, "field_of_view", 20.0); // settings apply in order
    draw(f);
    // The front face looks along x to the eye. It sees the lamp under the cosine of both angles.
    double k = shade(stn_vec3_make(1.0, 0.0, 0.0), stn_vec3_make(1.0, 0.0, 0.0), to_lamp(0.0), 1.0);
    expect_colour(f, 100, 75, encoded(k * linear(0.20)), encoded(k * linear(0.45)), encoded(k * linear(0.70)));
}

static void a_box_covers_the_pixels_between_its_projected_corners(void **state) {
    fixture *f = *state;
    add_box(f, stn_vec3_zero(), stn_vec3_make(0.2, 0.5, 0.3), ORANGE);
    compile(f);
    stand(f, 2.2, 0.0);
    draw(f);
    // The front face lies 2 m before the eye: 75 pixels a metre.
    double left = 100.0 - 75.0 * 0.5, right = 100.0 + 75.0 * 0.5, top = 75.0 - 75.0 * 0.3, bottom = 75.0 + 75.0 * 0.3;
    for (int32_t row = 0; row < 150; row++) {
        for (int32_t column = 0; column < 200; column++) {
            bool inside = column >= left && column + 1 <= right && row >= top && row + 1 <= bottom;
            bool outside = column + 1 <= left || column >= right || row + 1 <= top || row >= bottom;
            const uint8_t *p = pixel(f, column, row);
            assert_true(!inside || p[0] > p[2] + 40);              // orange
            assert_true(!outside || (p[0] > 200 && p[2] >= p[0])); // the light background
        }
    }
}

/// Of pixels that an edge cuts, the share of samples.
static void edges_are_smoothed(void **state) {
    fixture *f = *state;
    add_box(f, stn_vec3_zero(), stn_vec3_make(0.2, 0.49, 0.3), ORANGE);
    compile(f);
    stand(f, 2.2, 0.0);
    draw(f);
    // The right edge lies at 100 + 75 * 0.49 = 136.75: of pixel 136 the samples at 136.25 alone.. and 136.75 lies on
    // it.
    const uint8_t *inside = pixel(f, 135, 75), *edge = pixel(f, 136, 75), *outside = pixel(f, 137, 75);
    for (int32_t k = 0; k < 3; k++) {
        double mean = 0.5 * (linear(inside[k] / 255.0) + linear(outside[k] / 255.0));
        assert_near((double)edge[k], 255.0 * encoded(mean), 1.5);
    }
}

/// A cube turned by 45 degrees shows an edge; the pixel that it halves is the mean of both faces.
static void edges_inside_of_a_shape_are_smoothed(void **state) {
    fixture *f = *state;
    double pixel_size = (2.0 - 0.2 * sqrt(2.0)) / 150.0;
    stn_geometry_spec cube = painted(stn_shape_box(stn_vec3_make(0.2, 0.2, 0.2)), 0.85f, 0.45f, 0.15f, 1.0f);
    cube.pose.rotation = stn_mat3_from_rpy(0.0, 0.0, 0.25 * STN_PI);
    cube.pose.position.y = 0.5 * pixel_size; // the edge lies at 100.5
    add_geometry(f, STN_WORLD, &cube);
    compile(f);
    stand(f, 2.0, 0.0);
    draw(f);
    const uint8_t *left = pixel(f, 98, 75), *edge = pixel(f, 100, 75), *right = pixel(f, 102, 75);
    assert_true(left[0] > right[0] + 20); // the lamp stands on the left
    for (int32_t k = 0; k < 3; k++) {
        double mean = 0.5 * (linear(left[k] / 255.0) + linear(right[k] / 255.0));
        assert_near((double)edge[k], 255.0 * encoded(mean), 2.0);
    }
}

static void the_nearer_of_two_hides_the_other(void **state) {
    fixture *f = *state;
    stn_vec3 h = {0.1, 0.3, 0.3};
    add_box(f, stn_vec3_make(0.5, 0.0, 0.0), h, ORANGE);
    add_box(f, stn_vec3_make(-0.5, 0.2, 0.0), h, BLUE);
    compile(f);
    stand(f, 3.0, 0.0);
    draw(f);
    const uint8_t *near = pixel(f, 110, 75), *far = pixel(f, 120, 75);
    assert_true(near[0] > near[2] && far[2] > far[0]);
    // the orange box ends at 100 + 150 * 0.3 / 2.4 = 118.75, seen from its front face
    assert_true(pixel(f, 117, 75)[0] > pixel(f, 117, 75)[2]);
}

static void a_translucent_shape_mixes_with_what_is_behind(void **state) {
    fixture *f = *state;
    const float glass[4] = {0.20f, 0.45f, 0.70f, 0.25f};
    stn_vec3 h = {0.1, 0.5, 0.5};
    add_box(f, stn_vec3_make(-1.0, 0.0, 0.0), h, ORANGE);
    add_box(f, stn_vec3_make(0.0, 0.3, 0.0), stn_vec3_make(0.1, 0.3, 0.5), glass);
    compile(f);
    stand(f, 3.0, 0.0);
    draw(f);
    double k = shade(stn_vec3_make(1.0, 0.0, 0.0), stn_vec3_make(1.0, 0.0, 0.0), to_lamp(0.0), 1.0);
    double mixed[3];
    for (int32_t c = 0; c < 3; c++) {
        mixed[c] = encoded(k * (0.75 * linear((double)ORANGE[c]) + 0.25 * linear((double)glass[c])));
    }
    expect_colour(f, 103, 75, mixed[0], mixed[1], mixed[2]);
    expect_colour(f, 97, 75, encoded(k * linear(0.85)), encoded(k * linear(0.45)), encoded(k * linear(0.15)));
}

static void translucent_shapes_are_hidden_and_throw_no_shadow(void **state) {
    fixture *f = *state;
    const float glass[4] = {0.20f, 0.45f, 0.70f, 0.5f};
    add_box(f, stn_vec3_zero(), stn_vec3_make(0.3, 0.3, 0.3), ORANGE);
    add_box(f, stn_vec3_make(-1.0, 0.0, 0.0), stn_vec3_make(0.2, 0.2, 0.2), glass); // behind it
    stn_vec3 between = stn_vec3_mul_add(stn_vec3_make(0.3, 0.0, 0.0), 0.6, to_lamp(0.0));
    add_box(f, between, stn_vec3_make(0.1, 0.1, 0.1), glass); // on the light's way to the middle of its face
    compile(f);
    stand(f, 3.0, 0.0);
    draw(f);
    double k = shade(stn_vec3_make(1.0, 0.0, 0.0), stn_vec3_make(1.0, 0.0, 0.0), to_lamp(0.0), 1.0);
    expect_colour(f, 100, 75, encoded(k * linear(0.85)), encoded(k * linear(0.45)), encoded(k * linear(0.15)));
}

static void what_is_nearly_invisible_is_not_drawn(void **state) {
    fixture *f = *state;
    const float faint[4] = {0.0f, 0.0f, 0.0f, 0.04f};
    add_box(f, stn_vec3_zero(), stn_vec3_make(0.2, 0.2, 0.2), faint);
    compile(f);
    stand(f, 2.0, 0.0);
    draw(f);
    assert_memory_equal(pixel(f, 100, 75), pixel(f, 10, 75), 3);
}

static void add_ground(fixture *f) {
    stn_geometry_spec ground = painted(stn_shape_half_space(), 0.5f, 0.5f, 0.5f, 1.0f);
    add_geometry(f, STN_WORLD, &ground);
}

/// The pixel that shows a point when the camera stands as `stand` says.
static void find_pixel(stn_vec3 p, double distance, double elevation_deg, int32_t *column, int32_t *row) {
    double e = elevation_deg * STN_PI / 180.0, depth = distance - (p.x * cos(e) + p.z * sin(e));
    *column = (int32_t)floor(100.0 + 150.0 * p.y / depth);
    *row = (int32_t)floor(75.0 - 150.0 * (p.z * cos(e) - p.x * sin(e)) / depth);
}

static void a_sphere_throws_its_shadow_along_the_lamp(void **state) {
    fixture *f = *state;
    add_ground(f);
    stn_vec3 centre = {0.0, 0.0, 0.5}, lamp = to_lamp(0.0), up = {0.0, 0.0, 1.0};
    stn_geometry_spec ball = painted(stn_shape_sphere(0.15), 0.85f, 0.45f, 0.15f, 1.0f);
    ball.pose.position = centre;
    add_geometry(f, STN_WORLD, &ball);
    compile(f);
    stand(f, 4.0, 60.0);
    draw(f);
    // The ground is mixed from a fifth of its colour and white. The shadow's middle lies where the light through the
    // ball's centre meets the ground; its half axes are 0.15 / sin(52 deg) and 0.15.
    double albedo = 0.2 * linear(0.5) + 0.8;
    stn_vec3 middle = stn_vec3_mul_add(centre, -0.5 / lamp.z, lamp);
    double e = 60.0 * STN_PI / 180.0;
    stn_vec3 eye = {4.0 * cos(e), 0.0, 4.0 * sin(e)};
    const double along[] = {0.0, 0.8, 1.25};
    stn_vec3 out = stn_vec3_normalize_or(stn_vec3_make(lamp.x, lamp.y, 0.0), up);
    for (int32_t i = 0; i < STN_COUNT(along); i++) {
        stn_vec3 p = stn_vec3_mul_add(middle, -0.15 / lamp.z * along[i], out);
        int32_t column, row;
        find_pixel(p, 4.0, 60.0, &column, &row);
        stn_vec3 to_eye = stn_vec3_normalize_or(stn_vec3_sub(eye, p), up);
        double k = encoded(albedo * shade(up, to_eye, lamp, along[i] < 1.0 ? 0.0 : 1.0));
        expect_colour(f, column, row, k, k, k);
    }
}

/// Every pixel of a ball shows the light of its radial normal, none of it its own shadow.
static void a_lone_ball_does_not_shadow_itself(void **state) {
    fixture *f = *state;
    stn_geometry_spec ball = painted(stn_shape_sphere(0.5), 0.85f, 0.45f, 0.15f, 1.0f);
    add_geometry(f, STN_WORLD, &ball);
    compile(f);
    stand(f, 2.0, 0.0);
    draw(f);
    stn_vec3 eye = {2.0, 0.0, 0.0}, lamp = to_lamp(0.0);
    int32_t seen = 0;
    for (int32_t i = 0; i < 200 * 150; i++) {
        // A pixel is shaded at its first sample, where the ray (-1, y, z) meets the ball.
        double y = (i % 200 + 0.25 - 100.0) / 150.0, z = (75.0 - 0.25 - i / 200) / 150.0, r2 = 1.0 + y * y + z * z;
        double inner = 4.0 - r2 * (4.0 - 0.25);
        if (inner < 0.05) {
            continue; // beside it, or near the rim, where a pixel spans many directions
        }
        double t = (2.0 - sqrt(inner)) / r2;
        stn_vec3 p = {2.0 - t, t * y, t * z}, n = stn_vec3_scale(2.0, p);
        double k = shade(n, stn_vec3_scale(1.0 / (t * sqrt(r2)), stn_vec3_sub(eye, p)), lamp, 1.0);
        assert_near((double)f->pixels[3 * i], 255.0 * encoded(k * linear(0.85)), 3.0);
        seen++;
    }
    assert_true(seen > 3000);
}

static void a_box_on_the_ground_shadows_it_up_to_its_edge(void **state) {
    fixture *f = *state;
    add_ground(f);
    add_box(f, stn_vec3_make(0.0, 0.0, 0.2), stn_vec3_make(0.2, 0.2, 0.2), ORANGE);
    compile(f);
    stand(f, 4.0, 35.0);
    draw(f);
    // Right of the box, on the far side of the lamp, two pixels and six past its edge y = 0.2; the shadow
    // is 0.4 m * 0.47 / 0.79 wide, at x = 0 as far as the box goes, 9 pixels.
    int32_t column, row;
    find_pixel(stn_vec3_make(0.0, 0.2, 0.0), 4.0, 35.0, &column, &row);
    const uint8_t *near = pixel(f, column + 2, row), *far = pixel(f, column + 6, row);
    find_pixel(stn_vec3_make(0.3, -0.5, 0.0), 4.0, 35.0, &column, &row); // towards the lamp
    const uint8_t *lit = pixel(f, column, row);
    assert_true(near[0] + 30 < lit[0] && far[0] + 30 < lit[0]);
}

/// From below the ground, which the lower half of the picture looks away from and the upper half meets from inside.
static void planes_are_not_seen_from_inside(void **state) {
    fixture *f = *state;
    stn_geometry_spec roof = painted(stn_shape_half_space(), 1.0f, 0.0f, 0.0f, 1.0f);
    roof.pose.position.z = 0.5;
    add_geometry(f, STN_WORLD, &roof);
    add_box(f, stn_vec3_zero(), stn_vec3_make(0.2, 0.2, 0.2), ORANGE);
    compile(f);
    stand(f, 1.5, 0.0);
    draw(f);
    assert_true(pixel(f, 100, 75)[0] > pixel(f, 100, 75)[2] + 40); // the box
    for (int32_t row = 0; row < 150; row++) {
        for (int32_t column = 0; column < 40; column++) { // the background
            assert_true(pixel(f, column, row)[2] >= pixel(f, column, row)[0] && pixel(f, column, row)[0] > 200);
        }
    }
}

// ----------------------------------------------------------------------------------------------- which shapes, marks

/// Two links side by side: one has a blue visual and a larger red collision shape, the other a green collision shape.
static void add_pair(fixture *f) {
    int32_t left = add_body(f, "left", true), right = add_body(f, "right", true);
    stn_geometry_spec visual = painted(stn_shape_sphere(0.2), 0.1f, 0.1f, 0.9f, 1.0f);
    stn_geometry_spec cover = painted(stn_shape_sphere(0.25), 0.9f, 0.1f, 0.1f, 1.0f);
    stn_geometry_spec alone = painted(stn_shape_sphere(0.2), 0.1f, 0.9f, 0.1f, 1.0f);
    visual.collision = cover.visual = alone.visual = false;
    visual.pose.position = cover.pose.position = stn_vec3_make(0.0, -0.4, 0.0);
    alone.pose.position = stn_vec3_make(0.0, 0.4, 0.0);
    add_geometry(f, left, &visual);
    add_geometry(f, left, &cover);
    add_geometry(f, right, &alone);
    compile(f);
    stand(f, 3.0, 0.0);
}

static int32_t strongest(const uint8_t *p) {
    return p[0] > p[1] ? (p[0] > p[2] ? 0 : 2) : (p[1] > p[2] ? 1 : 2);
}

static void links_without_a_visual_show_their_collision_shapes(void **state) {
    fixture *f = *state;
    add_pair(f);
    draw(f);
    assert_int_equal(strongest(pixel(f, 80, 75)), 2);
    assert_int_equal(strongest(pixel(f, 120, 75)), 1);
}

static void collision_shapes_are_drawn_when_asked_for(void **state) {
    fixture *f = *state;
    add_pair(f);
    set_text(f, "geometry", "collision");
    draw(f);
    assert_int_equal(strongest(pixel(f, 80, 75)), 0);
    assert_int_equal(strongest(pixel(f, 120, 75)), 1);
}

static void both_show_collision_shapes_like_glass_over_visuals(void **state) {
    fixture *f = *state;
    add_pair(f);
    draw(f);
    uint8_t before[3], other[3];
    memcpy(before, pixel(f, 80, 75), 3);
    memcpy(other, pixel(f, 120, 75), 3);
    set_text(f, "geometry", "both");
    draw(f);
    const uint8_t *p = pixel(f, 80, 75);
    assert_true(p[0] > before[0] + 40 && p[2] > 100); // red over blue, which still shows
    assert_memory_equal(pixel(f, 120, 75), other, 3);
}

static void contact_points_are_marked_over_everything(void **state) {
    fixture *f = *state;
    add_box(f, stn_vec3_zero(), stn_vec3_make(0.2, 0.2, 0.2), BLUE);
    compile(f);
    stand(f, 2.0, 0.0);
    stn_contact contact = {.point = {-0.1, 0.1, 0.1}}; // inside of the box
    f->contacts = (stn_contact_set){.count = 1, .contacts = &contact};
    f->step = 1; // the observation of step 0 has no contacts
    draw(f);
    double depth = 2.1;
    int32_t column = (int32_t)(100.0 + 150.0 * 0.1 / depth), row = (int32_t)(75.0 - 150.0 * 0.1 / depth);
    assert_int_equal(strongest(pixel(f, column, row)), 2);
    set_number(f, "contacts", 1.0);
    f->settings[f->setting_count - 1].form = STN_SETTING_BOOL;
    draw(f);
    assert_int_equal(strongest(pixel(f, column, row)), 0);
    assert_int_equal(strongest(pixel(f, column + 8, row)), 2); // a small mark
}

/// Three squares inside of the box, x = -0.1: to the left with 1000 Pa, to the right with 40, above with 520.
static void faces_of_patches_have_the_colour_of_their_pressure(void **state) {
    fixture *f = *state;
    static const double corner[3][2] = {{-0.1, -0.05}, {0.0, -0.05}, {-0.05, 0.06}}, value[3] = {1000.0, 40.0, 520.0};
    stn_vec3 vertices[12];
    double pressure[12];
    stn_contact faces[3];
    for (int32_t k = 0; k < 12; k++) {
        const double *c = corner[k / 4];
        vertices[k] =
            stn_vec3_make(-0.1, c[0] + (k % 4 == 1 || k % 4 == 2 ? 0.1 : 0.0), c[1] + (k % 4 >= 2 ? 0.1 : 0.0));
        pressure[k] = value[k / 4];
        faces[k / 4] = (stn_contact){.vertex_start = k / 4 * 4, .vertex_count = 4};
    }
    add_box(f, stn_vec3_zero(), stn_vec3_make(0.2, 0.2, 0.2), BLUE);
    compile(f);
    stand(f, 2.0, 0.0);
    f->contacts = (stn_contact_set){
        .count = 3, .contacts = faces, .vertices = vertices, .vertex_pressure = pressure, .vertex_count = 12};
    f->step = 1;
    set_number(f, "contacts", 1.0);
    f->settings[f->setting_count - 1].form = STN_SETTING_BOOL;
    draw(f);
    const uint8_t *left = pixel(f, 100 - 4, 75), *above = pixel(f, 100, 75 - 8);
    assert_true(left[0] > 180 && left[1] > 160 && left[2] < 90); // the light end
    assert_int_equal(strongest(above), 1);
    assert_true(above[2] > 60);
    assert_int_equal(strongest(pixel(f, 100 + 4, 75)), 2); // below a sixteenth of the largest: the box
}

static void frames_of_links_are_marked_with_three_colours(void **state) {
    fixture *f = *state;
    int32_t link = add_body(f, "body", true);
    stn_geometry_spec box = painted(stn_shape_box(stn_vec3_make(0.5, 0.5, 0.5)), 0.5f, 0.5f, 0.5f, 1.0f);
    add_geometry(f, link, &box);
    compile(f);
    stand(f, 4.0, 0.0);
    set_number(f, "frames", 1.0);
    f->settings[f->setting_count - 1].form = STN_SETTING_BOOL;
    f->settings[0].number = 800; // lines are a pixel wide at 500 rows
    f->settings[1].number = 600;
    draw(f);
    // y points right and z up; half of 0.07 of the scene's radius, 0.87 m, is 4.5 pixels of 150 a metre
    assert_int_equal(strongest(pixel(f, 404, 300)), 1);
    assert_int_equal(strongest(pixel(f, 400, 295)), 2);
}

// ------------------------------------------------------------------------------------------------ moving and fitting

static void bodies_are_drawn_where_the_step_put_them(void **state) {
    fixture *f = *state;
    int32_t link = add_body(f, "ball", false);
    stn_geometry_spec ball = painted(stn_shape_sphere(0.1), 0.9f, 0.1f, 0.1f, 1.0f);
    add_geometry(f, link, &ball);
    compile(f);
    stand(f, 3.0, 0.0);
    recording r;
    assert_ok(begin(f, &r), f->err);
    assert_ok(observe(f, &r), f->err);
    double q[7] = {0.0, 0.5, 0.2, 1.0, 0.0, 0.0, 0.0}, v[6] = {0.0};
    stn_kinematics_update(f->kinematics, q, v);
    assert_ok(observe(f, &r), f->err);
    assert_ok(end(f, &r), f->err);
    read_picture(f, f->path);
    assert_int_equal(strongest(pixel(f, 125, 65)), 0); // 50 pixels a metre
    assert_int_equal(strongest(pixel(f, 100, 75)), 2); // the background
}

static void nodes_of_deformables_are_spheres(void **state) {
    fixture *f = *state;
    const double position[6] = {0.0, -0.5, 0.0, 0.0, 0.5, 0.0}, mass[2] = {1.0, 1.0};
    stn_nodes_spec spec = {.name = "cloud",
                           .node_count = 2,
                           .position = position,
                           .mass = mass,
                           .contact_radius = 0.1,
                           .material = stn_material_unset()};
    int32_t nodes = 0;
    assert_ok(stn_builder_add_nodes(f->builder, &spec, &nodes, &f->err), f->err);
    compile(f);
    stand(f, 3.0, 0.0);
    draw(f);
    assert_true(pixel(f, 75, 75)[1] < 200 && pixel(f, 125, 75)[1] < 200 && pixel(f, 100, 75)[1] > 220);
}

/// Seen along x: a bar along the z axis of a node that is turned about x lies across the picture.
static void shapes_of_nodes_that_turn_lie_along_their_axes(void **state) {
    fixture *f = *state;
    const double position[3] = {0.0, 0.0, 0.1}, mass = 1.0, inertia[3] = {0.1, 0.1, 0.1};
    const double turned[4] = {sqrt(0.5), sqrt(0.5), 0.0, 0.0};
    stn_nodes_spec spec = {.name = "cable",
                           .node_count = 1,
                           .position = position,
                           .mass = &mass,
                           .material = stn_material_unset(),
                           .type = STN_NODE_FRAME,
                           .orientation = turned,
                           .inertia = inertia};
    int32_t nodes = 0;
    assert_ok(stn_builder_add_nodes(f->builder, &spec, &nodes, &f->err), f->err);
    stn_geometry_spec bar = painted(stn_shape_capsule(0.05, 0.5), 0.9f, 0.1f, 0.1f, 1.0f);
    bar.pose.position = stn_vec3_make(0.0, 0.2, 0.0); // of the node's y, which is up: 0.3 m above the middle
    assert_ok(stn_builder_add_node_geometry(f->builder, nodes, 0, &bar, &f->err), f->err);
    compile(f);
    stand(f, 3.0, 0.0);
    draw(f);
    for (int32_t column = 78; column <= 122; column += 11) { // 50 pixels a metre
        assert_int_equal(strongest(pixel(f, column, 60)), 0);
    }
    assert_int_equal(strongest(pixel(f, 100, 70)), 2);
    assert_int_equal(strongest(pixel(f, 60, 60)), 2);
    assert_int_equal(strongest(pixel(f, 100, 48)), 2);
}

/// Without a distance the shapes fill the picture but for a margin of 7 % of its half.
static void the_picture_fits_what_is_bounded(void **state) {
    fixture *f = *state;
    add_ground(f);
    stn_geometry_spec bar = painted(stn_shape_capsule(0.05, 1.0), 0.9f, 0.1f, 0.1f, 1.0f);
    bar.pose.rotation = stn_contact_frame(stn_vec3_make(0.0, 1.0, 0.0));
    bar.pose.position = stn_vec3_make(7.0, -3.0, 2.0);
    add_geometry(f, STN_WORLD, &bar);
    compile(f);
    set_number(f, "width", 200);
    set_number(f, "height", 150);
    set_number(f, "azimuth", 0.0);
    set_number(f, "elevation", 10.0);
    draw(f);
    int32_t left = 200, right = -1;
    for (int32_t i = 0; i < 200 * 150; i++) {
        if (f->pixels[3 * i] > f->pixels[3 * i + 2] + 60) {
            left = i % 200 < left ? i % 200 : left;
            right = i % 200 > right ? i % 200 : right;
        }
    }
    assert_in_range(left, 6, 8); // 7 pixels
    assert_in_range(right, 191, 193);
}

static void equal_states_give_equal_bytes(void **state) {
    fixture *f = *state;
    add_ground(f);
    stn_geometry_spec ball = painted(stn_shape_sphere(0.1), 0.9f, 0.1f, 0.1f, 0.5f);
    add_geometry(f, add_body(f, "ball", false), &ball);
    compile(f);
    static char first[1 << 20], second[1 << 20];
    for (int32_t i = 0; i < 2; i++) {
        f->step = 0;
        assert_ok(record(f), f->err);
        FILE *file = fopen(f->path, "rb");
        assert_non_null(file);
        size_t size = fread(i == 0 ? first : second, 1, sizeof first, file);
        fclose(file);
        assert_int_equal(size, size_of_file(f->path));
    }
    assert_memory_equal(first, second, sizeof first);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_face_towards_the_lamp_shows_its_colour),
        TEST(faces_away_from_the_lamp_show_ambient_light),
        TEST(a_box_covers_the_pixels_between_its_projected_corners),
        TEST(edges_are_smoothed),
        TEST(edges_inside_of_a_shape_are_smoothed),
        TEST(the_nearer_of_two_hides_the_other),
        TEST(a_translucent_shape_mixes_with_what_is_behind),
        TEST(translucent_shapes_are_hidden_and_throw_no_shadow),
        TEST(what_is_nearly_invisible_is_not_drawn),
        TEST(a_sphere_throws_its_shadow_along_the_lamp),
        TEST(a_lone_ball_does_not_shadow_itself),
        TEST(a_box_on_the_ground_shadows_it_up_to_its_edge),
        TEST(planes_are_not_seen_from_inside),
        TEST(links_without_a_visual_show_their_collision_shapes),
        TEST(collision_shapes_are_drawn_when_asked_for),
        TEST(both_show_collision_shapes_like_glass_over_visuals),
        TEST(contact_points_are_marked_over_everything),
        TEST(faces_of_patches_have_the_colour_of_their_pressure),
        TEST(frames_of_links_are_marked_with_three_colours),
        TEST(bodies_are_drawn_where_the_step_put_them),
        TEST(nodes_of_deformables_are_spheres),
        TEST(shapes_of_nodes_that_turn_lie_along_their_axes),
        TEST(the_picture_fits_what_is_bounded),
        TEST(equal_states_give_equal_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
