"""Recording a run: what `stepscope.profile` does (docs/design/0009-recording-a-run.md)."""
