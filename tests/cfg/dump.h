/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A graph as text, one block or edge per line, the same in every build. */
#ifndef TESTS_CFG_DUMP_H
#define TESTS_CFG_DUMP_H

#include <hpcprof/cfg/cfg.h>

#include <stdio.h>

void cfg_dump(const struct hp_cfg *cfg, FILE *stream);
const char *block_end_name(enum hp_block_end end);

#endif
