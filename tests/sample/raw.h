/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ring records made by hand, byte by byte, as perf_event_open(2) describes them.
 *
 *	struct raw raw = raw_begin(PERF_RECORD_COMM, misc);
 *	raw_u32(&raw, pid); …
 *	raw_end(&raw, layout, trailer);
 */
#ifndef TESTS_SAMPLE_RAW_H
#define TESTS_SAMPLE_RAW_H

#include <hpcprof/sample/record.h>

enum { RAW_LIMIT_BYTES = 1024, RAW_CPU = 3 };

struct raw {
	uint8_t bytes[RAW_LIMIT_BYTES];
	size_t size;
};

/* What sample_id_all appends. */
struct raw_trailer {
	uint32_t pid;
	uint32_t tid;
	uint64_t time_ns;
	uint64_t id;
};

struct raw raw_begin(uint32_t type, uint16_t misc);
void raw_bytes(struct raw *raw, const void *bytes, size_t size);
void raw_u8(struct raw *raw, uint8_t value);
void raw_u16(struct raw *raw, uint16_t value);
void raw_u32(struct raw *raw, uint32_t value);
void raw_u64(struct raw *raw, uint64_t value);
/* With its NUL, and more of them up to a multiple of 8. */
void raw_string(struct raw *raw, const char *text);
/* Appends the trailer and writes the size into the header. Samples have none: raw_size. */
void raw_end(struct raw *raw, struct hp_record_layout layout, struct raw_trailer trailer);
void raw_size(struct raw *raw);

/* Whole records. A sample's path has two addresses in the kernel, 0xffffffff80006000 and up, and
 * three in user code, 0x6002 and up. Its three branches go from 0x4000 and up to 0x5000 and up, its
 * registers are 0x1000 and up, its stack the bytes 0 and up, of which half could be had. */
struct raw raw_sample(struct hp_record_layout layout, struct raw_trailer from, uint64_t address,
		      uint64_t period);
struct raw raw_comm(struct hp_record_layout layout, struct raw_trailer from, const char *name,
		    uint16_t misc);

#endif
