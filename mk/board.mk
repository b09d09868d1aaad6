# SPDX-License-Identifier: Apache-2.0
.PHONY: overlay bitstream flash program-check

overlay: setup ## Anemone in a copy of Intel's example design (EXAMPLE=folder), without Quartus
	@python -m fpga.board overlay "$(EXAMPLE)"

bitstream: setup ## compile that with Quartus, and say whether it meets its timing (EXAMPLE=folder)
	@python -m fpga.board bitstream "$(EXAMPLE)"

flash: setup ## program the board over JTAG (CABLE=name DEVICE_INDEX=n)
	@python -m fpga.board flash

program-check: setup ## see whether cable, device and bitstream are there
	@python -m fpga.board check
