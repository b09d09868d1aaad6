# SPDX-License-Identifier: Apache-2.0
# What crosses between the clock of the memory path and that of the control port, wherever anemone_afu is: levels
# into Synchronizer, and two words that are still while they are looked at (hw/src/bus/CrossingLink.scala).
#
# set_false_path does not overrule set_max_skew and set_net_delay (Quartus Prime Pro 21.3 and later).

# A level is seen a cycle sooner or later; no edge has to be met. A reset's comes from anywhere.
foreach flops [get_entity_instances Synchronizer] {
    set_false_path -to [get_registers $flops|meta]
}

# A word is looked at two cycles or more after its level was raised: its bits may take one.
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
