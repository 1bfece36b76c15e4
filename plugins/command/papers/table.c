// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "common/terminal.h"
#include "report.h"
#include "words.h"

static void print_failure(FILE *file, const char *what, const char *run, const char *text) {
    (void)file; // stdout
    const cli_terminal terminal = cli_terminal_of_stdout();
    char line[1024];
    snprintf(line, sizeof line, "  %-20s  %s: %s", what, run, text);
    cli_print_cut(&terminal, line);
}

int32_t paper_table(const paper_report *r, int32_t counts[PAPER_VERDICT_COUNT]) {
    int32_t failed = 0;
    const cli_terminal terminal = cli_terminal_of_stdout();
    for (int32_t p = 0; p < r->paper_count; p++) {
        printf("%s%s\n", p > 0 ? "\n" : "", r->papers[p].name);
        for (int32_t k = 0; k < r->papers[p].row_count; k++) {
            const paper_row *row = &r->papers[p].rows[k];
            const paper_judgement j = paper_judge(r, p, k);
            char published[512], ours[96], line[2048];
            paper_published(row, published, sizeof published);
            paper_ours(row, &j, ours, sizeof ours);
            snprintf(line, sizeof line, "  %-20s  %-10s  %s: %s; ours %s%s%s", paper_verdict_words[j.verdict],
                     row->place, row->quantity, published, ours[0] != '\0' ? ours : "none",
                     j.reason[0] != '\0' ? "; " : "", j.reason);
            cli_print_cut(&terminal, line);
            counts[j.verdict]++;
        }
        failed += paper_find_failures(r, p, stdout, print_failure);
    }
    putchar('\n');
    paper_put_counts(stdout, counts);
    putchar('\n');
    return failed;
}
