// SPDX-License-Identifier: Apache-2.0
// The blocks `camera`, where the camera of the script was in the frames of the block before, and `caption`.
#include <math.h>
#include <string.h>

#include "html.h"

void cameras_add(camera_writer *w, const stn_observation *o) {
    w->placed = camera_path_take(&w->path, o);
}

void cameras_note(camera_writer *w, int32_t frame) {
    const camera_shot *s = &w->path.shot;
    const double numbers[CAMERA_NUMBERS] = {s->middle.x,      s->middle.y, s->middle.z, s->half.x,
                                            s->half.y,        s->half.z,   s->azimuth,  s->elevation,
                                            s->field_of_view, s->distance, s->fitted};
    for (int32_t c = 0; c < CAMERA_NUMBERS; c++) {
        w->column[c][frame] = w->placed ? (float)numbers[c] : NAN;
    }
    w->any = w->any || w->placed;
}

void cameras_write(camera_writer *w, int32_t frames, bytes *out) {
    bytes_clear(out);
    bytes_put_u(out, (uint64_t)frames);
    for (int32_t c = 0; c < CAMERA_NUMBERS; c++) {
        bytes_put_planes(out, (const uint8_t *)w->column[c], frames, sizeof w->column[c][0]);
    }
    w->any = false;
}

stn_status caption_write(const char *text, int64_t frame, bytes *out, stn_error *err) {
    bytes_clear(out);
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "frame", (double)frame);
    cJSON_AddStringToObject(json, "text", text);
    char *printed = cJSON_PrintUnformatted(json);
    if (printed != NULL) {
        bytes_put(out, printed, strlen(printed));
    }
    bool whole = printed != NULL && !out->failed;
    cJSON_free(printed);
    cJSON_Delete(json);
    return whole ? STN_OK : stn_fail(err, STN_ERR_MEMORY, "out of memory for a caption");
}
