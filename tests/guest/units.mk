# SPDX-License-Identifier: GPL-2.0-or-later
#
# For make in a directory that ./configure made: hpcprof and tests/pmu/count_event, compiled in few units,
# which takes a third of the time. The build for this machine shows that each file compiles alone.

include Makefile

sources = $(addprefix $(srcdir)/,$(filter %.c,$(foreach variable,$(filter $(1),$(.VARIABLES)),$($(variable)))))
pmu := $(call sources,src_base_%_SOURCES) $(call sources,src_model_%_SOURCES) $(call sources,src_pmu_%_SOURCES)
rest := $(filter-out $(pmu),$(call sources,src_%_a_SOURCES) $(call sources,hpcprof_SOURCES))
headers := $(shell find $(srcdir)/include $(srcdir)/src -name '*.h')
units = awk -v top=$(srcdir) -f $(srcdir)/tests/guest/units.awk

.PHONY: of-units
of-units: units.linked

# In a unit a name of one file may hide one of another. If a unit does not compile, each of its files is compiled
# alone: units.awk may miss a name, and what is wrong with a file is said of it alone.
units.linked: $(page_headers) $(pmu) $(rest) $(headers) $(srcdir)/tests/guest/units.awk $(srcdir)/tests/pmu/count_event.c
	rm -f units-*
	$(units) units-pmu $(pmu)
	$(units) units-rest $(rest)
	ls units-*.c | xargs -n 1 -P $(JOBS) sh -c '\
		$(COMPILE) -pipe -Wno-shadow -ffunction-sections -c -o "$${0%.c}.o" "$$0" 2>"$${0%.c}.errors" || \
		sed -n "/^#include/s/.*\"\(.*\)\"/\1/p" "$$0" | while read -r file; do \
			$(COMPILE) -pipe -c -o "$${0%.c}-$$((one += 1)).o" "$$file" || exit; \
		done'
	$(LINK) units-*.o $(sort $(filter -l%,$(hpcprof_LDADD))) $(LIBS) -o hpcprof
	mkdir -p tests/pmu
	$(COMPILE) -c -o tests/pmu/count_event.o $(srcdir)/tests/pmu/count_event.c
	$(LINK) -Wl,--gc-sections tests/pmu/count_event.o units-pmu-*.o $(sort $(filter -l%,$(PMU_LIBS))) $(LIBS) -o tests/pmu/count_event
	touch $@
