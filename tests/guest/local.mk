# The real PMU driver of an emulated Arm machine. scripts/test.sh makes the guest before it tests.
dist_check_SCRIPTS += tests/guest/guest.test
EXTRA_DIST += \
	tests/guest/build \
	tests/guest/init \
	tests/guest/programs/shares.S \
	tests/guest/script
