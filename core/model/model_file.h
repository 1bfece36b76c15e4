// SPDX-License-Identifier: Apache-2.0
// A model by value: what its builder held, as a block of bytes, with its meshes and the parameters of element plugins.
// Decoding goes through a builder, which is compiled again and gives the same model bit for bit. Meshes that are only
// drawn stay references.
#ifndef STICTION_CORE_MODEL_MODEL_FILE_H
#define STICTION_CORE_MODEL_MODEL_FILE_H

#include "base/bytes.h"
#include "model/built.h"

/// Writes the block; the caller clears `out`.
stn_status model_encode(const stn_model *model, byte_stream *out, stn_error *err);
/// Fills an empty builder, to be compiled. On failure the builder is to be destroyed. STN_ERR_PARSE, STN_ERR_PLUGIN
/// (element plugins), or what the builder refuses.
stn_status model_decode(stn_model_builder *builder, const void *data, size_t size, stn_error *err);

#endif
