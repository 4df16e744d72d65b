/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tuning.h"

#include <hpcprof/count/figures.h>

#include <hpcprof/base/vector.h>

#include <string.h>

/* Events that count in the same way. */
struct kind {
	const struct hp_rotation_set *rotation_set; /* NULL: software events only */
	bool exclude_user;
	bool exclude_kernel;
};

struct building {
	const struct hp_event_list *events;
	const struct hp_rotation_sets *rotation_sets;
	const struct hp_mux_estimates *estimates;
	struct hp_figures *figures;
	const struct hp_rotation_set **rotation_set_of; /* by event; NULL for missing ones */
};

void hp_figures_destroy(struct hp_figures *figures)
{
	for (size_t i = 0; i < figures->class_count; i++) {
		free(figures->classes[i].invariants);
		if (figures->classes[i].reconciliation)
			hp_mux_reconciliation_destroy(figures->classes[i].reconciliation);
	}
	free(figures->classes);
	free(figures->figures);
	free(figures->adjusted);
	free(figures->width_change);
	free(figures->is_adjusted);
	free(figures);
}

static void find_rotation_sets(struct building *building)
{
	for (size_t i = 0; i < building->rotation_sets->count; i++) {
		const struct hp_rotation_set *rotation_set = &building->rotation_sets->at[i];

		for (uint32_t j = 0; j < rotation_set->group_count; j++)
			for (uint32_t k = 0; k < rotation_set->groups[j].count; k++)
				building->rotation_set_of[rotation_set->groups[j].events[k]] =
					rotation_set;
		for (uint32_t j = 0; j < rotation_set->always_count; j++)
			building->rotation_set_of[rotation_set->always[j]] = rotation_set;
	}
}

/* "branch-misses" of "branch-misses:u", "cycles" of "cpu_core/cycles/u". */
static enum hp_mux_role role_of(const struct hp_event *event)
{
	const char *slash = strchr(event->name, '/');
	const char *from = slash ? slash + 1 : event->name;
	_cleanup_free_ char *name = strndup(from, strcspn(from, slash ? "/," : ":"));

	return name ? hp_mux_role_of(name) : HP_MUX_ROLE_NONE;
}

static bool belongs(const struct building *building, const struct kind *kind, size_t index)
{
	const struct hp_event *event = &building->events->events[index];
	const struct hp_rotation_set *rotation_set = building->rotation_set_of[index];

	return rotation_set && (rotation_set->software || rotation_set == kind->rotation_set) &&
	       event->exclude_user == kind->exclude_user &&
	       event->exclude_kernel == kind->exclude_kernel;
}

/* False when no events of the kind belong together. */
static bool find_roles(const struct building *building, const struct kind *kind,
		       uint32_t roles[HP_MUX_ROLE_COUNT])
{
	bool any = false;

	for (size_t i = 0; i < HP_MUX_ROLE_COUNT; i++)
		roles[i] = HP_MUX_NO_EVENT;
	for (uint32_t i = 0; i < building->events->count; i++) {
		enum hp_mux_role role = role_of(&building->events->events[i]);

		if (role == HP_MUX_ROLE_NONE || roles[role] != HP_MUX_NO_EVENT ||
		    !belongs(building, kind, i))
			continue;
		/* A clock includes the kernel, whatever its modifier, so cycles of one mode give no
		 * frequency with it. */
		if (role == HP_MUX_ROLE_CPU_TIME_NS && kind->rotation_set &&
		    (kind->exclude_kernel || kind->exclude_user))
			continue;
		roles[role] = i;
		any = true;
	}
	return any;
}

static bool is_there(const struct hp_figures *figures, const struct hp_figure *figure)
{
	for (size_t i = 0; i < figures->figure_count; i++)
		if (figures->figures[i].event == figure->event &&
		    strcmp(figures->figures[i].metric.name, figure->metric.name) == 0)
			return true;
	return false;
}

static struct hp_error *add_metrics(struct building *building,
				    const uint32_t roles[HP_MUX_ROLE_COUNT])
{
	struct hp_figures *figures = building->figures;
	struct hp_mux_metric metrics[MOST_METRICS];
	size_t count = hp_mux_metrics(building->estimates, roles, metrics, MOST_METRICS);

	for (size_t i = 0; i < count && i < MOST_METRICS; i++) {
		struct hp_figure figure = { metrics[i], roles[metrics[i].about] };

		if (figure.event == HP_MUX_NO_EVENT || is_there(figures, &figure))
			continue;
		if (!hp_grow((void **)&figures->figures, &figures->figure_capacity,
			     figures->figure_count + 1, sizeof(figure)))
			return hp_error_create_no_memory();
		figures->figures[figures->figure_count++] = figure;
	}
	return NULL;
}

static void take_adjusted(struct hp_figures *figures,
			  const struct hp_mux_reconciliation *reconciliation)
{
	const struct hp_mux_estimates *adjusted = reconciliation->adjusted;

	for (size_t i = 0; i < adjusted->count; i++) {
		const struct hp_mux_estimate *event = &adjusted->events[i];

		if (event->verdict != HP_MUX_ESTIMATED ||
		    (reconciliation->width_change[i] >= 1 &&
		     event->count == figures->adjusted[i].count))
			continue;
		figures->adjusted[i] = *event;
		figures->width_change[i] = reconciliation->width_change[i];
		figures->is_adjusted[i] = true;
	}
}

static struct hp_error *add_invariants(struct building *building,
				       const uint32_t roles[HP_MUX_ROLE_COUNT])
{
	struct hp_figures *figures = building->figures;
	struct hp_figure_class *class;
	struct hp_error *error;

	if (!hp_grow((void **)&figures->classes, &figures->class_capacity, figures->class_count + 1,
		     sizeof(*class)))
		return hp_error_create_no_memory();
	class = &figures->classes[figures->class_count++];
	*class = (struct hp_figure_class){ 0 };
	error = hp_mux_invariants_create(roles, &class->invariants, &class->invariant_count);
	if (error || !class->invariant_count)
		return error;
	error = hp_mux_reconcile(building->estimates, class->invariants, class->invariant_count,
				 &class->reconciliation);
	if (!error)
		take_adjusted(figures, class->reconciliation);
	return error;
}

static struct hp_error *add_kind(struct building *building, const struct kind *kind)
{
	uint32_t roles[HP_MUX_ROLE_COUNT];
	struct hp_error *error;

	if (!find_roles(building, kind, roles))
		return NULL;
	error = add_metrics(building, roles);
	return error ? error : add_invariants(building, roles);
}

static struct hp_error *add_modes(struct building *building,
				  const struct hp_rotation_set *rotation_set)
{
	struct hp_error *error = NULL;

	for (unsigned mode = 0; !error && mode < 3; mode++) {
		struct kind kind = { rotation_set, mode == 1, mode == 2 };

		error = add_kind(building, &kind);
	}
	return error;
}

static struct hp_error *prepare(struct building *building)
{
	size_t count = building->estimates->count;
	struct hp_figures *figures = building->figures;

	figures->adjusted = calloc(count + 1, sizeof(*figures->adjusted));
	figures->width_change = calloc(count + 1, sizeof(*figures->width_change));
	figures->is_adjusted = calloc(count + 1, sizeof(*figures->is_adjusted));
	if (!figures->adjusted || !figures->width_change || !figures->is_adjusted)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++) {
		figures->adjusted[i] = building->estimates->events[i];
		figures->width_change[i] = 1;
	}
	find_rotation_sets(building);
	return NULL;
}

struct hp_error *hp_figures_create(const struct hp_event_list *events,
				   const struct hp_rotation_sets *rotation_sets,
				   const struct hp_mux_estimates *estimates,
				   struct hp_figures **created)
{
	_cleanup_free_ const struct hp_rotation_set **rotation_set_of =
		calloc(events->count + 1, sizeof(struct hp_rotation_set *));
	_cleanup_(hp_figures_destroy_scope) struct hp_figures *figures =
		calloc(1, sizeof(*figures));
	struct building building = { events, rotation_sets, estimates, figures, rotation_set_of };
	struct hp_error *error;
	bool any = false;

	if (!rotation_set_of || !figures)
		return hp_error_create_no_memory();
	error = prepare(&building);
	for (size_t i = 0; !error && i < rotation_sets->count; i++) {
		if (rotation_sets->at[i].software || rotation_sets->at[i].whole_cpus)
			continue;
		error = add_modes(&building, &rotation_sets->at[i]);
		any = true;
	}
	if (!error && !any)
		error = add_modes(&building, NULL);
	if (!error)
		*created = hp_steal(figures);
	return error;
}
