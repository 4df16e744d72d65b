/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "quantity.h"
#include "../tuning.h"

#include <hpcprof/base/number.h>

#include <inttypes.h>
#include <math.h>

#define AT_LEAST "\xe2\x89\xa5"
#define ABOUT	 "\xc2\xb1"

void quantity_add(struct hp_buffer *buffer, double value)
{
	static const struct {
		double unit;
		const char *letter;
	} units[] = { { 1e15, " P" }, { 1e12, " T" }, { 1e9, " G" }, { 1e6, " M" } };
	double size = fabs(value);
	const char *letter = "";

	if (!isfinite(value))
		return;
	for (size_t i = 0; i < HP_ARRAY_COUNT(units) && !*letter; i++) {
		if (size >= 0.9995 * units[i].unit) {
			size /= units[i].unit;
			value /= units[i].unit;
			letter = units[i].letter;
		}
	}
	hp_buffer_printf(buffer, "%.*f%s",
			 size >= 99.95	  ? 0
			 : size >= 9.995  ? 1
			 : size >= 0.0995 ? 2
			 : size > 0	  ? 3
					  : 0,
			 value, letter);
}

void quantity_add_cycles(struct hp_buffer *buffer, double cycles)
{
	if (fabs(cycles) < 9.995)
		hp_buffer_printf(buffer, "%.2f", cycles);
	else
		quantity_add(buffer, cycles);
}

void quantity_add_interval(struct hp_buffer *buffer, double value, double low, double high)
{
	double below = value - low;
	double above = high - value;
	double half = (high - low) / 2;

	if (!isfinite(value) || !isfinite(low) || !isfinite(high)) {
		quantity_add(buffer, value);
		return;
	}
	if (half <= 0) {
		quantity_add(buffer, value);
		return;
	}
	if (value > 0 && half < short_interval * value && fabs(above - below) <= half) {
		quantity_add(buffer, value);
		hp_buffer_printf(buffer, " " ABOUT "%.0f%%", ceil(100 * half / value - 1e-9));
		return;
	}
	quantity_add(buffer, low);
	hp_buffer_printf(buffer, " to ");
	quantity_add(buffer, high);
}

void quantity_add_frequency(struct hp_buffer *buffer, const struct hp_frequency *frequency,
			    bool is_absolute)
{
	if (is_absolute)
		quantity_add_interval(buffer, frequency->executions, frequency->executions_low,
				      frequency->executions_high);
	else if (isfinite(frequency->relative))
		quantity_add_interval(buffer, frequency->relative, frequency->relative_low,
				      frequency->relative_high);
}

void quantity_add_at_least(struct hp_buffer *buffer, double value, double low)
{
	if (isfinite(value)) {
		quantity_add_cycles(buffer, value);
	} else if (isfinite(low)) {
		hp_buffer_printf(buffer, AT_LEAST);
		quantity_add_cycles(buffer, low);
	}
}

void quantity_add_period(struct hp_buffer *buffer, enum hp_unit unit, uint64_t period)
{
	double value = (double)period;

	if (unit != HP_UNIT_NS)
		hp_buffer_printf(buffer, "%" PRIu64 " %s", period, hp_unit_name(unit));
	else if (period >= 1000000)
		hp_buffer_printf(buffer, "%.4g ms", value / 1e6);
	else if (period >= 1000)
		hp_buffer_printf(buffer, "%.4g us", value / 1e3);
	else
		hp_buffer_printf(buffer, "%" PRIu64 " ns", period);
}

const char *quantity_cause(enum hp_cause_kind kind)
{
	static const char *const words[HP_CAUSE_COUNT] = {
		[HP_CAUSE_ICACHE] = "instruction cache miss",
		[HP_CAUSE_ITLB] = "instruction TLB miss",
		[HP_CAUSE_MISPREDICT] = "branch mispredict",
		[HP_CAUSE_DCACHE] = "data cache miss",
		[HP_CAUSE_DTLB] = "data TLB miss",
		[HP_CAUSE_STORE_BUFFER] = "store buffer full",
		[HP_CAUSE_STORE_FORWARD] = "store forwarding",
		[HP_CAUSE_DIVIDER] = "divider busy",
		[HP_CAUSE_MULTIPLIER] = "multiplier latency",
		[HP_CAUSE_FP_LATENCY] = "floating-point latency",
		[HP_CAUSE_SYNC] = "synchronisation",
		[HP_CAUSE_FETCH] = "instruction fetch",
		[HP_CAUSE_ISSUE_WIDTH] = "issue width",
		[HP_CAUSE_DEPENDENCY] = "dependency",
		[HP_CAUSE_PORT] = "execution port busy",
		[HP_CAUSE_UNEXPLAINED] = "unexplained",
	};

	return (size_t)kind < HP_CAUSE_COUNT ? words[kind] : "?";
}

bool quantity_is_joint(const struct hp_joint_cause *joint, const struct hp_cause *cause)
{
	return joint && (joint->kinds >> cause->kind & 1) && cause->high >= noticeable_cause;
}

const struct hp_joint_cause *quantity_joint(const struct hp_analysis *analysis,
					    const struct hp_analysed_insn *insn)
{
	const struct hp_joint_cause *joint = insn->joint;
	const struct hp_cause *likeliest = NULL;
	unsigned members = 0;

	for (uint32_t i = 0; joint && i < insn->cause_count; i++) {
		const struct hp_cause *cause = &analysis->causes[insn->first_cause + i];

		if (!quantity_is_joint(joint, cause))
			continue;
		members++;
		likeliest = likeliest ? likeliest : cause;
	}
	return members > 1 && likeliest->low < sure_alone * joint->low ? joint : NULL;
}

const char *quantity_problem(enum hp_analysis_problem problem)
{
	switch (problem) {
	case HP_PROBLEM_MISSING_EDGES:
		return "a jump could not be followed, so edges of the graph are missing and "
		       "frequencies are less certain";
	case HP_PROBLEM_UNDECODABLE:
		return "some reachable bytes are not an instruction";
	case HP_PROBLEM_NOT_CONVERGED:
		return "the estimate of frequencies did not converge";
	case HP_PROBLEM_FEW_SAMPLES:
		return "there are too few samples for certain estimates: record for longer or at a "
		       "higher rate";
	case HP_PROBLEM_GENERIC_CORE:
		return "the tables are those of a generic core: best cases are rough";
	case HP_PROBLEM_NOT_SOLVED:
		return "flows could not be balanced (too many or too irregular jumps, or "
		       "contradicting counts): the frequency of each block is estimated only from "
		       "its own time and counts";
	case HP_PROBLEM_CONTRADICTION:
		return "the counts contradict each other or the graph by more than noise";
	case HP_PROBLEM_TOO_FAST:
		return "the code cannot have been executed as often as was counted in its time: "
		       "the counted part differs from the rest of the recording, or the tables are "
		       "wrong";
	case HP_PROBLEM_NO_CLOCK:
		return "the clock was not measured while recording, so cycles, CPI and stalls are "
		       "not known: record again";
	}
	return "?";
}
