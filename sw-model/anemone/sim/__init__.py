# SPDX-License-Identifier: Apache-2.0
"""`anemone sim`, the main job."""
