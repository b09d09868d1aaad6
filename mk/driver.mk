# SPDX-License-Identifier: Apache-2.0
.PHONY: anemonectl kunit

anemonectl: ## build the driver's command line tool, build/anemonectl/anemonectl
	$(MAKE) -C driver/tools BUILD=$(CURDIR)/build/anemonectl

kunit: setup ## run the driver's unit tests in a user-mode Linux (the first run builds one, minutes)
	@mk/kunit.sh
