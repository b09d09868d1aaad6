# SPDX-License-Identifier: Apache-2.0
# Crossings between the clocks of the memory path and of the control port, wherever anemone_afu is: levels into a
# Synchronizer, and two words that are stable while they are sampled (hw/src/bus/CrossingLink.scala).
#
# set_false_path does not override set_max_skew and set_net_delay (Quartus Prime Pro 21.3 and later).

# A level may be sampled a cycle sooner or later, so it needs no timing. The level of a reset has any source.
foreach flops [get_entity_instances Synchronizer] {
    set_false_path -to [get_registers $flops|meta]
}

# A word is sampled two cycles or more after its level rises, so its bits may take one cycle.
proc anemone_word {from to} {
    set from [get_registers $from]
    set to [get_registers $to]
    set_false_path -from $from -to $to
    set_max_skew -from $from -to $to -get_skew_value_from_clock_period dst_clock_period -skew_value_multiplier 0.8
    if {![string equal quartus_syn $::TimeQuestInfo(nameofexecutable)]} {
        set_net_delay -from $from -to $to -max -get_value_from_clock_period dst_clock_period -value_multiplier 0.8
    }
}
foreach crossing [get_entity_instances AvalonCrossing] {
    anemone_word $crossing|hostSide|command_* $crossing|deviceSide|command_*
    anemone_word $crossing|deviceSide|answer_* $crossing|hostSide|answer_*
}
