"""The reports that Anemoi's users know, from the folder of a run; docs/start/anemoi.md.

`write_reports` needs neither Anemoi nor Lightning. `stepscope.integrations.anemoi.callback` is the
callback for Anemoi's trainer.
"""

from stepscope.integrations.anemoi.reports import Reports, write_reports
from stepscope.integrations.anemoi.settings import profile_options

__all__ = ["Reports", "profile_options", "write_reports"]
