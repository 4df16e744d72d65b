/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fuzz target: feeds any bytes to a parser, and returns 0. It may abort (through a sanitizer, or
 * its own check of what the parser claims) only when the parser is wrong.
 *
 * fuzz_NAME.c defines it; tests/fuzz/corpus/NAME/ holds small inputs worth starting from. Built
 * with --enable-fuzz it is a libFuzzer program, otherwise replay.c runs the corpus through it.
 */
#ifndef HPCPROF_TESTS_FUZZ_H
#define HPCPROF_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#endif
