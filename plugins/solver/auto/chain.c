// SPDX-License-Identifier: Apache-2.0
// See chain.h.
#include "chain.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST_ID = 64 };

/// One entry: its id without blanks, and the number after the colon; false where there is none.
static bool read_entry(const char *text, size_t length, char id[LONGEST_ID], int32_t *iterations) {
    size_t start = strspn(text, " "), size = strcspn(text + start, " :,");
    if (size == 0 || size >= LONGEST_ID || start + size >= length) {
        return false;
    }
    memcpy(id, text + start, size);
    id[size] = '\0';
    const char *at = text + start + size + strspn(text + start + size, " ");
    if (*at != ':') {
        return false;
    }
    char *end = NULL;
    long value = strtol(at + 1, &end, 10);
    *iterations = (int32_t)value;
    return end != at + 1 && end + strspn(end, " ") == text + length && value >= 1 && value <= 100000000;
}

stn_status chain_create(stn_context *context, const char *text, chain *out, stn_error *err) {
    *out = (chain){.context = context};
    for (const char *at = text;; at++) {
        char id[LONGEST_ID];
        size_t length = strcspn(at, ",");
        stage *s = &out->stages[out->count];
        if (out->count == MOST_STAGES) {
            return stn_fail(err, STN_ERR_PARAMETER, "chain: more than %d solvers", MOST_STAGES);
        }
        if (!read_entry(at, length, id, &s->iterations)) {
            return stn_fail(err, STN_ERR_PARAMETER, "chain: '%.*s' must be ID:ITERATIONS, such as bisection:300",
                            (int)length, at);
        }
        stn_status status = stn_instance_create(context, STN_KIND_SOLVER, id, NULL, 0, &s->solver, err);
        if (status != STN_OK) {
            return status;
        }
        out->count++;
        const stn_plugin_desc *desc = s->solver->desc;
        s->ops = desc->ops.solver;
        s->dense = stn_plugin_says(s->solver, "dense");
        // what a stage must be: the core has prepared the problem for one that solves Coulomb's law and needs no law
        if (strcmp(desc->id, "auto") == 0) {
            return stn_fail(err, STN_ERR_PARAMETER, "chain: auto is no part of a chain");
        }
        if (stn_plugin_says(s->solver, "approximate")) {
            return stn_fail(err, STN_ERR_PARAMETER,
                            "chain: solver %s is approximate: it never comes to the tolerance, which a chain goes on "
                            "for",
                            desc->id);
        }
        stn_formulation formulation = stn_solver_formulation(s->solver);
        bool law = stn_solver_takes_law(s->ops);
        if (formulation != STN_NCP || law) {
            return stn_fail(err, STN_ERR_PARAMETER,
                            "chain: solver %s solves %s%s, all of a chain must solve %s without a law", desc->id,
                            stn_formulation_name(formulation), law && formulation == STN_NCP ? " with a law" : "",
                            stn_formulation_name(STN_NCP));
        }
        if ((s->ops->needs & ~(uint32_t)STN_NEEDS_DELASSUS) != 0) {
            return stn_fail(err, STN_ERR_PARAMETER,
                            "chain: solver %s needs %s, which a chain has not got: the Delassus operator is all",
                            desc->id,
                            (s->ops->needs & STN_NEEDS_INVERSE) != 0      ? "the inverse of A"
                            : (s->ops->needs & STN_NEEDS_V_POSITION) != 0 ? "a velocity of its own that moves q"
                                                                          : "rigid contacts");
        }
        if (s->ops->yields == STN_YIELDS_VELOCITY || desc->memory_per_constraint > 0) {
            return stn_fail(err, STN_ERR_PARAMETER, "chain: solver %s %s, which a chain has no room for", desc->id,
                            s->ops->yields == STN_YIELDS_VELOCITY ? "yields no impulses" : "keeps memory");
        }
        at += length;
        if (*at == '\0') {
            return STN_OK;
        }
    }
}

void chain_clear(chain *c) {
    for (int32_t k = 0; k < c->count; k++) {
        stn_instance_destroy(c->stages[k].solver);
    }
    c->count = 0;
}
