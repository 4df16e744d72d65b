/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "json.h"
#include "machine.h"
#include "text.h"

#include <hpcprof/base/cleanup.h>

#include <inttypes.h>
#include <string.h>

const struct hp_core *report_core(const struct hp_epoch_meta *meta)
{
	if (!meta->architecture || strcmp(meta->architecture, "x86_64") != 0)
		return NULL;
	return hp_core_of_cpu(&meta->cpu);
}

/* --- text ------------------------------------------------------------------------------------- */

static void describe_cpu(const struct hp_cpu *cpu, struct hp_buffer *text)
{
	if (!hp_cpu_is_known(cpu)) {
		hp_buffer_printf(text, "unknown CPU");
	} else if (cpu->vendor) {
		text_escape(text, cpu->vendor);
		hp_buffer_printf(text, " family %" PRIu32 " model %" PRIu32 " stepping %" PRIu32,
				 cpu->family, cpu->model, cpu->stepping);
	} else {
		hp_buffer_printf(text, "Arm implementer 0x%" PRIx32 " part 0x%" PRIx32,
				 cpu->implementer, cpu->part);
	}
}

static void put_core(const struct hp_epoch_meta *meta, FILE *out)
{
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };
	const struct hp_core *core = report_core(meta);

	describe_cpu(&meta->cpu, &text);
	if (!core)
		fprintf(out, "\ncore: no tables for this architecture (%s)\n",
			hp_buffer_text(&text));
	else if (core->is_generic && hp_cpu_is_known(&meta->cpu))
		fprintf(out, "\ncore: %s, because this CPU is not known (%s)\n", core->name,
			hp_buffer_text(&text));
	else if (core->is_generic)
		fprintf(out,
			"\ncore: %s, because the epoch does not name its CPU, or has several\n",
			core->name);
	else
		fprintf(out, "\ncore: %s, %s (%s)\n", core->name, core->title,
			hp_buffer_text(&text));
}

static void put_clock(const struct hp_clock *clock, FILE *out)
{
	uint64_t count = hp_clock_measurements(clock);

	if (!count)
		fputs("clock: not measured\n", out);
	else
		fprintf(out,
			"clock: %.2f GHz (80 %% of %" PRIu64 " measurements from %.2f to %.2f)\n",
			hp_clock_percentile(clock, 50) / 1e9, count,
			hp_clock_percentile(clock, 10) / 1e9, hp_clock_percentile(clock, 90) / 1e9);
	if (clock->looks)
		fprintf(out,
			"core shared: another hardware thread of it was busy at %.0f %% of %" PRIu64
			" moments\n",
			100 * (double)clock->shared / (double)clock->looks, clock->looks);
}

static void put_skid(const struct hp_event_info *info, FILE *out)
{
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

	text_escape(&text, info->name);
	hp_buffer_printf(&text, " samples land %" PRIu32 " instruction%s late (",
			 info->skid_instructions, info->skid_instructions == 1 ? "" : "s");
	text_escape(&text, info->skid_source ? info->skid_source : "default");
	fprintf(out, "skid: %s)\n", hp_buffer_text(&text));
}

void machine_write_text(const struct hp_epoch_meta *meta, FILE *out)
{
	put_core(meta, out);
	put_clock(&meta->clock, out);
	for (size_t i = 0; i < meta->event_count; i++)
		put_skid(&meta->events[i].info, out);
}

/* --- JSON ------------------------------------------------------------------------------------- */

json_t *machine_cpu_json(const struct hp_cpu *cpu)
{
	if (!hp_cpu_is_known(cpu))
		return json_null();
	if (!cpu->vendor)
		return json_pack("{s:o, s:o, s:o}", "implementer", json_count(cpu->implementer),
				 "part", json_count(cpu->part), "instruction_cache_bytes",
				 json_count(cpu->instruction_cache_bytes));
	return json_pack("{s:o, s:o, s:o, s:o, s:b, s:o}", "vendor", json_text(cpu->vendor),
			 "family", json_count(cpu->family), "model", json_count(cpu->model),
			 "stepping", json_count(cpu->stepping), "has_amx", cpu->has_amx,
			 "instruction_cache_bytes", json_count(cpu->instruction_cache_bytes));
}

json_t *machine_core_json(const struct hp_epoch_meta *meta)
{
	const struct hp_core *core = report_core(meta);

	if (!core)
		return json_null();
	return json_pack("{s:s, s:s, s:b}", "name", core->name, "title", core->title, "generic",
			 core->is_generic);
}

json_t *machine_clock_json(const struct hp_clock *clock)
{
	uint64_t count = hp_clock_measurements(clock);

	if (!count)
		return json_null();
	return json_pack("{s:o, s:f, s:f, s:f, s:o, s:o}", "measurements", json_count(count),
			 "low_hz", hp_clock_percentile(clock, 10), "median_hz",
			 hp_clock_percentile(clock, 50), "high_hz", hp_clock_percentile(clock, 90),
			 "core_looks", json_count(clock->looks), "core_shared",
			 json_count(clock->shared));
}

json_t *machine_skid_json(const struct hp_epoch_meta *meta)
{
	json_t *skids = json_array();

	for (size_t i = 0; i < meta->event_count; i++) {
		const struct hp_event_info *info = &meta->events[i].info;

		json_array_append_new(skids,
				      json_pack("{s:o, s:o, s:o}", "event", json_text(info->name),
						"instructions", json_count(info->skid_instructions),
						"source", json_text(info->skid_source)));
	}
	return skids;
}
