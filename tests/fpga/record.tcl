# SPDX-License-Identifier: Apache-2.0
# tclsh record.tcl FILE: runs a script of Quartus with its commands recorded, one line each: the words, by tabs.
# A command that is not known is an error, as it is in Quartus.
proc record {args} { puts [join $args \t] }
foreach name {
    project_new set_global_assignment set_instance_assignment set_parameter
    create_clock derive_clock_uncertainty set_false_path set_max_skew set_net_delay
} {
    proc $name {args} "record $name {*}\$args"
}
# What is asked for shows as what it is: "ports:afu_clk", and an instance as the name of its module.
foreach kind {ports registers} {
    proc get_$kind {names} "return $kind:\$names"
}
proc get_entity_instances {module} { return [list <$module>] }
set TimeQuestInfo(nameofexecutable) quartus_fit
cd [file dirname [lindex $argv 0]]
source [file tail [lindex $argv 0]]
