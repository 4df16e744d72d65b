check_PROGRAMS += tests/target/test_cpu_times tests/target/test_run_delay tests/target/test_target
