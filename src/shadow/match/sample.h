/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One moment of the original, as a sample recorded it. */
#ifndef SHADOW_MATCH_SAMPLE_H
#define SHADOW_MATCH_SAMPLE_H

#include "../copy/reached.h"

#include <stdint.h>

/* What a sample of the original recorded, oldest sample first. */
struct hp_engine_sample {
	uint64_t general[16]; /* as instructions number them: rax rcx rdx rbx rsp rbp rsi rdi r8 ...
			       */
	uint64_t ip;
	uint64_t flags;
	uint64_t time_ns;     /* user CPU time since the shadow was copied; 0 in all: not known */
	const uint8_t *stack; /* from rsp upward */
	uint32_t stack_bytes;
	const struct reached *reached; /* NULL: not known */
};

#endif
