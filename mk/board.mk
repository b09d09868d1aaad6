# SPDX-License-Identifier: Apache-2.0
.PHONY: overlay bitstream flash program-check

overlay: setup ## put Anemone into a copy of Intel's example design (EXAMPLE=folder), without Quartus; FLAT=yes: flat memory mode
	@python -m fpga.board overlay "$(EXAMPLE)" $(if $(FLAT),flat)

bitstream: setup ## make the overlay, compile it with Quartus and report its timing (EXAMPLE=folder FLAT=yes)
	@python -m fpga.board bitstream "$(EXAMPLE)" $(if $(FLAT),flat)

flash: setup ## program the board over JTAG (CABLE=name DEVICE_INDEX=n)
	@python -m fpga.board flash

program-check: setup ## check cable, device and bitstream
	@python -m fpga.board check
