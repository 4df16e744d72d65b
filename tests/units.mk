# SPDX-License-Identifier: GPL-2.0-or-later
#
#	make -C DIRECTORY -f .../tests/units.mk TARGET...
#
# The Makefile that ./configure made in that directory, but that archives, hpcprof and the unit tests are compiled
# in few units, each of which includes many files (units.awk), and that the unit tests of a folder are one program,
# tests/FOLDER/test_units, of which tests/FOLDER/test_NAME is another name. That takes less time.
#
# In a unit a file has what one before it includes, and a name may hide one of another file. The target
# files-alone has the compiler read each file of src alone, as a user's build does, and says what is wrong there.

-include units.list
include Makefile

# What automake has make call once more.
AM_MAKEFLAGS = -f $(srcdir)/tests/units.mk
# A program that is linked with some of our libraries has a whole unit for one function of it.
AM_LDFLAGS += -Wl,--gc-sections

variable_of = $(subst .,_,$(subst /,_,$(1)))
sources_of = $($(variable_of)_SOURCES)
objects_of = $($(variable_of)_OBJECTS)

# The unit tests of one file, without flags or libraries of their own.
plain = $(if $($(variable_of)_CFLAGS)$($(variable_of)_LDFLAGS)$(filter-out $(LDADD),$($(variable_of)_LDADD))$(word 2,$(sources_of)),,$(1))
unit_tests := $(foreach test,$(basename $(check_PROGRAMS)),$(if $(findstring /test_,$(test)),$(call plain,$(test))))
tests_in = $(filter $(1)test_%,$(unit_tests))
folders := $(sort $(dir $(unit_tests)))
$(foreach folder,$(folders),$(eval \
	$(call variable_of,$(folder)test_units)_SOURCES := $$(sort $(foreach test,$(call tests_in,$(folder)),$(call sources_of,$(test))))))

# What is made of units, and where these are. Not the fixtures of tests, each of which has names of its own.
parts := $(filter src/%,$(noinst_LIBRARIES)) hpcprof $(addsuffix test_units,$(folders))
units_of = $(patsubst hpcprof,src/cli/hpcprof,$(basename $(1)))-unit

define newline


endef
units.list: Makefile $(srcdir)/tests/units.awk $(srcdir)/tests/units.mk $(shell find $(srcdir)/src $(srcdir)/include $(srcdir)/tests -name '*.[ch]')
	@mkdir -p $(dir $(foreach part,$(parts),$(call units_of,$(part))))
	$(file >$@.in,$(foreach part,$(parts),$(call variable_of,$(part))_OBJECTS $(call units_of,$(part)) $(filter %.c,$(call sources_of,$(part)))$(newline)))
	$(file >$@.new,$(foreach test,$(unit_tests),override $(call variable_of,$(test))_OBJECTS := $(dir $(test))test_units$(newline)))
	@$(AWK) -v top=$(srcdir) -f $(srcdir)/tests/units.awk <$@.in >>$@.new
	@rm $@.in && mv $@.new $@

# Of the Makefile's rule for the program that a test would be, only that name is made.
define of_folder
$(1)test_units: $(call objects_of,$(1)test_units) $(filter %.a,$(LDADD))
	$$(AM_V_CCLD)$$(LINK) $$(filter %.o,$$^) $$(LDADD) $$(LIBS)
$(call tests_in,$(1)): private LINK = ln -f $(1)test_units $$@ && :
endef
$(foreach folder,$(folders),$(eval $(call of_folder,$(folder))))

made_headers := $(filter %.h,$(foreach variable,$(filter nodist_src_%_SOURCES,$(.VARIABLES)),$($(variable))))

# If a unit does not compile, each of its files is compiled alone: units.awk may miss a name, and what is wrong with a
# file is said of it alone.
units := $(filter-out %_units,$(foreach part,$(parts),$(call objects_of,$(part))))
$(units): %.o: %.c | $(made_headers)
	$(AM_V_CC)$(COMPILE) -Wno-shadow -ffunction-sections -fdata-sections -c -o $@ $< 2>$*.errors || { \
		rm -f $*-alone-*; \
		sed -n '/^#include/s/.*"\(.*\)"/\1/p' $< | while read -r file; do \
			$(COMPILE) -ffunction-sections -fdata-sections -MT $@ -c -o $*-alone-$$((number += 1)).o $(srcdir)/$$file || exit; \
		done && $(CC) -r -nostdlib -o $@ $*-alone-*.o; }

.PHONY: files-alone
files-alone: $(addsuffix .alone,$(filter-out %_units,$(parts)))
%.alone: | $(made_headers)
	@$(filter-out -MD -MP,$(COMPILE)) -fsyntax-only $(addprefix $(srcdir)/,$(filter %.c,$(call sources_of,$*)))
