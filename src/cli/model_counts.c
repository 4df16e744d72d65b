/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Emulates the counters of real cores on the reference core, under the names used in the tables of
 * stall stacks (src/stack): so formulas over counters can be compared with a known truth. Counters
 * follow their vendor's description exactly.
 */
#include "model_output.h"

#include <hpcprof/base/number.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The data that values are computed from. */
struct counted {
	const struct hp_stack_table *table;
	const struct hp_cycle_counts *counts;
	const struct hp_cycle_counters *counters;
	double width; /* slots in the table's terms per slot of the core */
	double walk;  /* cycles */
	double late;  /* cycles of refills that this core attributes to the back end */
	double extra; /* slots of the front end that it counts in excess */
};

static uint64_t all(const struct counted *counted, enum hp_cycle_part part)
{
	return counted->counts->misses[part] + counted->counts->strayed_misses[part];
}

static double slots(const struct counted *counted, uint64_t count)
{
	return counted->width * (double)count;
}

/* --- what each event counts -------------------------------------------------------------------- */

#define VALUE(name, expression)                                                                    \
	static double name(const struct counted *of)                                               \
	{                                                                                          \
		return (double)(expression);                                                       \
	}

VALUE(cycles, of->counts->cycles)
VALUE(instructions, of->counts->instructions)
VALUE(retired, slots(of, of->counts->slots))
VALUE(dispatched, slots(of, of->counters->path_slots + of->counters->strayed_slots))
VALUE(mispredicts, of->counts->mispredicts)
VALUE(all_front_slots, slots(of, of->counters->front_slots + of->counters->refill_slots))
VALUE(front_slots, all_front_slots(of) - of->table->width * of->late + of->extra)
VALUE(front_cycles, (double)(of->counters->front_cycles + of->counters->refill_cycles) - of->late)
VALUE(refill_cycles, of->counters->refill_cycles)
VALUE(back_slots, slots(of, of->counters->back_slots) + of->table->width * of->late)
VALUE(back_cycles, (double)of->counters->back_cycles + of->late)
VALUE(queue_cycles, of->counters->queue_cycles)
VALUE(buffer_cycles, of->counters->buffer_cycles)
VALUE(back_load_slots, slots(of, of->counters->back_load_slots))
VALUE(back_memory, of->counters->back_memory)
VALUE(lost_slots, front_slots(of) + back_slots(of))
VALUE(all_slots,
      slots(of, of->counters->path_slots + of->counters->strayed_slots + of->counters->front_slots +
			of->counters->refill_slots + of->counters->back_slots))
VALUE(strayed_slots, slots(of, of->counters->strayed_slots))
VALUE(no_retire, of->counters->no_retire)
VALUE(not_complete, of->counters->no_retire - of->counters->no_retire_empty)
VALUE(load_not_complete, of->counters->no_retire_load)
VALUE(empty, of->counters->no_retire_empty)
VALUE(divider, of->counters->divider)
VALUE(stalled, of->counters->stalled)
VALUE(stalled_load, of->counters->stalled_load)
VALUE(stalled_l1, of->counters->stalled_l1)
VALUE(stalled_l2, of->counters->stalled_l2)
VALUE(stalled_l3, of->counters->stalled_l3)
VALUE(load_cycles, of->counters->load_cycles)
VALUE(l1_cycles, of->counters->l1_cycles)
VALUE(began_one, of->counters->began_one)
VALUE(began_two, of->counters->began_two)
VALUE(store_full, of->counters->store_full)
VALUE(store_bound, of->counters->store_bound)
VALUE(code_cycles, of->counters->code_cycles)
VALUE(page_cycles, of->counters->page_cycles)
VALUE(code_near, all(of, HP_CYCLE_L1I))
VALUE(code_far, all(of, HP_CYCLE_L2I))
VALUE(code_missed, all(of, HP_CYCLE_L1I) + all(of, HP_CYCLE_L2I))
VALUE(code_walks, all(of, HP_CYCLE_ITLB))
VALUE(data_near, of->counts->misses[HP_CYCLE_UNITS])
VALUE(data_far, of->counts->misses[HP_CYCLE_L2D])
VALUE(data_missed, of->counts->misses[HP_CYCLE_UNITS] + of->counts->misses[HP_CYCLE_L2D])
VALUE(data_walks, of->counts->misses[HP_CYCLE_DTLB])
VALUE(walk_cycles, (double)of->counts->misses[HP_CYCLE_DTLB] * of->walk)

static const struct emulated {
	const char *name;				/* as in the tables */
	double (*value)(const struct counted *counted); /* NULL: this core has no such event */
} events[] = {
	/* AMD */
	{ "ls_not_halted_cyc", cycles },
	{ "ex_ret_instr", instructions },
	{ "ex_ret_ops", retired },
	{ "ex_ret_cops", retired },
	{ "de_src_op_disp.all", dispatched },
	{ "ex_ret_brn_misp", mispredicts },
	{ "resyncs_or_nc_redirects", NULL },
	{ "bp_redirects.resync", NULL },
	{ "de_no_dispatch_per_slot.no_ops_from_frontend", front_slots },
	{ "de_no_dispatch_per_slot.no_ops_from_frontend:c6", front_cycles },
	{ "de_no_dispatch_per_slot.no_ops_from_frontend:c8", front_cycles },
	{ "de_no_dispatch_per_slot.backend_stalls", back_slots },
	{ "de_no_dispatch_per_slot.smt_contention", NULL },
	{ "ex_no_retire.not_complete", not_complete },
	{ "ex_no_retire.load_not_complete", load_not_complete },
	{ "ex_no_retire.empty", empty },
	{ "ex_no_retire.all", no_retire },
	{ "ex_div_busy", divider },
	{ "ic_cache_fill_l2", code_near },
	{ "ic_cache_fill_sys", code_far },
	{ "bp_l1_tlb_miss_l2_tlb_hit", NULL },
	{ "bp_l1_tlb_miss_l2_tlb_miss.all", code_walks },
	{ "ls_l1_d_tlb_miss.all_l2_miss", data_walks },
	{ "ls_dmnd_fills_from_sys.local_l2", data_near },
	{ "ls_dmnd_fills_from_sys.local_ccx", NULL },
	{ "ls_dmnd_fills_from_sys.dram_io_near", data_far },
	{ "ls_dmnd_fills_from_sys.dram_io_far", NULL },
	{ "de_dis_dispatch_token_stalls1.store_queue_rsrc_stall", store_full },
	{ "de_dispatch_stall_cycle_dynamic_tokens_part1.store_queue_rsrc_stall", store_full },
	/* … Zen 2 and 3: a group is dispatched as a whole or not at all */
	{ "uops_dispatched", dispatched },
	{ "de_dis_cops_from_decoder.disp_op_type.any_integer_dispatch", dispatched },
	{ "de_dis_cops_from_decoder.disp_op_type.any_fp_dispatch", NULL },
	{ "de_dis_uop_queue_empty_di0", front_cycles },
	{ "de_dis_dispatch_token_stalls1.*", queue_cycles },
	{ "de_dis_dispatch_token_stalls0.*", buffer_cycles },
	{ "de_dis_dispatch_token_stalls2.*", buffer_cycles },
	{ "l2_dtlb_misses", data_walks },
	{ "ls_refills_from_sys.ls_mabresp_lcl_l2", data_near },
	{ "ls_refills_from_sys.ls_mabresp_lcl_cache", NULL },
	{ "ls_refills_from_sys.ls_mabresp_lcl_dram", data_far },
	{ "ls_refills_from_sys.ls_mabresp_rmt_dram", NULL },
	{ "ls_dmnd_fills_from_sys.lcl_l2", data_near },
	{ "ls_dmnd_fills_from_sys.int_cache", NULL },
	{ "ls_dmnd_fills_from_sys.mem_io_local", data_far },
	{ "ls_dmnd_fills_from_sys.mem_io_remote", NULL },
	/* Arm */
	{ "cpu_cycles", cycles },
	{ "inst_retired", instructions },
	{ "inst_spec", dispatched },
	{ "br_mis_pred", mispredicts },
	{ "stall_frontend", front_cycles },
	{ "stall_backend", back_cycles },
	{ "l1i_cache_refill", code_missed },
	{ "itlb_walk", code_walks },
	{ "l1d_cache_refill", data_missed },
	{ "l2d_cache_refill", data_far },
	{ "ll_cache_miss_rd", data_far },
	{ "dtlb_walk", data_walks },
	{ "op_retired", retired },
	{ "op_spec", dispatched },
	{ "stall_slot", lost_slots },
	{ "stall_slot_backend", back_slots },
	{ "stall_slot_frontend", front_slots },
	{ "stall_backend_mem", back_memory },
	/* Intel */
	{ "cpu_clk_unhalted.thread", cycles },
	{ "inst_retired.any", instructions },
	{ "uops_retired.retire_slots", retired },
	{ "uops_issued.any", dispatched },
	{ "idq_uops_not_delivered.core", front_slots },
	{ "int_misc.recovery_cycles", NULL },
	{ "int_misc.recovery_cycles_any", NULL },
	{ "cpu_clk_unhalted.ref_xclk", cycles },
	{ "cpu_clk_unhalted.one_thread_active", cycles },
	{ "cpu_clk_unhalted.distributed", cycles },
	{ "br_misp_retired.all_branches", mispredicts },
	{ "machine_clears.count", NULL },
	{ "int_misc.clear_resteer_cycles", refill_cycles },
	{ "icache_16b.ifdata_stall", code_cycles },
	{ "icache_16b.ifdata_stall:c1:e", NULL },
	{ "icache_tag.stalls", page_cycles },
	{ "cycle_activity.stalls_mem_any", stalled_load },
	{ "cycle_activity.stalls_total", stalled },
	{ "cycle_activity.stalls_l1d_miss", stalled_l1 },
	{ "cycle_activity.stalls_l2_miss", stalled_l2 },
	{ "cycle_activity.stalls_l3_miss", stalled_l3 },
	{ "cycle_activity.cycles_mem_any", load_cycles },
	{ "cycle_activity.cycles_l1d_miss", l1_cycles },
	{ "exe_activity.bound_on_stores", store_bound },
	{ "exe_activity.1_ports_util", began_one },
	{ "exe_activity.2_ports_util", began_two },
	{ "dtlb_load_misses.stlb_hit:c1", NULL },
	{ "dtlb_load_misses.walk_active", walk_cycles },
	{ "mem_load_retired.l2_hit", data_near },
	{ "mem_load_retired.l3_hit", NULL },
	{ "mem_load_retired.l3_miss", data_far },
	{ "mem_inst_retired.stlb_miss_loads", data_walks },
	{ "uops_retired.stall_cycles", no_retire },
	{ "arith.divider_active", divider },
	{ "partial_rat_stalls.scoreboard", NULL },
	{ "topdown.slots", all_slots },
	{ "topdown-retiring", retired },
	{ "topdown-bad-spec", strayed_slots },
	{ "topdown-fe-bound", front_slots },
	{ "topdown-be-bound", back_slots },
	{ "topdown.backend_bound_slots", back_slots },
	{ "uops_retired.slots", retired },
	{ "int_misc.uop_dropping", NULL },
	{ "int_misc.clears_count", NULL },
	{ "icache_data.stalls", code_cycles },
	{ "resource_stalls.scoreboard", NULL },
	/* … Sapphire Rapids */
	{ "topdown-br-mispredict", strayed_slots },
	{ "topdown-mem-bound", back_load_slots },
	{ "topdown.br_mispredict_slots", strayed_slots },
	{ "topdown.memory_bound_slots", back_load_slots },
	{ "exe_activity.bound_on_loads", stalled_load },
	{ "memory_activity.stalls_l1d_miss", stalled_l1 },
	{ "memory_activity.stalls_l2_miss", stalled_l2 },
	{ "memory_activity.stalls_l3_miss", stalled_l3 },
	{ "memory_activity.cycles_l1d_miss", l1_cycles },
	{ "arith.div_active", divider },
	{ "cpu_clk_unhalted.c02", NULL },
	{ "uops_retired.stalls", no_retire },
};

static const struct emulated *emulated(const char *name)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(events); i++)
		if (strcmp(events[i].name, name) == 0)
			return &events[i];
	return NULL;
}

/* --- tables ------------------------------------------------------------------------------------ */

const struct hp_stack_table *model_table_named(const char *name)
{
	const struct hp_stack_table *table = hp_stack_table_named(name);

	for (size_t i = 0; table && i < table->event_count; i++)
		if (!emulated(table->events[i].name))
			return NULL;
	return table && !hp_stack_table_is_generic(table) ? table : NULL;
}

/*
 * Arm's formulas say that Neoverse N2 and V2 attribute three of a refill's four cycles to the back
 * end. Before r0p3, Neoverse N2 counts one slot of the front end too many per cycle.
 */
static void set_oddities(struct counted *counted, const struct hp_cycle_result *result)
{
	const char *name = counted->table->name;
	static const char n2[] = "neoverse-n2";

	if (strncmp(name, n2, strlen(n2)) == 0 || strcmp(name, "neoverse-v2") == 0)
		counted->late = (double)result->counters.refill_late;
	if (strcmp(name, "neoverse-n2-r0p0") == 0)
		counted->extra = (double)result->counts.cycles;
}

char *model_counts_text(const struct model_output *output, const struct hp_stack_table *table)
{
	struct counted counted = {
		.table = table,
		.counts = &output->result.counts,
		.counters = &output->result.counters,
		.width = table->width / output->config.core.issue_width,
		.walk = output->config.core.walk_cycles,
	};
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		return NULL;
	set_oddities(&counted, &output->result);
	fprintf(stream, "hpcprof-counts 1\ncore %s\nslice\n", table->name);
	for (size_t i = 0; i < table->event_count; i++) {
		const struct emulated *event = emulated(table->events[i].name);

		if (event)
			fprintf(stream, "%.0f %s\n", event->value ? event->value(&counted) : 0,
				event->name);
	}
	if (fclose(stream) == 0)
		return text;
	free(text);
	return NULL;
}
