/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "write_stack.h"

#include "../common/json.h"
#include "stall_cells.h"
#include "survey.h"
#include "write_stalls.h"

static json_t *procedure_object(const struct stall *one)
{
	const struct hp_prediction *prediction = &one->analysis->prediction;
	json_t *lanes = json_array();

	for (unsigned lane = 0; lane < HP_LANES; lane++)
		json_array_append_new(lanes, json_real(prediction->predicted[lane]));
	return json_pack("{s:f, s:f, s:f, s:f, s:f, s:b, s:o, s:o, s:o}", "share", one->row.local,
			 "cycles", one->cycles, "measured", prediction->measured, "instructions",
			 prediction->instructions, "best_case", prediction->best_case, "absolute",
			 one->analysis->is_absolute, "lanes", lanes, "procedure",
			 json_text(one->row.name), "image", json_text(one->row.image->id.path));
}

struct hp_error *write_stack_json(struct report *report, FILE *out)
{
	_cleanup_(survey_clear) struct survey survey = { 0 };
	_cleanup_free_ struct hp_row **rows = NULL;
	struct hp_error *error = survey_stalls(report, SURVEY_TIMED, &survey);

	if (!error)
		error = stall_rows(&survey, &rows);
	if (!error)
		error = json_write(json_header(report, "hpcprof-stack/1"), true, out);
	if (error)
		return error;
	fputs(",\n\"procedures\": [", out);
	for (size_t i = 0; i < survey.stalls.count && !error; i++) {
		fputs(i ? ",\n" : "\n", out);
		error = json_write(procedure_object(stall_of_row(rows[i])), false, out);
	}
	fputs("]}\n", out);
	return error;
}
