helper_programs += tests/cfg/show_cfg
tests_cfg_show_cfg_LDADD = $(CFG_LIBS)
