# SPDX-License-Identifier: Apache-2.0
"""A stand-in for Intel's example design: only the files and text that the overlay reads, written
for this test. It elaborates without the CXL IP and the memory controllers.
"""

from __future__ import annotations

import re
from pathlib import Path

TAP = Path(__file__).resolve().parents[2] / "fpga" / "agilex" / "anemone_tap_pkg.sv"
PORTS = "cxlip2iafu_to_mc iafu2mc_to_mc mc2iafu_from_mc iafu2cxlip_from_mc".split()
BUS = {
    "clk": "input logic",
    "rstn": "input logic",
    "waitrequest": "output logic",
    "readdata": "output logic [63:0]",
    "readdatavalid": "output logic",
    "writedata": "input logic [63:0]",
    "poison": "input logic",
    "address": "input logic [21:0]",
    "write": "input logic",
    "read": "input logic",
    "byteenable": "input logic [7:0]",
}


def package(name: str, id_bits: int) -> str:
    """The tap's structs, with the kinds of types that Intel's have."""
    text = TAP.read_text()
    structs = text[text.index("  // To the memory controller") : text.index("endpackage")]
    structs = structs.replace("to_mc_t;", "t_to_mc_axi4;").replace("from_mc_t;", "t_from_mc_axi4;")
    structs = structs.replace("[ID_BITS-1:0]", "[MC_AXI_RRC_ID_BW-1:0]")
    structs = structs.replace("DATA_BITS/8", "64").replace("DATA_BITS", "512")
    structs = structs.replace("ADDR_BITS", "52").replace("LEN_BITS", "10")
    structs = re.sub(r"logic \[1:0\] +(\wburst|aw?burst|arburst)", r"burst_kind \1", structs)
    return f"""package {name};
  localparam MC_AXI_RRC_ID_BW = {id_bits}; // rid
  typedef enum logic [1:0] {{ FIXED, INCR, WRAP, NONE }} burst_kind;
{structs}endpackage
"""


def write(root: Path, id_bits: int = 8, poison: bool = True) -> Path:
    """Write an example design to `root`, which is returned. 8-bit ids: named as by Quartus 24.1."""
    prefix = "ed_" if id_bits == 8 else ""
    pkg, top = f"{prefix}mc_axi_if_pkg", f"{prefix}cxlip_top_pkg"
    design = root / "hardware_test_design"
    channels = f"[{top}::MC_CHANNEL-1:0]"
    taps = [f"{pkg}::t_{name.split('_', 1)[1]}_axi4 {channels} {name}_axi4" for name in PORTS]
    kinds = ("input", "output", "input", "output")
    tap_ports = ",\n".join(f"  {kind} {tap}" for kind, tap in zip(kinds, taps, strict=True))
    bus = {name: kind for name, kind in BUS.items() if poison or name != "poison"}
    csr_ports = ",\n".join(f"  {kind} csr_avmm_{name}" for name, kind in bus.items())
    wires = ",\n".join(f"  {kind} ip2csr_{name}" for name, kind in bus.items())
    joins = ",\n".join(f"    .csr_avmm_{name} ( ip2csr_{name} )" for name in bus)
    files = {
        f"../intel_rtile/synth/{pkg}.sv": package(pkg, id_bits),
        f"../intel_rtile/synth/{top}.sv": f"""package {top};
  localparam MC_CHANNEL = 2;
endpackage
""",
        "common/afu/afu_top.sv": f"""// (as generated)
module afu_top(
  input logic afu_clk,
  input logic afu_rstn, // active low
{tap_ports}
);
  assign iafu2mc_to_mc_axi4 = cxlip2iafu_to_mc_axi4;
  assign iafu2cxlip_from_mc_axi4 = mc2iafu_from_mc_axi4;
endmodule
""",
        "common/ex_default_csr/ex_default_csr_top.sv": f"""module ex_default_csr_top(
{csr_ports}
);
  assign {{csr_avmm_waitrequest, csr_avmm_readdata, csr_avmm_readdatavalid}} = '0;
endmodule
""",
        "ed_top_wrapper_typ3.sv": f"""module ed_top_wrapper_typ3(
  input logic ip2hdm_clk,
  input logic ip2hdm_reset_n,
{tap_ports},
{wires}
);
  // ex_default_csr_top ex_default_csr_top_inst( .csr_avmm_clk(old) );
  ex_default_csr_top ex_default_csr_top_inst(
{joins}
  );

  afu_top afu_top_inst(
    .afu_clk( ip2hdm_clk ), // 400 MHz
    .afu_rstn( ip2hdm_reset_n ),
    {", ".join(f".{name}_axi4( {name}_axi4 )" for name in PORTS)}
  );
endmodule
""",
        "cxltyp3_memexp_ddr4_top.qsf": """# (as generated)
set_global_assignment -name TOP_LEVEL_ENTITY ed_top_wrapper_typ3
set_global_assignment -name FAMILY "Agilex 7"
set_global_assignment -name DEVICE AGIB027R29A1E2VR3
set_global_assignment -name SYSTEMVERILOG_FILE ./common/afu/afu_top.sv
set_global_assignment -name SYSTEMVERILOG_FILE ed_top_wrapper_typ3.sv
""",
    }
    for name, text in files.items():
        path = design / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root
