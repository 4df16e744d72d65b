/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "raw.h"

#include <hpcprof/base/number.h>

#include <check.h>
#include <linux/perf_event.h>
#include <string.h>

void raw_bytes(struct raw *raw, const void *bytes, size_t size)
{
	ck_assert_uint_le(size, sizeof(raw->bytes) - raw->size);
	memcpy(raw->bytes + raw->size, bytes, size);
	raw->size += size;
}

void raw_u8(struct raw *raw, uint8_t value)
{
	raw_bytes(raw, &value, sizeof(value));
}

void raw_u16(struct raw *raw, uint16_t value)
{
	raw_bytes(raw, &value, sizeof(value));
}

void raw_u32(struct raw *raw, uint32_t value)
{
	raw_bytes(raw, &value, sizeof(value));
}

void raw_u64(struct raw *raw, uint64_t value)
{
	raw_bytes(raw, &value, sizeof(value));
}

struct raw raw_begin(uint32_t type, uint16_t misc)
{
	struct raw raw = { .size = 0 };

	raw_u32(&raw, type);
	raw_u16(&raw, misc);
	raw_u16(&raw, 0);
	return raw;
}

void raw_string(struct raw *raw, const char *text)
{
	raw_bytes(raw, text, strlen(text) + 1);
	while (raw->size % 8)
		raw_u8(raw, 0);
}

void raw_size(struct raw *raw)
{
	uint16_t size = (uint16_t)raw->size;

	memcpy(raw->bytes + 6, &size, sizeof(size));
}

static void raw_origin(struct raw *raw, struct hp_record_layout layout, struct raw_trailer from)
{
	if (layout.event_id)
		raw_u64(raw, from.id);
	if (layout.stream)
		raw_u64(raw, 0x1111);
	if (layout.cpu)
		raw_u64(raw, RAW_CPU);
}

void raw_end(struct raw *raw, struct hp_record_layout layout, struct raw_trailer trailer)
{
	raw_u32(raw, trailer.pid);
	raw_u32(raw, trailer.tid);
	raw_u64(raw, trailer.time_ns);
	raw_origin(raw, layout, trailer);
	if (layout.identifier)
		raw_u64(raw, trailer.id);
	raw_size(raw);
}

struct raw raw_sample(struct hp_record_layout layout, struct raw_trailer from, uint64_t address,
		      uint64_t period)
{
	struct raw raw = raw_begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);

	if (layout.identifier)
		raw_u64(&raw, from.id);
	raw_u64(&raw, address);
	raw_u32(&raw, from.pid);
	raw_u32(&raw, from.tid);
	raw_u64(&raw, from.time_ns);
	if (layout.data_address)
		raw_u64(&raw, 0x2222);
	raw_origin(&raw, layout, from);
	if (layout.period)
		raw_u64(&raw, period);
	if (layout.callchain) {
		static const uint64_t chain[] = {
			PERF_CONTEXT_HV,
			0x7000, /* of the hypervisor: left out */
			PERF_CONTEXT_KERNEL,
			0xffffffff80006000,
			0xffffffff80006001,
			PERF_CONTEXT_USER,
			0x6002,
			0x6003,
			0x6004,
		};

		raw_u64(&raw, HP_ARRAY_COUNT(chain));
		for (size_t i = 0; i < HP_ARRAY_COUNT(chain); i++)
			raw_u64(&raw, chain[i]);
	}
	if (layout.raw) {
		raw_u32(&raw, 4);
		raw_u32(&raw, 0x3333);
	}
	if (layout.branches) {
		raw_u64(&raw, 3);
		for (uint64_t i = 0; i < 3; i++) {
			raw_u64(&raw, 0x4000 + i);
			raw_u64(&raw, 0x5000 + i);
			raw_u64(&raw, i << 4); /* cycles */
		}
	}
	if (layout.registers) {
		raw_u64(&raw, PERF_SAMPLE_REGS_ABI_64);
		for (int i = 0; i < __builtin_popcountll(layout.registers); i++)
			raw_u64(&raw, 0x1000 + (uint64_t)i);
	}
	if (layout.stack_bytes) {
		raw_u64(&raw, layout.stack_bytes);
		for (uint32_t i = 0; i < layout.stack_bytes; i++)
			raw_u8(&raw, (uint8_t)i);
		raw_u64(&raw, layout.stack_bytes / 2);
	}
	raw_size(&raw);
	return raw;
}

struct raw raw_comm(struct hp_record_layout layout, struct raw_trailer from, const char *name,
		    uint16_t misc)
{
	struct raw raw = raw_begin(PERF_RECORD_COMM, misc);

	raw_u32(&raw, from.pid);
	raw_u32(&raw, from.tid);
	raw_string(&raw, name);
	raw_end(&raw, layout, from);
	return raw;
}
