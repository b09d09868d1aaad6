# SPDX-License-Identifier: Apache-2.0
"""What is counted: the rules of telemetry pipelines."""
