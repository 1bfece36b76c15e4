// SPDX-License-Identifier: Apache-2.0
// Messages between processes of one command, over a socket that both have: whole or not at all.
#ifndef STICTION_COMMAND_COMMON_FRAMES_H
#define STICTION_COMMAND_COMMON_FRAMES_H

#include <stiction/base.h>

/// A message that came; its bytes are owned, and used again by the next one.
typedef struct cli_frame {
    int32_t peer; // whom it is from, or for: what that means is the sender's
    int32_t size; // bytes
    char *bytes;  // (size + 1) the last one is 0
    size_t room;
} cli_frame;

/// Writes a message whose bytes are `head` and then `body`; NULL for one that has none. False: nobody reads it any
/// more.
bool cli_frame_write(int socket, int32_t peer, const void *head, size_t head_size, const void *body, size_t body_size);
/// Waits for a message. False: there will be none, the other end is closed or broke off in the middle of one.
bool cli_frame_read(int socket, cli_frame *frame);
void cli_frame_clear(cli_frame *frame);

#endif
