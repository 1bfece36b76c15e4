// SPDX-License-Identifier: Apache-2.0
// Links of the robot, up to a limit.
#include "mjcf.h"

enum { MOST_LINKS = 50000 }; // an element of seven letters is one here

int32_t mjcf_add_link(robot_reader *reader, const char *name, const xml_element *xml) {
    if (reader->link_count < MOST_LINKS) {
        return robot_add_link(reader, name, xml);
    }
    if (!mjcf_of(reader)->too_many_links) {
        mjcf_of(reader)->too_many_links = true;
        robot_error(reader, xml, "size", "one robot may have %d links: bodies, named sites and parts between joints",
                    (int)MOST_LINKS);
    }
    return -1;
}
