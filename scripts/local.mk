# The layer check is a test.
dist_check_SCRIPTS += scripts/check-layers
