Ports.sv
